"""How right netloom is about machines that people measure: ``netloom validate machines``.

Each measured time stands beside the one that netloom predicts and beside the least possible time.
Rows that a constant was taken from are shown and never count. Counted packets of links stand beside
those of netloom's routes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from netloom._version import __version__
from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.words import counted, number, percent
from netloom.questions.answers import Verdict
from netloom_papers.counted_links import ORDER, counted_links
from netloom_papers.exhibits import COMPUTED, Plot, exhibit_chart
from netloom_papers.ledger import table_of
from netloom_papers.measurements import Folder, Row, read_folder
from netloom_papers.spellings import NETLOOM, ONE_SWITCH, OR

if TYPE_CHECKING:
    import altair as alt

    from netloom.phases.collectives.trees import LeastTime
    from netloom.questions.collective_prepared import PreparedCollective

Lines: TypeAlias = list[list[str]]

SHOWN = Path(str(files("netloom.machines").joinpath("measured")))
"""The half of the measurements that netloom was made with."""

KIB, MIB = 2**10, 2**20

SIZES = {
    "all": (0, inf),
    "≤ 64 KiB": (1, 64 * KIB),
    "8 MiB+": (8 * MIB, inf),
    "64 MiB+": (64 * MIB, inf),
}
"""Classes of size, in bytes of one rank's buffer: 0 of packets that were counted."""

GOALS = {
    ("gpu", "≤ 64 KiB"): (0.20, 0.40),
    ("gpu", "8 MiB+"): (0.10, 0.25),
    ("gpu", "64 MiB+"): (0.08, 0.20),
    ("fugaku-1", "8 MiB+"): (0.06, 0.15),
    ("fugaku-6", "8 MiB+"): (inf, 0.25),
}
"""The median of errors and the one that 90 % stay below, at most, by class of rows and size."""

SHARES = (0.10, 0.25, 0.40)
"""Errors that shares of rows stay within."""

MOST_LOST = 5
"""Most algorithms that are named because they do not run."""

FAR, MOST_FAR = 0.25, 3
"""The error from which on rows are named on the page, and how many of a set."""

NEAR = 1.1
"""A choice is right if it takes at most so many times as long as the best measured one."""

SUMMARY = ("class", ":size", "rows", "median", "90 %", "≤ 10 %", "≤ 25 %", "≤ 40 %", ":goal")
"""The heads of ``Account.summary``."""

CHOICE = ("class", "cells", "right", "worst")
"""The heads of ``Account.choice``."""


# -- judging ---------------------------------------------------------------------------------------


def judge(folder: Path | None = None) -> Account:
    """Judge the measurements of a folder: by default those that netloom comes with.

    Raises
    ------
    InputError
        Naming the file and the line that cannot be read, or the set that netloom cannot answer.
    """
    read, rows = read_folder(folder or SHOWN), list[dict[str, Any]]()
    with counting(len(read.sets), "Measured sets") as tell:
        for which, each in enumerate(read.sets):
            tell(which)
            found = _loads(read, which) if each.use == "loads" else _times(read, which)
            rows += [{"set": each.name, "class": each.kind or each.name, **row} for row in found]
    numbers = {"predicted": pl.Float64, "bound": pl.Float64}
    table = pl.DataFrame(rows, schema_overrides=numbers, infer_schema_length=None)
    measured, predicted = pl.col("measured"), pl.col("predicted")
    off = (predicted - measured).abs()
    return Account(
        read,
        table.with_columns(
            calibrates=pl.col("fixes") != "",
            ratio=pl.when(measured > 0).then(predicted / measured),
            error=pl.when(off == 0).then(0.0).otherwise(off / measured),
        ),
    )


def _times(folder: Folder, which: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a set of times. All that share a network are predicted at once."""
    each, groups = folder.sets[which], dict[tuple[Any, ...], list[Row]]()
    for row in folder.rows(which):
        run = "" if each.hosts == "consecutive" else row.run
        ranks = row.ranks, row.ranks_per_node
        where = folder.network(which, row), row.collective, ranks, run
        groups.setdefault(where, []).append(row)
    for (network, collective, (ranks, per_node), _), rows in groups.items():
        called = {row.algorithm: each.called(row) for row in rows}
        sizes: dict[str, set[float]] = {}
        for row in rows:
            for name in called[row.algorithm]:
                sizes.setdefault(name, set()).add(row.bytes)
        hosts = folder.hosts(which, rows[0].run)
        if network.startswith(ONE_SWITCH):  # any hosts are alike
            hosts = None
        asked = {"on": network, "ranks": ranks, "nodes": hosts} | each.options
        try:
            ready, fields = _prepared(per_node, asked)
            unknown = {name for name in called if name not in NETLOOM}
            times, why = _timed(collective, sizes, fields, unknown)
        except InputError as error:
            what = f"{error.where}: {error.found} ({collective} of {ranks} ranks on {network})"
            raise folder.wrong(which, "", what, error.wanted) from None
        adds = [collective == "all-reduce" and each.adds(row) for row in rows]
        least: dict[bool, list[LeastTime]] = {}
        for adding in {*adds}:  # then a whole size crosses each cut each way, and no more
            parts = ("reduce", "broadcast") if adding else (collective,)
            least[adding] = [ready.bound(part, 0, ready.host_of) for part in parts]
        for row, adding in zip(rows, adds, strict=True):
            own = dict[str, float]()
            for name in called[row.algorithm]:
                if (name, row.bytes) in times:
                    own[why.get(name, name)] = times[name, row.bytes]
            lost = next((why[name] for name in called[row.algorithm] if not own), "")
            name = min(own, key=lambda one: own[one], default="".join(called[row.algorithm][:1]))
            told = row._asdict()
            del told["words"]
            yield told | {
                "netloom": name,
                "unit": "s",
                "predicted": own.get(name),
                "bound": max(bound.seconds(row.bytes) for bound in least[adding]),
                "adding": adding,
                "fixes": each.fixes(row),
                "lost": lost,
            }


def _prepared(per_node: int, asked: Mapping[str, Any]) -> tuple[PreparedCollective, dict[str, Any]]:
    """Return what is asked, ready for bounds of any collective, and all fields of it."""
    from netloom.questions.base import ask
    from netloom.questions.collective_prepared import CollectiveQuestion, prepare
    from netloom.questions.named import network_of

    fields = dict(asked)
    question = ask(CollectiveQuestion, {"collective": "barrier"} | fields)
    network, _ = network_of(question, switches=True)
    if network.num_nodes == network.num_hosts:  # computers without an inside share a host
        fields = {"tasks_per_node": per_node} | fields
    elif (named := str(fields.get("nodes") or "").split(",")) and all(map(str.isdigit, named)):
        width = network.num_hosts // network.num_nodes  # computers are named, with all their hosts
        if len(named) * width == fields["ranks"]:
            every = [int(each) * width + host for each in named for host in range(width)]
            fields["nodes"] = ",".join(map(str, every))
    return prepare(ask(CollectiveQuestion, {"collective": "barrier"} | fields)), fields


def _timed(
    collective: str,
    sizes: Mapping[str, set[float]],
    fields: Mapping[str, Any],
    unknown: Container[str] = (),
) -> tuple[dict[tuple[str, float], float], dict[str, str]]:
    """Return the seconds of algorithms by name and size, and which run or why none does."""
    from netloom.questions.base import ask
    from netloom.questions.collective_prepared import CollectiveQuestion, prepare

    found, why = dict[tuple[str, float], float](), dict[str, str]()
    for name, some in sizes.items():
        if name in unknown:
            why[name] = "netloom has none of that name: say in algorithms which it is"
            continue
        for each in name.split(OR):
            asked = {"collective": collective, "algorithm": each, "size": sorted(some), **fields}
            try:
                ready = prepare(ask(CollectiveQuestion, asked))
                found |= {(name, size): ready.seconds(each, size) for size in ready.sizes}
            except InputError as error:
                if each not in NETLOOM:
                    raise
                why[name] = f"found {error.found}; expected {error.wanted}"
            else:
                why[name] = each
                break
    return found, why


def _loads(folder: Folder, which: int) -> Iterator[dict[str, Any]]:
    """Yield packets counted on links beside those of netloom's routes."""
    of_all = {"run": "", "collective": "", "netloom": ORDER, "bytes": 0.0, "fixes": ""}
    of_all |= {
        "unit": "packets",
        "adding": False,
        "lost": "",
        "nodes": str(folder.sets[which].network).partition(":")[2],
    }
    for row in counted_links(folder, which):
        yield row._asdict() | of_all


# -- the account -----------------------------------------------------------------------------------


def errors_by_size(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return the errors of each class of size that occurs, of rows that count.

    How many there are, their median, the one that 90 % stay below, and the shares within others.
    """
    found, counts = {}, table.filter(pl.col("predicted").is_not_null(), ~pl.col("calibrates"))
    for name, (low, high) in SIZES.items():
        error = counts.filter(pl.col("bytes").is_between(low, high))["error"]
        if len(error):
            found[name] = {
                "rows": len(error),
                "median": _number(error.median()),
                "ninety": _number(error.quantile(0.9, "higher")),
            } | {f"within_{100 * most:.0f}": _number((error <= most).mean()) for most in SHARES}
    return found


def _number(found: Any) -> float:
    return float(found)


def choices(table: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of run and size in which several algorithms of netloom were measured.

    ``longer``: the measured time of the one that netloom calls fastest over that of the best.
    """
    timed = table.filter(pl.col("predicted").is_not_null(), pl.col("unit") == "s")
    name, measured = pl.col("netloom"), pl.col("measured")
    cells = timed.group_by(
        "class", "set", "run", "collective", "nodes", "bytes", maintain_order=True
    )
    return (
        cells.agg(
            chosen=name.sort_by("predicted", "measured").first(),
            best=name.sort_by("measured").first(),
            longer=measured.sort_by("predicted", "measured").first() / measured.min(),
            several=name.n_unique(),
        )
        .filter(pl.col("several") > 1)
        .drop("several")
    )


@dataclass(frozen=True)
class Account:
    """All rows of a folder, judged, and what they come to.

    Columns of ``rows``: measured, predicted and least possible ``bound`` are seconds or packets,
    ``netloom`` is the algorithm that was predicted, ``fixes`` the constant that the row fixed.
    ``adding``: whether the bound is that of switches that add. ``lost``: why nothing is predicted.
    """

    folder: Folder
    rows: pl.DataFrame

    def table(self) -> pl.DataFrame:
        """Return all rows, with six digits."""
        return self.rows.with_columns(pl.selectors.float().round_sig_figs(6))

    @cached_property
    def violations(self) -> list[str]:
        """Rows that took less than the least possible time, in words."""
        beaten = self.rows.filter(pl.col("bound") > pl.col("measured"))
        return [f"{row['set']}, {row_in_words(row)}" for row in beaten.iter_rows(named=True)]

    @cached_property
    def classes(self) -> dict[str, dict[str, dict[str, float]]]:
        """The errors of each class of rows, by size."""
        return {kind: errors_by_size(rows) for kind, rows in self.parts("class")}

    def parts(self, by: str) -> list[tuple[str, pl.DataFrame]]:
        """Return the rows of each class or set, in the order in which they come first."""
        return [(str(name), rows) for (name,), rows in self.rows.group_by(by, maintain_order=True)]

    @property
    def sentence(self) -> str:
        """What was found, in a few short sentences."""
        beaten, bounds = len(self.violations), self.rows["bound"].count()
        said = [
            f"{beaten or 'No'} bound{'s' * (beaten > 1)} of {bounds:,} above its measured time."
        ]
        for kind, sizes in self.classes.items():
            size = next((each for each in reversed(SIZES) if each in sizes), "")
            if size and sizes[size]["median"]:
                median, high = percent(sizes[size]["median"]), percent(sizes[size]["ninety"])
                said.append(f"{kind}, {size}: median error {median}, 90 % within {high}.")
        return " ".join(said)

    @property
    def verdict(self) -> Verdict:
        """The same with its mark: ``act`` if a bound is above its measured time."""
        lines = {f"row {at}": words for at, words in enumerate(self.violations[:10], start=1)}
        lost = self.rows.filter(pl.col("netloom") != "", pl.col("predicted").is_null())
        parts = lost.group_by("netloom", "lost", maintain_order=True).len()
        for name, why, rows in parts.head(MOST_LOST).iter_rows():
            first = name.partition(OR)[0]
            few = f"{counted(rows, 'row')} of {first} not predicted" + f" ({why})" * bool(why)
            lines["left out"] = "; ".join(
                [lines["left out"], few] if "left out" in lines else [few]
            )
        return Verdict("act" if self.violations else "fine", self.sentence, lines=lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all rows and what they come to, as plain data."""
        cells = choices(self.rows)
        right = cells.group_by("class", maintain_order=True).agg(
            cells=pl.len(), right=(pl.col("longer") <= NEAR).sum()
        )
        return {
            "rows": self.rows.to_dicts(),
            "classes": self.classes,
            "sets": {name: errors_by_size(rows) for name, rows in self.parts("set")},
            "choice": right.with_columns(share=pl.col("right") / pl.col("cells")).to_dicts(),
            "choices": cells.to_dicts(),
            "violations": self.violations,
            "verdict": self.verdict.to_dict(),
        }

    def summary(self) -> Lines:
        """Return a line per class of rows and of size: errors, the goal, and whether it is met."""
        return [
            [kind, size, *_told(errors), _goal(kind, size, errors)]
            for kind, sizes in self.classes.items()
            for size, errors in sizes.items()
        ]

    def choice(self) -> Lines:
        """Return a line per class, and one of all: cells, the share of right ones, the worst."""
        all_of_them = choices(self.rows)
        found = [
            (str(kind), cells)
            for (kind,), cells in all_of_them.group_by("class", maintain_order=True)
        ]
        found += [("all", all_of_them)] * (len(found) > 1)
        return [
            [
                kind,
                f"{len(cells):,}",
                percent(_number((cells["longer"] <= NEAR).mean())),
                f"{number(cells['longer'].max())} times as long",
            ]
            for kind, cells in found
        ]


def row_in_words(row: Mapping[str, Any]) -> str:
    """Return what a row is, in one line."""
    what = f"{row['collective']} {row['algorithm']}".strip()
    times = "" if row["bound"] is None else f", {units.seconds(row['measured'])}"
    size = f", {units.size(row['bytes'])}{times}" if row["bytes"] else ""
    return f"line {row['line']}: {what}, {counted(row['nodes'], 'node')}{size}"


def _told(errors: Mapping[str, float]) -> list[str]:
    rows, *shares = errors.values()
    return [f"{rows:,}", *map(percent, shares)]


def _goal(kind: str, size: str, errors: Mapping[str, float]) -> str:
    """Return a goal in words, and whether it is met. "" without one."""
    if (kind, size) not in GOALS:
        return ""
    median, high = GOALS[kind, size]
    met = errors["median"] <= median and errors["ninety"] <= high
    said = f"median {percent(median)}, " if median < inf else ""
    return f"{'✓' if met else '✗'} {said}90 % within {percent(high)}"


def chart(found: Account) -> alt.VConcatChart:
    """Return the picture: predicted over measured time by size, a pair of axes for each class.

    Raises
    ------
    InputError
        If no time is predicted.
    """
    told = found.rows.filter(pl.col("ratio") > 0, pl.col("bytes") > 0).select(
        "class", pl.lit(COMPUTED).alias("whose"), series="set", x="bytes", y="ratio"
    )
    heads = "bytes of a rank's buffer", "predicted over measured time"
    plots = [
        Plot(str(kind), *heads, some, "points", log_x=True, log_y=True)
        for (kind,), some in told.group_by("class", maintain_order=True)
    ]
    if not plots:
        raise InputError("plot", "no predicted times", "a set with algorithms to predict")
    return exhibit_chart("Predicted and measured times", plots, [found.sentence])


def page(found: Account) -> str:
    """Return a page of Markdown about what was found: all sets, and all rows that fixed constants.

    Parameters
    ----------
    found
        What ``judge`` found.
    """
    head = files("netloom_papers.studies").joinpath("data", "measured-machines.md")
    parts = [
        head.read_text("utf-8").format(
            sentence=found.sentence,
            version=__version__,
            rows=len(found.rows),
            summary=table_of(SUMMARY, found.summary()),
            choice=table_of(CHOICE, found.choice()),
        )
    ]
    for each, (_, rows) in zip(found.folder.sets, found.parts("set"), strict=True):
        parts.append(f"## {each.name}\n\n{each.notes}\n")
        specs = {"": each.network} if isinstance(each.network, str) else each.network
        networks = [
            f"`{spec}`" + f" ({nodes} nodes)" * bool(nodes) for nodes, spec in specs.items()
        ]
        told = [["network", ", ".join(networks)], ["rows", f"{len(rows)} of `{each.file}`"]]
        over = (rows["measured"] / rows["bound"]).drop_nulls()
        if len(over):
            least, middle = number(over.min()), number(over.median())
            told.append(
                ["over the least possible time", f"{least} at least, {middle} in the median"]
            )
        parts.append(table_of(("", ":"), told))
        sizes = [[size, *_told(errors)] for size, errors in errors_by_size(rows).items()]
        fixed = [
            [row_in_words(row), row["fixes"]]
            for row in rows.filter("calibrates").iter_rows(named=True)
        ]
        ignored = [[f"`{name}`", why] for name, why in each.ignored.items()]
        far = rows.filter(~pl.col("calibrates"), pl.col("error") > FAR).sort(
            "error", descending=True
        )
        furthest = [
            [row_in_words(row), row["netloom"], f"{number(row['ratio'])} times"]
            for row in far.head(MOST_FAR).iter_rows(named=True)
        ]
        for heads, lines in (
            (("size", *SUMMARY[2:-1]), sizes),
            (("furthest off", ":as", "predicted over measured"), furthest),
            (("row that never counts", ":what it fixed"), fixed),
            (("algorithms not predicted", ":why"), ignored),
        ):
            if lines:
                parts.append(table_of(heads, lines))
    return "\n".join(parts)
