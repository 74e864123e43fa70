"""How far flows are from flits: the same messages, shared fairly and switched flit by flit.

Networks on which the estimate of the error (``simulation.flow.trust``) was made are *known*. Those
of other sizes and kinds *judge* it, and goals are about these. All messages are there at cycle 0.
Errors are the end of flows over that of flits, less 1. Of single messages, the mean of their size.
Flow ends have the latency of an idle network of routers added, message by message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.simulation.flow import trust
from netloom_papers.studies.flows_and_flits_cases import (
    NETWORKS,
    PATTERNS,
    SHARINGS,
    SWITCHES,
    cases,
    simulated,
)
from netloom_papers.studies.running import Goal, Section, StudyResult, simulate_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

NAME = "flows-and-flits"

FILLING = [name for name in SWITCHES if name != "few credits"]
"""Routers whose buffers can keep a channel busy."""

BANDS = (5, 10, 25)
"""Per cent within which cases are counted."""

MISSED, WIDE = 10.0, 60.0
"""Of 100 judging cases, how many ends may be beyond the estimate, and told with more than 10 %."""

ONE_LINK_LIMIT = 1.0
"""Per cent: how far the end of an incast may be off."""


def run(*, quick: bool, kept: Path) -> StudyResult:
    """Simulate what is not in the file yet, and compare. See ``running.run_study``."""
    asked = cases(quick=quick)
    found = simulate_all(asked, simulated, kept, "flows and flits")
    table = compare(asked, found)
    return StudyResult(
        name=NAME,
        quick=quick,
        goals=tuple(_goals(table)) if len(table) else (),
        sections=tuple(_sections(table)) if len(table) else (),
        tables={"flows": table},
        asked=len(found),
        simulated=sum(each is not None for each in found),
        kept=kept,
    )


def compare(asked: Sequence[Any], found: Sequence[dict[str, Any] | None]) -> pl.DataFrame:
    """Return one row per case and sharing: both ends, errors, and the estimate of the error.

    ``error`` is of the end, ``each`` of single messages, ``alike`` their correlation (null if all
    are alike). ``within`` is the estimate for the end in order (null: none), ``off`` how far the
    simulated end is from that, as a part of it.
    """
    import polars as pl

    rows = []
    for case, seen in zip(asked, found, strict=True):
        if seen is None:
            continue
        estimate = trust(
            seen["in order"]["end"], seen["shared"]["end"], seen["bound"],
            lossless_finish=seen["lossless"]["end"], short=seen["short"],
        )  # fmt: skip
        for sharing in SHARINGS:
            said = seen[sharing]
            rows.append(
                dict(case) | {
                    "sharing": sharing, "simulated": seen["end"], "flows": said["end"],
                    "error": said["end"] / seen["end"] - 1, "each": said["each"],
                    "alike": said["alike"], "within": estimate.within,
                    "off": abs(seen["end"] / said["end"] - 1), "why": estimate.why,
                }
            )  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _goals(table: pl.DataFrame) -> Iterator[Goal]:
    import polars as pl

    judging = table.filter(pl.col("router").is_in(FILLING), part="judge", sharing="in order")
    told = judging.filter(pl.col("within").is_not_null())
    missed = told.filter(pl.col("off") > pl.col("within"))
    worst = missed.sort("off", descending=True).head(2)
    where = "; ".join(f"{row['on']}, {row['pattern']}" for row in worst.iter_rows(named=True))
    share = 100 * len(missed) / max(len(told), 1)
    yield Goal("ends beyond the estimate of their error, the judge", MISSED, share, "%", where)
    wide = judging.filter(pl.col("within").is_null() | (pl.col("within") > 0.1))
    share = 100 * len(wide) / max(len(judging), 1)
    yield Goal("ends not told within 10 %, the judge", WIDE, share, "%")
    crowd = judging.filter(pattern="incast")
    far = crowd.sort(pl.col("error").abs()).tail(1).row(0, named=True)
    where = f"{far['on']}, {far['router']}"
    yield Goal("end of an incast, error", ONE_LINK_LIMIT, 100 * abs(far["error"]), "%", where)
    each = _victims(judging, table)
    for sharing, limit in (("in order", 50.0), ("lossless", 20.0)):
        what = f"messages of an incast with victims, {sharing}, mean error, 2 VCs"
        yield Goal(what, limit, 100 * each[sharing], "%")


def _victims(judging: pl.DataFrame, table: pl.DataFrame) -> dict[str, float]:
    """Return the mean error of single messages of incasts with victims, by sharing."""
    part = judging["part"][0]
    chosen = table.filter(part=part, pattern="incast, victims", router="2 VCs")
    return {
        str(sharing): float(np.mean(of["each"].to_numpy()))
        for (sharing,), of in chosen.group_by("sharing")
    }


def _sections(table: pl.DataFrame) -> Iterator[Section]:
    import polars as pl

    known = table.filter(part="known")
    for router in dict.fromkeys(table["router"]):
        of = known.filter(router=router)
        networks = [name for name in NETWORKS["known"] if name in set(of["on"])]
        rows = []
        for pattern in PATTERNS:
            for sharing in SHARINGS:
                alike = of.filter(pattern=pattern, sharing=sharing)
                cells = [_cell(alike.filter(on=name)) for name in networks]
                rows.append((pattern if sharing == "in order" else "", sharing, *cells))
        yield Section(
            f"Flows against flits: {router}",
            ("pattern", "flows", *networks),
            tuple(rows),
            (
                "error of the end %, mean error of single messages %, correlation (- where all are "
                "alike); of permutations, the mean of three",
            ),
        )
    yield _bands(table.filter(pl.col("router").is_in(FILLING)))
    yield _estimates(table.filter(pl.col("router").is_in(FILLING), sharing="in order"))


def _cell(of: pl.DataFrame) -> str:
    if not len(of):
        return "-"
    error, each = (100 * float(np.mean(of[name].to_numpy())) for name in ("error", "each"))
    known = of["alike"].drop_nulls().to_numpy()
    same = f"{float(np.mean(known)):.2f}" if len(known) else "-"
    return f"{error:+.0f} / {each:.0f} / {same}"


def _bands(table: pl.DataFrame) -> Section:
    """Return how many ends of flows are within some per cent, by pattern and sharing."""
    rows = []
    for pattern in PATTERNS:
        for sharing in SHARINGS:
            errors = table.filter(pattern=pattern, sharing=sharing)["error"].abs()
            cells = [f"{int((errors <= band / 100).sum())}" for band in BANDS]
            name = pattern if sharing == "in order" else ""
            rows.append((name, sharing, str(len(errors)), *cells))
    heads = (f"within {band} %" for band in BANDS)
    return Section(
        "How many ends are within some per cent, all networks",
        ("pattern", "flows", "cases", *heads),
        tuple(rows),
        ("routers whose buffers keep a channel busy",),
    )


def _estimates(table: pl.DataFrame) -> Section:
    """Return how many ends were within the estimate of their error, by estimate."""
    import polars as pl

    rows = []
    for part in NETWORKS:
        of = table.filter(part=part)
        for within in sorted(of["within"].unique().drop_nulls()):
            alike = of.filter(pl.col("within") == within)
            inside = int((alike["off"] <= within).sum())
            share = f"{100 * len(alike) / len(of):.0f} %"
            rows.append((part, f"± {100 * within:.3g} %", f"{inside} of {len(alike)}", share))
        none = of.filter(pl.col("within").is_null())
        rows.append(
            (part, "none", f"- of {len(none)}", f"{100 * len(none) / max(len(of), 1):.0f} %")
        )
    return Section(
        "The estimate of the error, and how many ends were within it",
        ("networks", "estimate", "ends within", "share of all"),
        tuple(rows),
        ("of the end in order; nine of ten were to be within",),
    )
