"""Chittor 1991, chapter 4: the measurements on the Symult 2010, made again on a simulated one.

The machine is what the thesis says of two nodes alone: start-up, packets and the bandwidth of a
channel. Everything else, such as what happens where messages meet, comes from the simulation.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.figures import PRINTED, Cell
from netloom.machines import machine, node_costs
from netloom_papers.questions.simulate.pattern.question import simulate_pattern
from netloom_papers.studies.chittor import rows_of
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.panels import cell, curve, grid, plot
from netloom_papers.studies.validation import compare_all, published

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from netloom.base.figures import Plot
    from netloom_papers.questions.simulate.pattern.answer import PatternSimulation
    from netloom_papers.studies.validation import Part

    Transposes: TypeAlias = Callable[[str], pl.DataFrame]
    """Loops of the transpose, by arbitration."""

SHORT = (1, 16, 64, 100, 128, 256)
LONG = (512, 1024, 2048, 4096, 8192)
"""Bytes: messages of a packet, and of whole packets, for which the lines are meant."""

PATTERNS = ("ab-1nn", "aa-1nn", "ab-4nn", "aa-4nn")
TABLE_4_1_BYTES = (1, 515, 1027, 4099, 8196)

ARBITRATIONS = {"timestamp": "oldest message first", "fifo": "first come, first served"}
"""The machine's own is not known."""

THINK_US, QUICK_THINK_US = (0, 100, 200, 400, 800, 1600, 3200), (0, 300, 1000)
"""Mean computation of a loop in figures 4.8 and 4.12 to 4.14."""

TRANSPOSE_LOOPS, QUICK_LOOPS = 100, 15

LENGTHS = (1024, 4096, 8192)
"""Bytes of figures 4.13 and 4.14. Section 5.4 names them."""

APPLIED_PERCENT, ACTUAL_PERCENT = "applied node traffic (%)", "actual node traffic (%)"

LOOPS = 60
"""Loops of a run without computation: only its beginning leaves a trace in the others."""


def figure_4_4(message_bytes: Sequence[int] = (*SHORT, *LONG), loops: int = LOOPS) -> pl.DataFrame:
    """Contention-free neighbours: ``communication_us_mean`` of a message against its length."""
    return _pattern("ab-1nn", 4, message_bytes, [0], loops).table()


def table_4_1(message_bytes: Sequence[int] = TABLE_4_1_BYTES, loops: int = LOOPS) -> pl.DataFrame:
    """Neighbours whose messages meet at the channel to the router: loop times, µs, by pattern.

    One row per length. ``ratio_`` of each pattern is to the time of a message alone, half of the
    loop of ``ab-1nn``.
    """
    import polars as pl

    columns: dict[str, Any] = {"message_bytes": list(message_bytes)}
    for name in PATTERNS:
        table = _pattern(name, 4, message_bytes, [0], loops).table()
        columns[name] = table["loop_us_mean"]
    found = pl.DataFrame(columns)
    return found.with_columns(
        (2 * pl.col(name) / pl.col("ab-1nn")).alias(f"ratio_{name}") for name in PATTERNS
    )


def figure_4_5(loops: int = LOOPS) -> pl.DataFrame:
    """Loop times, µs, of the nodes on the diagonal: 4 KB messages, 450 µs of computation."""
    return _by_node(_pattern("diagonal", 12, [4096], [450], loops))


def figure_4_6(message_bytes: Sequence[int], loops: int = LOOPS) -> pl.DataFrame:
    """The mean time of a message, µs, against the length of its path: pairs on the diagonal."""
    import polars as pl

    found = _pattern("diagonal", 12, message_bytes, [0], loops)
    half = found.nodes[: len(found.nodes) // 2]
    hops = 2 * (11 - 2 * (half // 12))
    return pl.concat(
        pl.DataFrame(
            {
                "message_bytes": point.message_bytes,
                "hops": hops,
                "message_us": point.communication_us[: len(half)] / 2,
            }
        )
        for point in found.points
    )


def figure_4_7(arbitration: str, loops: int = 100) -> pl.DataFrame:
    """Loop times, µs, of the nodes of the transpose: 4 KB messages, 150 µs of computation."""
    return _by_node(_pattern("transpose", 12, [4096], [150], loops, arbitration=arbitration))


def figure_4_14(
    message_bytes: Sequence[int],
    think_us: Sequence[float],
    arbitration: str,
    loops: int = 100,
    side: int = 12,
) -> pl.DataFrame:
    """The transpose of 144 nodes: applied traffic, and actual of the average and the worst node.

    The thesis says of the machine's arbitration that it has no priority queues (section 4.2.3),
    which first come, first served is the nearest to. Figures 4.8, 4.12 and 4.13 show the same
    loops, as times.
    """
    return _pattern(
        "transpose", side, message_bytes, think_us, loops, arbitration=arbitration
    ).table()


def _by_node(found: PatternSimulation) -> pl.DataFrame:
    import polars as pl

    rows, columns = np.divmod(found.nodes, 12)
    return pl.DataFrame({"row": rows, "column": columns, "loop_us": found.points[0].loop_us})


def _pattern(
    name: str, side: int, sizes: Sequence[int], thinks: Sequence[float], loops: int, **options: Any
) -> PatternSimulation:
    found = simulate_pattern(
        f"symult2010:{side}x{side}", pattern=name, message_bytes=list(sizes),
        think_us=list(thinks), loops=loops, **options,
    )  # fmt: skip
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _lines(_: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_4_4()
    return {
        f"message of {row['message_bytes']} bytes (µs)": row["communication_us_mean"]
        for row in table.iter_rows(named=True)
    }


def _path_lengths(known: Mapping[str, Any]) -> dict[str, Any]:
    table = figure_4_6(known["bytes"])
    return {
        f"path of {row['hops']} hops, {row['message_bytes']} bytes (µs)": row["message_us"]
        for row in table.iter_rows(named=True)
        if row["hops"] in known["hops"]
    }


def _ratios(_: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{name}, {row['message_bytes']} bytes, over τ_m": row[f"ratio_{name}"]
        for row in table_4_1().iter_rows(named=True)
        for name in PATTERNS[1:]
    }


def _worked_example(known: Mapping[str, Any]) -> dict[str, Any]:
    """Its loop computes for 1 ms on average. The pairs are as many samples."""
    point = _pattern("ab-1nn", 4, [4096], [1000], known["loops"]).points[0]
    loop_us = point.loop_us[::2]  # of a pair, both nodes have the same
    return {"loop (µs)": loop_us, "λ_a (%)": 100 * point.channel_us / loop_us}


def _transpose(known: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for policy, thinks in known["think_us"].items():
        table = figure_4_14([4096], thinks, policy, known["loops"])
        found[f"worst node saturates, {policy} (%)"] = 100 * table["worst_node"].to_numpy().max()
    alone = figure_4_4([1024, 8192])
    for size, applied in zip(alone["message_bytes"], alone["applied"], strict=True):
        found[f"most that can be applied, {size} bytes (%)"] = 100 * applied
    return found


PARTS: dict[str, Part] = {
    "figure 4.4": _lines,
    "section 4.2.2": _path_lengths,
    "table 4.1": _ratios,
    "figure 4.11": _worked_example,
    "figure 4.14": _transpose,
}
"""What recomputes each item of the data file, from what the file says of it."""

rows = partial(compare_all, "chittor", "chittor-programs", PARTS)


def _figure_4_4(_: bool) -> Shown:
    found = rows("figure 4.4")
    table = figure_4_4()
    panels = []
    for title, sizes in (("A. Up to a packet", SHORT), ("B. Packets of 256 bytes", LONG)):
        printed = [row.printed for row in found if int(row.quantity.split()[2]) in sizes]
        part = table.filter(table["message_bytes"].is_in(sizes))
        times = part["communication_us_mean"].to_numpy()
        line = "210.9 + 0.0577 L" if sizes == SHORT else "210.2 + 0.1536 L"
        curves = [curve(line, sizes, printed, PRINTED), curve("simulated", sizes, times)]
        panels.append(plot(title, ("message length L, bytes", "time of a message, µs"), curves))
    return Shown(panels, found)


def _figure_4_5(_: bool) -> Shown:
    table = figure_4_5().sort("row")
    hops = 2 * np.abs(2 * table["row"].to_numpy() - 11)
    times = table["loop_us"].to_numpy()
    panels = [
        plot(title, (x, "loop time, µs"), [curve("simulated", at, times)], form="points")
        for title, x, at in (
            ("B. By node", "node (i, i)", table["row"]),
            ("By path length", "path length, hops", hops),
        )
    ]
    return Shown(panels, rows("section 4.2.2"))


def _figure_4_6(_: bool) -> Shown:
    sizes = published("chittor-programs")["section 4.2.2"]["bytes"]
    found = rows("section 4.2.2")
    table = figure_4_6(sizes).sort("hops")
    curves = []
    for size in sizes:
        ends = [row for row in found if f" {size} bytes" in row.quantity]
        at = [int(row.quantity.split()[2]) for row in ends]
        part = table.filter(message_bytes=size)
        times = part["message_us"].to_numpy()
        curves.append(curve(f"{size} bytes", at, [r.printed for r in ends], PRINTED))
        curves.append(curve(f"{size} bytes", part["hops"], times))
    axes = "path length, hops", "time of a message, µs"
    return Shown([plot("Time by path length", axes, curves, form="points")], found)


def _figure_4_7(quick: bool) -> Shown:
    panels = []
    for policy, words in ARBITRATIONS.items():
        table = figure_4_7(policy, QUICK_LOOPS if quick else TRANSPOSE_LOOPS)
        cells = {
            (f"row {node['row']}", f"column {node['column']}"): Cell(None, node["loop_us"])
            for node in table.sort("row", "column").iter_rows(named=True)
        }
        columns = [f"column {number}" for number in range(12)]
        panels.append(grid(f"B. Loop times (µs), {words}", cells, columns))
    return Shown(panels, rows_of("section 4.2.3"))


@cache
def _transposes(side: int, size: int, policy: str, quick: bool) -> pl.DataFrame:
    thinks, loops = (QUICK_THINK_US, QUICK_LOOPS) if quick else (THINK_US, TRANSPOSE_LOOPS)
    return figure_4_14([size], thinks, policy, loops, side)


def _by_size(quick: bool) -> dict[str, Transposes]:
    """Return the loops of 4 KB messages, one entry a system size, by arbitration."""
    return {
        f"{side * side} nodes": partial(_transposes, side, 4096, quick=quick) for side in (4, 8, 12)
    }


def _by_length(quick: bool) -> dict[str, Transposes]:
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


THETA = APPLIED_PERCENT, "normalised communication time of a message θ"


def _of_transposes(
    title: str,
    axes: tuple[str, str],
    figures: Callable[[pl.DataFrame, str], tuple[Any, Any]],
    runs: dict[str, Transposes],
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
    return Shown(panels)


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
    found = (*rows("figure 4.11", **loops), *rows_of("section 4.3"))
    return Shown([grid("Loop of 4 KB messages and 1 ms of computation", cells)], found)


def _figure_4_12(quick: bool) -> Shown:
    return Shown(_of_transposes("4 KB messages", THETA, _slower, _by_size(quick)))


def _figure_4_13(quick: bool) -> Shown:
    return Shown(_of_transposes("144 nodes", THETA, _slower, _by_length(quick)))


def _figure_4_14(quick: bool) -> Shown:
    axes = APPLIED_PERCENT, ACTUAL_PERCENT
    panels = _of_transposes("144 nodes", axes, _traffic, _by_length(quick))
    return Shown(panels, rows("figure 4.14", **({"loops": QUICK_LOOPS} if quick else {})))


def _table_4_1(_: bool) -> Shown:
    compared = {row.quantity: row for row in rows("table 4.1")}
    printed = published("chittor-programs")["table 4.1"]["loops_ms"]
    cells = {}
    for number, found in enumerate(table_4_1().iter_rows(named=True)):
        size = found["message_bytes"]
        for name in PATTERNS:
            label, title = f"{size} bytes", name.upper()
            cells[label, f"{title}, ms"] = Cell(printed[name][number], found[name] / 1000)
            row = compared.get(f"{name}, {size} bytes, over τ_m")
            ratio = cell(row) if row else Cell(2.0, found[f"ratio_{name}"])
            cells[label, f"{title} / τ_m"] = ratio
    table = grid("Communication time of a loop of neighbours", cells, head="message")
    return Shown([table], tuple(compared.values()))


EXHIBITS = {
    "fig-4.4": _figure_4_4,
    "fig-4.5": _figure_4_5,
    "fig-4.6": _figure_4_6,
    "fig-4.7": _figure_4_7,
    "fig-4.8": _figure_4_8,
    "table-4.1": _table_4_1,
    "fig-4.11": _figure_4_11,
    "fig-4.12": _figure_4_12,
    "fig-4.13": _figure_4_13,
    "fig-4.14": _figure_4_14,
}
"""What recomputes the tables and figures of the chapter, by name."""
