"""Chittor 1991, chapter 4: tables and figures of the Symult 2010, simulated."""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.figures import PRINTED, Cell, Grid, Plot
from netloom.machines import machine, node_costs
from netloom.studies import chittor_machine
from netloom.studies.chittor import rows_of
from netloom.studies.chittor_machine import (
    LONG,
    PATTERNS,
    SHORT,
    figure_4_4,
    figure_4_5,
    figure_4_6,
    figure_4_7,
    figure_4_14,
    table_4_1,
)
from netloom.studies.chittor_panels import (
    ACTUAL_PERCENT,
    APPLIED_PERCENT,
    cell,
    changed,
    curve,
    grid,
    plot,
)
from netloom.studies.comparing import compare_all
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from netloom.studies.validation import Row

ARBITRATIONS = {"timestamp": "oldest message first", "fifo": "first come, first served"}
"""The machine's own is not known; see ``ARBITRATION``."""

THINK_US, QUICK_THINK_US = (0, 100, 200, 400, 800, 1600, 3200), (0, 300, 1000)
"""Mean computation of a loop in figures 4.8 and 4.12 to 4.14."""

TRANSPOSE_LOOPS, QUICK_LOOPS = 100, 15

LENGTHS = (1024, 4096, 8192)
"""Bytes of figures 4.13 and 4.14; section 5.4 names them."""

ARBITRATION = (
    "How the machine's routers arbitrate is not said, but that they have no priority queues: shown "
    "are both the oldest message first, which comes nearer to what was measured, and first come, "
    "first served, under which the corner nodes starve."
)

LOST = "What was measured is lost with the drawing; the rows are what the text says of it."

FEWER = "Quick: three computation times and 15 loops, in place of seven and 100."


def _rows(item: str, **changes: Any) -> tuple[Row, ...]:
    known = changed(published("chittor-programs"), item, **changes)
    return tuple(compare_all("chittor", known, {item: chittor_machine.PARTS[item]}))


def _figure_4_4(_: bool) -> Shown:
    rows = _rows("figure 4.4")
    table = figure_4_4()
    panels = []
    for title, sizes in (("A. Up to a packet", SHORT), ("B. Packets of 256 bytes", LONG)):
        printed = [row.printed for row in rows if _bytes_of(row) in sizes]
        part = table.filter(table["message_bytes"].is_in(sizes))
        times = part["communication_us_mean"].to_numpy()
        line = "210.9 + 0.0577 L" if sizes == SHORT else "210.2 + 0.1536 L"
        curves = [curve(line, sizes, printed, whose=PRINTED), curve("simulated", sizes, times)]
        panels.append(plot(title, ("message length L, bytes", "time of a message, µs"), curves))
    remarks = (
        "Printed are the lines that the thesis fits; the simulated machine has their start-up, "
        "packet and byte times, so that what is tested is how messages of neighbours get through.",
    )
    return Shown(tuple(panels), rows, remarks)


def _bytes_of(row: Row) -> int:
    return int(row.quantity.split()[2])


def _figure_4_5(_: bool) -> Shown:
    table = figure_4_5().sort("row")
    hops = 2 * np.abs(2 * table["row"].to_numpy() - 11)
    times = table["loop_us"].to_numpy()
    by_node = curve("simulated", table["row"], times)
    by_path = curve("simulated", hops, times)
    axis = "loop time, µs"
    panels = (
        plot("B. By node", ("node (i, i)", axis), [by_node], form="points"),
        plot("By path length", ("path length, hops", axis), [by_path], form="points"),
    )
    remarks = (
        "Panel A is a drawing of the pattern. Loops differ by their random computation times too, "
        "which are the same for both nodes of a pair.",
        LOST,
    )
    return Shown(panels, _rows("section 4.2.2"), remarks)


def _figure_4_6(_: bool) -> Shown:
    known = published("chittor-programs")["section 4.2.2"]
    rows = _rows("section 4.2.2")
    table = figure_4_6(known["bytes"]).sort("hops")
    curves = []
    for size in known["bytes"]:
        ends = [row for row in rows if f" {size} bytes" in row.quantity]
        at = [int(row.quantity.split()[2]) for row in ends]
        part = table.filter(message_bytes=size)
        times = part["message_us"].to_numpy()
        curves.append(curve(f"{size} bytes", at, [r.printed for r in ends], whose=PRINTED))
        curves.append(curve(f"{size} bytes", part["hops"], times))
    axes = "path length, hops", "time of a message, µs"
    remarks = (
        "Printed are the fitted lines, which section 4.5 says to hold to 4 µs for paths of up to "
        "22 hops.",
    )
    return Shown((plot("Time by path length", axes, curves, form="points"),), rows, remarks)


def _figure_4_7(quick: bool) -> Shown:
    panels = []
    for policy, words in ARBITRATIONS.items():
        table = figure_4_7(policy, QUICK_LOOPS if quick else TRANSPOSE_LOOPS)
        cells = {
            (f"row {node['row']}", f"column {node['column']}"): Cell(None, node["loop_us"])
            for node in table.sort("row", "column").iter_rows(named=True)
        }
        columns = ("", *(f"column {number}" for number in range(12)))
        panels.append(grid(f"B. Loop times (µs), {words}", columns, cells))
    remarks = [
        "Panel A is a drawing of the pattern; the nodes on the diagonal are idle.",
        ARBITRATION,
        LOST,
    ]
    if quick:
        remarks.append("Quick: 15 loops in place of 100.")
    return Shown(tuple(panels), tuple(rows_of("section 4.2.3")), tuple(remarks))


@cache
def _transposes(side: int, size: int, policy: str, quick: bool) -> pl.DataFrame:
    thinks, loops = (QUICK_THINK_US, QUICK_LOOPS) if quick else (THINK_US, TRANSPOSE_LOOPS)
    return figure_4_14([size], thinks, policy, loops, side)


def _by_size(quick: bool) -> dict[str, Callable[[str], pl.DataFrame]]:
    """Return the loops of 4 KB messages, one entry a system size, by arbitration."""
    return {
        f"{side * side} nodes": partial(_transposes, side, 4096, quick=quick) for side in (4, 8, 12)
    }


def _by_length(quick: bool) -> dict[str, Callable[[str], pl.DataFrame]]:
    """Return the loops of 144 nodes, one entry a message length, by arbitration."""
    return {f"{size} bytes": partial(_transposes, 12, size, quick=quick) for size in LENGTHS}


def _longer(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return computation time and what contention adds to the two messages of a loop, µs."""
    added = table[f"communication_us_{part}"] - table["message_us"]
    return table["think_us"], 2 * added.to_numpy()


def _slower(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return applied traffic (%) and θ."""
    return 100 * table["applied"].to_numpy(), table[f"slowdown_{part}"]


def _traffic(table: pl.DataFrame, part: str) -> tuple[Any, Any]:
    """Return applied and actual traffic (%)."""
    who = "average_node" if part == "mean" else "worst_node"
    return 100 * table["applied"].to_numpy(), 100 * table[who].to_numpy()


def _of_transposes(
    title: str,
    axes: tuple[str, str],
    figures: Callable[[pl.DataFrame, str], tuple[Any, Any]],
    runs: dict[str, Callable[[str], pl.DataFrame]],
) -> list[Plot]:
    """Draw a figure of average and worst nodes, once for each arbitration."""
    panels = []
    for policy, words in ARBITRATIONS.items():
        curves = [
            curve(f"{name}, {who}", *figures(run(policy), part))
            for (name, run), (part, who) in product(
                runs.items(), (("mean", "average node"), ("max", "worst node"))
            )
        ]
        panels.append(plot(f"{title}: {words}", axes, curves))
    return panels


def _figure_4_8(quick: bool) -> Shown:
    axes = "mean computation of a loop, µs", "increase in communication time of a loop, µs"
    panels = [
        *_of_transposes("A. 4 KB messages", axes, _longer, _by_size(quick)),
        *_of_transposes("B. 144 nodes", axes, _longer, _by_length(quick)),
    ]
    remarks = (
        "The increase is over neighbours' communication, which takes what a message takes alone.",
        ARBITRATION,
        LOST,
        *((FEWER,) if quick else ()),
    )
    return Shown(tuple(panels), remarks=remarks)


def _figure_4_11(quick: bool) -> Shown:
    known = published("chittor-programs")["figure 4.11"]
    costs = node_costs(machine("symult2010"))
    message = float(costs.message_us(4096))
    channel = costs.packet_bytes * costs.byte_us
    computed = {
        "message": message,
        "fixed overhead of a message": costs.alpha_us,
        "data of a message": message - costs.alpha_us,
        "packet": costs.packet_us,
        "packet on a channel": channel,
        "overhead of a packet": costs.packet_us - channel,
        "loop": 1000 + 2 * message,
    }
    cells = {}
    for name, printed in known["components"].items():
        digit = 1 if isinstance(printed, int) else 0.1
        within = abs(computed[name] - printed) < digit
        cells[name, "µs"] = Cell(printed, computed[name], within)
    loops = {"loops": 200} if quick else {}
    remarks = [
        "The components are sums of the thesis's own start-up, packet and byte times, some of them "
        "printed truncated; the rows have the same loop simulated.",
    ]
    if quick:
        remarks.append("Quick: 200 loops in place of 2000.")
    panel: Plot | Grid = grid("Loop of 4 KB messages and 1 ms of computation", ("", "µs"), cells)
    rows = (*_rows("figure 4.11", **loops), *rows_of("section 4.3"))
    return Shown((panel,), rows, tuple(remarks))


def _figure_4_12(quick: bool) -> Shown:
    axes = APPLIED_PERCENT, "normalised communication time of a message θ"
    panels = _of_transposes("4 KB messages", axes, _slower, _by_size(quick))
    remarks = (ARBITRATION, LOST, *((FEWER,) if quick else ()))
    return Shown(tuple(panels), remarks=remarks)


def _figure_4_13(quick: bool) -> Shown:
    axes = APPLIED_PERCENT, "normalised communication time of a message θ"
    panels = _of_transposes("144 nodes", axes, _slower, _by_length(quick))
    remarks = (
        "Message lengths are those of section 5.4.",
        ARBITRATION,
        LOST,
        *((FEWER,) if quick else ()),
    )
    return Shown(tuple(panels), remarks=remarks)


def _figure_4_14(quick: bool) -> Shown:
    axes = APPLIED_PERCENT, ACTUAL_PERCENT
    panels = _of_transposes("144 nodes", axes, _traffic, _by_length(quick))
    loops = {"loops": QUICK_LOOPS} if quick else {}
    remarks = (
        "Message lengths are those of section 5.4.",
        ARBITRATION,
        LOST,
        *((FEWER,) if quick else ()),
    )
    return Shown(tuple(panels), _rows("figure 4.14", **loops), remarks)


def _table_4_1(_: bool) -> Shown:
    rows = {row.quantity: row for row in _rows("table 4.1")}
    printed = published("chittor-programs")["table 4.1"]["loops_ms"]
    cells = {}
    for number, found in enumerate(table_4_1().iter_rows(named=True)):
        size = found["message_bytes"]
        for name in PATTERNS:
            label, title = f"{size} bytes", name.upper()
            cells[label, f"{title}, ms"] = Cell(printed[name][number], found[name] / 1000)
            row = rows.get(f"{name}, {size} bytes, over τ_m")
            ratio = cell(row) if row else Cell(2.0, found[f"ratio_{name}"])
            cells[label, f"{title} / τ_m"] = ratio
    columns = ("message", *dict.fromkeys(column for _, column in cells))
    remarks = (
        "τ_m is half of the loop of AB-1NN, printed and computed each by its own.",
        "Lengths a few bytes above whole packets take a packet more, which the fitted lines of "
        "figure 4.4 leave out.",
    )
    title = "Communication time of a loop of neighbours"
    return Shown((grid(title, columns, cells),), tuple(rows.values()), remarks)


EXHIBITS = {
    "fig-4.4": Exhibit("Time of messages between neighbours, without contention", _figure_4_4),
    "fig-4.5": Exhibit("Loop times of pairs on the diagonal, without contention", _figure_4_5),
    "fig-4.6": Exhibit("Time of a message by path length", _figure_4_6),
    "fig-4.7": Exhibit("Loop times of the matrix transpose, node by node", _figure_4_7),
    "fig-4.8": Exhibit("What contention adds to the loops of the transpose", _figure_4_8),
    "table-4.1": Exhibit("Loop times of patterns of neighbours", _table_4_1),
    "fig-4.11": Exhibit("Components of the loop time for 4 KB messages", _figure_4_11),
    "fig-4.12": Exhibit("Normalised communication time by system size", _figure_4_12),
    "fig-4.13": Exhibit("Normalised communication time by message length", _figure_4_13),
    "fig-4.14": Exhibit("Actual against applied node traffic of the Symult 2010", _figure_4_14),
}
"""Tables and figures of chapter 4, by name."""
