"""Transactions in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import head_of, interruption, interval, pairs, percent
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.transactions.answer import TransactionSimulation


def lines(result: TransactionSimulation) -> list[Any]:
    """Return how long transactions and their messages take."""
    data = result.to_dict()
    rows = {
        "between transactions": f"{_known(data, 'inter_transaction_cycles')} cycles a node; "
        f"{percent(result.processor_use)} of the processor is computation",
        "transaction latency": f"{_known(data, 'transaction_latency')} cycles",
        "message rate": f"{_known(data, 'message_rate')} a node and cycle; "
        f"{number(data['messages_per_transaction'])} a transaction, of "
        f"{counted(number(data['message_flits']), 'flit')}",
        "message latency": f"{_known(data, 'message_latency')} cycles",
        "channels busy": f"{percent(data['utilisation']['mean'])} on average, "
        f"{percent(data['utilisation']['max'])} at most",
        "measured": f"{data['cycles']:,} cycles, {data['transactions']:,} transactions, "
        f"{counted(data['messages'], 'message', ',')}; seed {data['seed']}",
    }
    what = f"transactions of {result.program}, average distance {number(result.distance)}"
    how = f"{counted(result.contexts, 'context')} a node"
    silent = [f"• left out: {result.left_out}"] if result.left_out else []
    return [*head_of(result.network, what, how), pairs(rows), *silent, *interruption(result)]


def sentences(record: Recorded) -> list[str]:
    """Return how long a transaction takes, and what that leaves of a processor."""
    found = record.figures
    return [
        f"A transaction takes {_known(found, 'transaction_latency')} cycles; a processor works "
        f"{percent(found['processor_use'])} of the time."
    ]


def _known(data: Mapping[str, Any], name: str) -> str:
    return interval(data[name], data[f"{name}_ci95"])
