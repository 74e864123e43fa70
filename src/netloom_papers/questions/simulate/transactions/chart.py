"""The picture of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.words import counted, number
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.colours import BEST, THIS
from netloom.questions.network_chart import channels_chart
from netloom.questions.shown import percent
from netloom.questions.simulate.drawn import ON_CHANNEL

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def footer(record: Recorded) -> list[str]:
    """Return what ran, and how long transactions and messages take."""
    found = record.figures
    return [
        f"Transactions of {found['program']} on {found['topology']}; "
        f"{counted(found['contexts'], 'context')} per node, average distance "
        f"{number(found['distance'])} hops; {found['router']['name']}",
        f"A transaction every {number(found['inter_transaction_cycles'])} cycles per node; "
        f"messages take {number(found['message_latency'])} cycles",
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of transactions, by name."""
    channels = channels_chart(record, record.tables["channels"], "utilisation", ON_CHANNEL)
    return {"time": transaction_time(record), "channels": channels}


def transaction_time(record: Recorded) -> alt.LayerChart:
    """Return where a context's time goes, from transaction to transaction."""
    found = record.figures
    run, waits = float(found["run_cycles"]), float(found["transaction_latency"])
    said = f"A context waits {percent(waits / (run + waits))} of its time for transactions"
    rows = [
        Bar("computes", run, f"{number(run)}", BEST),
        Bar("waits for the transaction", waits, f"{number(waits)}", THIS),
    ]
    return stacked(rows, said, "time from transaction to transaction (cycles)")
