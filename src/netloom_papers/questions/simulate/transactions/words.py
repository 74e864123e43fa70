"""Transactions in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.shown import interval, pairs, percent
from netloom.questions.simulate.said import setup_of
from netloom_papers.questions.simulate.transactions.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom_papers.questions.simulate.transactions.answer import TransactionSimulation

__all__ = ["lines", "verdict"]


def lines(result: TransactionSimulation) -> list[Any]:
    """Return how long transactions and their messages take."""
    data = result.to_dict()
    rows = {
        "processor": f"a transaction every {_known(data, 'inter_transaction_cycles')} cycles, "
        f"{percent(result.processor_use)} of it computation",
        "transaction": f"{_known(data, 'transaction_latency')} cycles",
        "message": f"{_known(data, 'message_latency')} cycles over "
        f"{counted(number(result.distance), 'hop')} on average",
        "messages": f"{number(data['messages_per_transaction'])} per transaction, of "
        f"{counted(number(data['message_flits']), 'flit')}, "
        f"{_known(data, 'message_rate')} per node and cycle",
        "links busy": f"{percent(data['utilisation']['mean'])} on average, "
        f"{percent(data['utilisation']['max'])} at most",
        "contexts": f"{counted(result.contexts, 'context')} per processor",
        "measured": f"{counted(data['cycles'], 'cycle', ',')}: "
        f"{counted(data['transactions'], 'transaction', ',')}, "
        f"{counted(data['messages'], 'message', ',')}, seed {data['seed']}",
        "network": setup_of(result.network),
    }
    silent = [f"• left out: {result.left_out}"] if result.left_out else []
    return [pairs(rows), *silent]


def _known(data: Mapping[str, Any], name: str) -> str:
    return interval(data[name], data[f"{name}_ci95"])
