"""Latency by load, gathered from many answers: what belongs to one curve, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.names import base_names
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.recorded import Recorded
from netloom.questions.terminal import order_named, short_name

THEMSELVES = frozenset({"topology", "traffic", "routing", "switching", "on", "app"})
"""Fields whose values say what they are."""


def telling(about: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields in which configurations differ, but those that a preset's name implies.

    Examples
    --------
    >>> one = {"topology": "mesh:8x8", "router": "three-stage", "route_cycles": 0, "vcs": 2}
    >>> other = {"topology": "mesh:8x8", "router": "canonical-4-stage", "route_cycles": 1, "vcs": 4}
    >>> telling([one, other])
    ('router', 'vcs')
    >>> telling([one, {**other, "route_cycles": 2}])
    ('router', 'route_cycles', 'vcs')
    """
    fields = list(dict.fromkeys(field for each in about for field in each))
    differ = [field for field in fields if len({repr(each.get(field)) for each in about}) > 1]
    if "router" in differ:
        differ = [field for field in differ if not _of_presets(field, about)]
    return tuple(differ)


def _of_presets(field: str, about: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the routers of all configurations have in a field what their preset has."""
    from netloom.simulation.network.routers import PRESETS

    for each in about:
        preset = vars(PRESETS[each["router"]]) if each.get("router") in PRESETS else {}
        if field not in preset or repr(each.get(field)) != repr(preset[field]):
            return False
    return True


def said_field(name: str, value: Any) -> str:
    """Return a field and its value in as few words as tell it.

    Examples
    --------
    >>> said_field("topology", "torus:8x8"), said_field("vcs", 4), said_field("speculative", True)
    ('torus:8x8', '4 VCs', 'speculative')
    >>> said_field("traffic", "/runs/a.mtx"), said_field("router", "three-stage")
    ('a', 'three-stage router')
    >>> said_field("mapping", "identity"), said_field("mapping", "random")
    ('rank order', 'random mapping')
    """
    words = name.replace("_", " ")
    if value is None:
        return f"no {words}"
    if isinstance(value, bool):
        return words if value else f"not {words}"
    if name == "vcs":
        return counted(value, "VC")
    if name == "mapping":
        return order_named(value)
    if isinstance(value, (list, dict)):
        return f"own {words}"
    if name in THEMSELVES:
        return short_name(str(value))
    if isinstance(value, str):
        return f"{base_names(value)} {words}"
    return f"{words} {number(value)}"


def name_fields(fields: Mapping[str, Any]) -> str:
    """Return fields and their values in a line."""
    return ", ".join(said_field(name, value) for name, value in fields.items())


def names_of(about: Sequence[Mapping[str, Any]], differ: Sequence[str]) -> list[str]:
    """Return the name of each configuration: the fields in which they differ.

    With nothing to tell them from, the network. Files of one name keep their folders.
    """
    names = [", ".join(said_field(field, each.get(field)) for field in differ) for each in about]
    if len(set(names)) < len({repr([each.get(field) for field in differ]) for each in about}):
        names = [", ".join(_in_full(field, each.get(field)) for field in differ) for each in about]
    return [
        name or short_name(str(each.get("topology", "the network")))
        for name, each in zip(names, about, strict=True)
    ]


def _in_full(field: str, value: Any) -> str:
    plain = isinstance(value, str) and "/" in value
    return str(value) if plain else said_field(field, value)


def shared_words(names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the words that all names have at their beginning or end, and the names without them.

    Examples
    --------
    >>> shared_words(["fast router", "slow router"])
    ('router', {'fast router': 'fast', 'slow router': 'slow'})
    >>> shared_words(["buffer flits 4", "buffer flits 8"])
    ('buffer flits', {'buffer flits 4': '4', 'buffer flits 8': '8'})
    >>> shared_words(["torus:8x8", "mesh:8x8"])[0]
    ''
    """
    words = [name.split() for name in names]
    if len(set(names)) < 2:
        return "", {name: name for name in names}
    shortest = min(map(len, words))
    start = 0
    while start < shortest - 1 and len({each[start] for each in words}) == 1:
        start += 1
    end = 0
    while end < shortest - 1 - start and len({each[-1 - end] for each in words}) == 1:
        end += 1
    kept = [" ".join(each[start : len(each) - end]) for each in words]
    first = words[0]
    common = " ".join([*first[:start], *first[len(first) - end :]]).strip(", ")
    return common, dict(zip(names, kept, strict=True))


RUNS: dict[str, Any] = dict.fromkeys(("load", "latency", "half", "accepted"), float)
RUNS |= {"stable": bool, "seed": int, "cycles": int, "idle": float}
"""Columns of single runs."""

MEASURED = "load", "latency", "low", "high", "accepted", "accepted_low", "accepted_high"
POINTS = dict.fromkeys(MEASURED, float) | {"runs": int, "behind": int}
"""Columns of points: means of the runs at one load, and how many of these fell behind."""


def runs_of(record: Recorded, kind: CurveKind, technique: str) -> Iterator[dict[str, Any]]:
    """Yield the points of one technique of an answer, whatever its columns are called."""
    table = record.tables["table"]
    if "switching" in table.columns:
        table = table.filter(table["switching"] == technique)
    for row in table.iter_rows(named=True):
        says = kind.stable.lstrip("-")
        stable = True if not says else bool(row[says]) != kind.stable.startswith("-")
        yield {
            "load": row[kind.load],
            "latency": row[kind.latency] if stable else None,
            "half": row[kind.half_width] if kind.half_width else None,
            "accepted": row[kind.accepted] if kind.accepted else None,
            "stable": stable,
            "seed": row.get("seed", record.figures["provenance"]["seed"]),
            "cycles": row.get("cycles"),
            "idle": row[kind.idle] if kind.idle in row else record.figures[kind.idle],
        }


def point_of(group: pl.DataFrame) -> dict[str, Any]:
    """Return the mean of the runs at one load, and its 95 % interval.

    Several runs: Student's t over their means. A single one: its own interval, of batch means.
    If some of the runs fell behind, the latency is the mean of the others. It has no interval then:
    those others are no random choice, and with all of them the mean would be higher.
    """
    from netloom.simulation.steady import interval_over_runs

    load, runs = group["load"][0], len(group)
    behind = int((~group["stable"]).sum())
    latency, low, high = None, None, None
    known = group["latency"].drop_nulls()
    if len(known) and len(known) + behind == runs:
        latency, half = interval_over_runs(known)
        half = group["half"][0] if runs == 1 else half
        if half is not None and not behind:
            low, high = latency - half, latency + half
    accepted = group["accepted"].drop_nulls()
    mean, around = interval_over_runs(accepted) if len(accepted) else (None, None)
    ends: tuple[float | None, float | None] = None, None
    if mean is not None and around is not None and len(accepted) > 1:
        ends = mean - around, mean + around
    values = load, latency, low, high, mean, *ends, runs, behind
    return dict(zip(POINTS, values, strict=True))


def runs_said(point: Mapping[str, Any]) -> str:
    """Return how many runs a latency is the mean of: those that did not saturate.

    Examples
    --------
    >>> runs_said({"runs": 3, "behind": 0}), runs_said({"runs": 3, "behind": 1})
    ('3', '2 of 3')
    """
    kept = point["runs"] - point["behind"]
    return f"{kept} of {point['runs']}" if point["behind"] else str(kept)


IN_OTHER_WORDS = frozenset({"app", "on", "message_flits"})
"""Fields for which the answer's figures stand: the traffic, the network, the packets."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Latency and throughput by load, of one configuration.

    Attributes
    ----------
    model
        Whether a model says so, or a simulator.
    about
        What it is of: fields of the question and figures of the network, with their values.
    label
        What tells it from the other curves of its group.
    table
        One row per load that the network kept up with in most runs, rising: ``load``, ``latency``,
        ``low`` and ``high`` (95 %. Null where unknown), ``accepted``, ``accepted_low``,
        ``accepted_high``, ``runs``, and ``behind``: how many of these fell behind. The latency is
        the mean of the others.
    accepted
        The same columns for all loads that have a throughput, past saturation too.
    kept_up, fell_behind
        The highest load that it kept up with, and the least that it did not, or None.
    limit
        Load above which it is proven to saturate. None if that is not known.
    found
        Where a search has found it to saturate, or a model says so, and half the width of that.
    idle
        Latency of the idle network.
    answers
        Load, technique and record of every point.
    ends
        What a model's latencies lack beside those of the simulator.
    """

    model: bool
    about: Mapping[str, Any]
    label: str
    table: pl.DataFrame
    accepted: pl.DataFrame
    kept_up: float | None
    fell_behind: float | None
    limit: float | None
    found: tuple[float, float] | None
    idle: float | None
    answers: tuple[tuple[float, str, Recorded], ...]
    ends: float = 0.0

    @property
    def bounds(self) -> tuple[float, float] | None:
        """At which loads it saturates at least and at most. None of curves without loads."""
        if self.found is not None:
            return self.found[0] - self.found[1], self.found[0] + self.found[1]
        if self.kept_up is None and self.fell_behind is None:
            return None
        return self.kept_up or 0.0, self.below

    @property
    def saturation(self) -> tuple[float, float] | None:
        """The interval of loads in which it saturates. None if it did not."""
        known = self.kept_up is not None and self.fell_behind is not None
        return self.bounds if known or self.found is not None else None

    @property
    def below(self) -> float:
        """The least load known to be past saturation. Infinite if none is."""
        known = [load for load in (self.fell_behind, self.limit) if load is not None]
        return min(known, default=np.inf)

    @property
    def whole(self) -> pl.DataFrame:
        """The rows of ``table`` in which no run fell behind: those that can be compared."""
        return self.table.filter(self.table["behind"] == 0)

    def at(self, load: float) -> tuple[float, float | None] | None:
        """Return latency where all runs kept up, and half of its interval, or None."""
        table = self.whole
        row = table.filter((table["load"] - load).abs() <= 1e-9 * max(1.0, abs(load)))
        if row.is_empty():
            return None
        latency, high = row["latency"][0], row["high"][0]
        return latency, None if high is None else high - latency


@dataclass(frozen=True, eq=False)
class CurveGroup:
    """Curves that are drawn together.

    Attributes
    ----------
    name
        The traffic, and the network if they have one in common.
    axes
        The words of the axes.
    differ
        The fields in which they differ.
    simulated, models
        The curves. Those of models are in the order of ``simulated``, each beside the one that it
        predicts. ``of`` gives for each the place of that, or None.
    """

    name: str
    axes: Axes
    differ: tuple[str, ...]
    simulated: tuple[Curve, ...]
    models: tuple[Curve, ...]
    of: tuple[int | None, ...]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All of them."""
        return (*self.simulated, *self.models)

    def model_of(self, place: int) -> Curve | None:
        """Return the model's curve beside a simulated one. None if there is none."""
        return next((self.models[at] for at, of in enumerate(self.of) if of == place), None)

    @property
    def off(self) -> list[tuple[float, float]]:
        """By how much models are off what they predict, at which loads."""
        pairs = ((curve, self.model_of(place)) for place, curve in enumerate(self.simulated))
        return [
            each for curve, model in pairs if model is not None for each in deviations(curve, model)
        ]


LONGEST_NAME = 48
"""Letters of what the curves of a group are of, if that is named one by one."""


Gathered: TypeAlias = tuple[dict[str, Any], str, Recorded]
"""What a point is of, its technique, and its record."""


def find_curves(records: Sequence[Recorded]) -> list[CurveGroup]:
    """Return the curves that answers are points of, those to be compared together.

    Answers belong to a curve if their questions and networks differ in nothing but load, seed and
    how long was measured. Curves are drawn together if they are of the same traffic. If each
    traffic has but one, all are. A curve of a single load is none, and left out, unless it
    saturates there: that is to be compared with the others.

    Examples
    --------
    >>> from netloom import simulate
    >>> from netloom.questions.recorded import record
    >>> group, = find_curves([record(simulate("ring:8", load=[0.1, 0.2, 0.3], cycles=500))])
    >>> group.name, group.simulated[0].table["load"].to_list()
    ('uniform traffic on ring:8', [0.1, 0.2, 0.3])
    """
    gathered: dict[tuple[Axes, bool, str], list[Gathered]] = {}
    for record in records:
        if (kind := record.kind.curve) is None:
            continue
        table = record.tables["table"]
        techniques = [(record.figures.get("router") or {}).get("switching") or ""]
        if "switching" in table.columns:
            techniques = table["switching"].unique(maintain_order=True).to_list()
        for technique in techniques:
            about = _about(record, kind, technique)
            key = kind.axes, kind.model, repr(sorted(about.items()))
            gathered.setdefault(key, []).append((about, technique, record))
    curves: dict[Axes, list[Curve]] = {}
    for (axes, _, _), parts in gathered.items():
        curve = _curve(parts)
        if len(curve.table) != 1 or curve.fell_behind is not None:
            curves.setdefault(axes, []).append(curve)
    groups = [group for axes, found in curves.items() for group in _groups(axes, found)]
    return [group for group in groups if any(len(curve.table) for curve in group.curves)]


def kind_of(record: Recorded) -> CurveKind:
    """Return how an answer that is of a curve is drawn."""
    kind = record.kind.curve
    assert kind is not None, f"an answer of {record.verb} is no point of a curve"
    return kind


def deviations(simulated: Curve, model: Curve) -> list[tuple[float, float]]:
    """Return by how much a model is off the simulator, at each load that both have a latency of.

    The model's latency over the simulator's, less 1. Between the model's points 1 / latency is
    taken to be straight: waiting times grow like 1 / (1 - load), which makes it nearly so.

    Returns
    -------
    deviations
        Load and deviation.
    """
    loads, latencies = (model.table[name].to_numpy() for name in ("load", "latency"))
    if not len(loads):
        return []
    pairs = simulated.whole.select("load", "latency").rows()
    return [
        (load, 1 / float(np.interp(load, loads, 1 / latencies)) / latency - 1)
        for load, latency in pairs
        if loads[0] - 1e-12 <= load <= loads[-1] + 1e-12 and latency
    ]


def _about(record: Recorded, kind: CurveKind, technique: str) -> dict[str, Any]:
    """Return what a curve is of: the network and the traffic as found, and what was asked else."""
    found, asked = record.figures, record.configuration
    router = found.get("router") or {}
    size = found.get("packet_flits") or found.get("message_flits")
    network = {
        "topology": found.get("topology") or f"omega:{found.get('pes')}",
        "traffic": found.get("traffic") or found.get("program") or kind.about.get("traffic"),
        "routing": found.get("routing") or kind.about.get("routing"),
        "router": router.get("name"),
        "switching": technique or None,
        "packet_flits": str(size["law"] if isinstance(size, dict) else _plain(size)),
    }
    own = {name: value for name, value in router.items() if name not in network and name != "name"}
    rest = {
        name: value
        for name, value in asked.items()
        if name not in kind.of_the_run
        and name not in network
        and name not in own
        and name not in IN_OTHER_WORDS
    }
    whole = network | own | rest
    return {name: _plain(value) for name, value in whole.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return a value that can be told from others by its text: a number that is whole is an int."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _curve(parts: Sequence[Gathered]) -> Curve:
    """Put the points of one curve together: means over seeds, with their spread."""
    rows, answers = [], []
    for _, technique, record in parts:
        for row in runs_of(record, kind_of(record), technique):
            rows.append(row)
            answers.append((row["load"], technique, record))
    table = pl.DataFrame(rows, schema=RUNS)  # of one seed only the longest run: the same chance
    table = table.sort(
        "load", "seed", pl.col("cycles").fill_null(0), descending=[False, False, True]
    )
    table = table.unique(["load", "seed"], keep="first", maintain_order=True)
    kind = kind_of(parts[0][2])
    bounds = [
        {} if kind.model else record.figures.get("throughput_bounds", {}).get(technique, {})
        for _, technique, record in parts
    ]
    limit = min((each["load"] for each in bounds if each.get("load") is not None), default=None)
    if limit is not None:  # answers of old, of runs too short to show it
        within = pl.col("load") <= limit * (1 + 1e-9)
        table = table.with_columns(
            pl.col("stable") & within, pl.when(within).then(pl.col("latency")).alias("latency")
        )
    levels = table.group_by("load").agg(kept_up=pl.col("stable").mean() > 0.5)  # as sweeps end
    behind = levels.filter(~pl.col("kept_up"))["load"].min()
    by_load = [
        point_of(group) for _, group in table.sort("load").group_by("load", maintain_order=True)
    ]
    whole = pl.DataFrame(by_load, schema=POINTS)
    kept = whole.filter(pl.col("latency").is_not_null())
    if behind is not None:
        kept = kept.filter(pl.col("load") < behind)
        levels = levels.filter(pl.col("load") < behind)
    idle = table["idle"].drop_nulls()
    last: Any = levels["load"].max()
    return Curve(
        model=kind.model,
        about=parts[0][0],
        label="",
        table=kept,
        accepted=whole.filter(pl.col("accepted").is_not_null()),
        kept_up=last,
        fell_behind=behind,  # type: ignore[arg-type]
        limit=limit,
        found=_found(parts, limit),
        idle=float(idle.mean()) if len(idle) else None,  # type: ignore[arg-type]
        answers=tuple(answers),
        ends=kind.ends,
    )


def _found(parts: Iterable[Gathered], limit: float | None) -> tuple[float, float] | None:
    """Return where a search found a network to saturate, or a model says it does."""
    found = [
        place
        for _, technique, record in parts
        for place in kind_of(record).found(record, technique)
    ]
    if not found:
        return None
    most = np.inf if limit is None else limit
    low = min(place - half for place, half in found)
    high = max(place + half for place, half in found)
    place = float(np.mean([place for place, _ in found]))
    if high > most * (1 + 1e-9):
        low, high = min(low, most), most
        place = (low + high) / 2
    return place, (high - low) / 2


def _groups(axes: Axes, curves: Sequence[Curve]) -> Iterator[CurveGroup]:
    """Yield curves by what they are to be compared with, labeled by their differences."""
    by_traffic: dict[str, list[Curve]] = {}
    for curve in curves:
        name = str(curve.about.get("traffic") or f"hot spots in {curve.about['topology']}")
        name = f"{name} traffic" if name.replace("-", "").isalpha() else short_name(name)
        by_traffic.setdefault(name, []).append(curve)
    one_each = (
        all(sum(not curve.model for curve in group) <= 1 for group in by_traffic.values())
        and len({str(curve.about.get("topology")) for curve in curves}) == 1
    )
    if one_each and len(by_traffic) > 1:
        together = ", ".join(by_traffic)
        if len(together) > LONGEST_NAME:
            together = f"{len(by_traffic)} programs or patterns"
        by_traffic = {together: list(curves)}
    for name, group in by_traffic.items():
        yield _group(name, axes, group)


def _group(name: str, axes: Axes, curves: Sequence[Curve]) -> CurveGroup:
    told = [curve for curve in curves if not curve.model] or curves
    differ = telling([curve.about for curve in told])
    names = names_of([curve.about for curve in curves], differ)
    found = [replace(curve, label=said) for curve, said in zip(curves, names, strict=True)]
    simulated, models = ([each for each in found if each.model is of] for of in (False, True))
    beside = []
    for model in models:
        alike = (at for at, each in enumerate(simulated) if _predicts(model, each))
        place = next(alike, None)
        if place is not None and model.ends:  # as it is to be compared with the simulated one
            longer = model.table.with_columns(model.table["latency"] + model.ends)
            model = replace(model, table=longer)
        beside.append((place, model))
    beside.sort(key=lambda each: (each[0] is None, each[0] or 0))
    networks = {short_name(str(curve.about.get("topology", ""))) for curve in curves}
    shared = networks.pop() if len(networks) == 1 else ""
    return CurveGroup(
        name=f"{name} on {shared}" if shared not in name else name,
        axes=axes,
        differ=differ,
        simulated=tuple(simulated),
        models=tuple(model for _, model in beside),
        of=tuple(place for place, _ in beside),
    )


def _predicts(model: Curve, simulated: Curve) -> bool:
    """Whether a model is of what was simulated: they agree in all that both know."""
    both = model.about.keys() & simulated.about.keys()
    return all(repr(model.about[name]) == repr(simulated.about[name]) for name in both)
