"""Transactions in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import (
    number,
    pairs,
    percent,
)
from netloom.questions.simulate.heads import head_of
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.questions.simulate.transactions.question import TransactionSimulation


def lines(result: TransactionSimulation) -> list[Any]:
    """Return how long transactions and their messages take."""
    data = result.to_dict()

    def known(name: str) -> str:
        half = data[f"{name}_ci95"]
        return f"{number(data[name])} ± {half:.2g}"

    table = pairs(
        {
            "between transactions": f"{known('inter_transaction_cycles')} cycles a node; "
            f"{percent(result.processor_use)} of the processor is computation",
            "transaction latency": f"{known('transaction_latency')} cycles",
            "message rate": f"{known('message_rate')} a node and cycle; "
            f"{number(data['messages_per_transaction'])} a transaction, of "
            f"{counted(number(data['message_flits']), 'flit')}",
            "message latency": f"{known('message_latency')} cycles",
            "channels busy": f"{percent(data['utilisation']['mean'])} on average, "
            f"{percent(data['utilisation']['max'])} at most",
            "measured": f"{data['cycles']:,} cycles, {data['transactions']:,} transactions, "
            f"{counted(data['messages'], 'message', ',')}; seed {data['seed']}",
        }
    )
    what = f"transactions of {result.program}, average distance {number(result.distance)}"
    how = f"{counted(result.contexts, 'context')} a node"
    silent = f"• left out: {result.left_out}" if result.left_out else None
    return [*head_of(result.network, what, how), table, *([silent] if silent else [])]
