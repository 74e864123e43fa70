"""Chittor 1991, chapter 4: the measurements on the Symult 2010, made again on a simulated one.

The machine is what the thesis says of two nodes alone: start-up, packets and the bandwidth of a
channel. Everything else, such as what happens where messages meet, comes from the simulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.questions.simulate.pattern.question import simulate_pattern
from netloom.studies.comparing import compare_all
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from netloom.questions.simulate.pattern.answer import PatternSimulation
    from netloom.studies.comparing import Part
    from netloom.studies.validation import Row

SHORT = (1, 16, 64, 100, 128, 256)
LONG = (512, 1024, 2048, 4096, 8192)
"""Bytes: messages of a packet, and of whole packets, for which the lines are meant."""

PATTERNS = ("ab-1nn", "aa-1nn", "ab-4nn", "aa-4nn")
TABLE_4_1_BYTES = (1, 515, 1027, 4099, 8196)

LOOPS = 60
"""Loops of a run without computation: only its beginning leaves a trace in the others."""


def rows(known: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """Yield what chapter 4 measured, and what it says of it.

    Parameters
    ----------
    known
        The data file's content; another one has other numbers of loops.
    """
    printed = published("chittor-programs") if known is None else known
    yield from compare_all("chittor", printed, PARTS)


def figure_4_4(message_bytes: Sequence[int] = (*SHORT, *LONG), loops: int = LOOPS) -> pl.DataFrame:
    """Contention-free neighbours: ``communication_us_mean`` of a message against its length."""
    return _pattern("ab-1nn", 4, message_bytes, [0], loops).table()


def table_4_1(message_bytes: Sequence[int] = TABLE_4_1_BYTES, loops: int = LOOPS) -> pl.DataFrame:
    """Neighbours whose messages meet at the channel to the router: loop times, µs, by pattern.

    One row a length; ``ratio_`` of each pattern is to the time of a message alone, half of the
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
    """Its loop computes for 1 ms on average; the pairs are as many samples."""
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
