"""What do broadcasts cost, and what do they cost the other messages, at this rate?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.base.progress import counting_runs
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import counted, give_or_take, number
from netloom.drawing.axes import DASHED, Look, axis
from netloom.drawing.colours import BEST, THIS
from netloom.questions.base import Numbers, Question, option, parse_numbers
from netloom.questions.columns import (
    CYCLES,
    USED,
    Axes,
    Column,
    Columns,
    CurveKind,
    asked,
    channel_columns,
    channels_by,
    table,
)
from netloom.questions.fields import Arriving, Measured, PacketLengths, PatternTraffic
from netloom.questions.named import network_of, provenance_of, read_traffic
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.shown import Verdict, pairs, percent
from netloom.questions.simulate import said as say
from netloom.questions.simulate.engines import NETWORK, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.load import note_of
from netloom.simulation.side_by_side import run_all
from netloom.topology import Cube
from netloom.topology.alike import check_direct
from netloom.workload import Lengths, parse_lengths
from netloom_papers.programs.broadcast import BroadcastTraffic, class_loads, run_broadcasts
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from netloom.base.arrays import Floats
    from netloom.base.provenance import Provenance
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload import Traffic
    from netloom_papers.programs.broadcast import BroadcastRun

    Figures = Mapping[str, Any]

MESSAGES = "messages/node/cycle"

LATENCIES = {
    "unicast": "unicast latency",
    "broadcast": "broadcast latency",
    "target": "latency to each target",
}
"""Classes of messages, and what their latency is called: of broadcasts, to the last target."""

PARTS = {"mean": "mean", "ci95": "± 95 %", "p50": "median", "p99": "99 % up to", "max": "largest"}

RATE = Column("rate", unit=MESSAGES, value="run.rate", key=True)

DIRECTIONS = Columns(
    Column("rate", unit=MESSAGES, json=None),
    Column("dimension", kind=int),
    Column("direction", kind=str),
    *(
        Column(name, unit=USED)
        for name in ("total", "unicast", "broadcast", "expected_unicast", "expected_broadcast")
    ),
)


def _latency(of: str, part: str) -> Column:
    """Return the column of a part of a latency as it was measured, or unknown past saturation."""

    def value(at: AtRate) -> float | None:
        return getattr(getattr(at.run, of), part) if at.run.stable else None

    key = part == "mean" and of != "target"
    title, name = f"{LATENCIES[of]}, {PARTS[part]}", f"{of}_latency"
    return Column(f"{name}_{part}", title, CYCLES, value, key=key, json=f"{name}.{part}")


def _used(name: str, title: str, value: Callable[[BroadcastRun], float]) -> Column:
    of, place = lambda at: value(at.run), f"utilisation.{name}"
    return Column(f"utilisation_{name}", title, USED, of, key=name == "max", json=place)


def _of_run(name: str, kind: type, title: str = "", unit: str = "", *, key: bool = False) -> Column:
    return Column(name, title, unit, f"run.{name}", kind, key)


@dataclass(frozen=True, eq=False)
class AtRate:
    """A run at one rate, and the answer that it is part of."""

    found: BroadcastSimulation
    run: BroadcastRun

    @property
    def zero_load_latency(self) -> float | None:
        """See ``BroadcastSimulation``, or None past saturation."""
        return self.found.zero_load_latency(self.run) if self.run.stable else None

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        messages = self.run.unicast.messages + self.run.broadcast.messages
        return note_of(self.run, messages, "message")

    @property
    def node(self) -> str | None:
        """The node whose queue grows most."""
        node = self.run.stability.node
        return None if node is None else self.found.network.topology.name_of(node)

    def directions(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the table of directions, or none if the network is no k-ary n-cube."""
        run, cube = self.run, self.found.network.topology
        if not isinstance(cube, Cube):
            return
        total = cube.direction_means(run.channel_utilisation)
        by_broadcast = run.broadcast_by_direction
        if by_broadcast is None:
            by_broadcast = np.full(total.shape, np.nan)
        expected = self.found.expected * run.rate
        for at in np.ndindex(total.shape):
            if cube.line_channels[at[0]]:
                yield {
                    "rate": run.rate,
                    "dimension": at[0],
                    "direction": ("growing", "falling")[at[1]],
                    "total": total[at],
                    "unicast": total[at] - by_broadcast[at],
                    "broadcast": by_broadcast[at],
                    "expected_unicast": expected[0][at],
                    "expected_broadcast": expected[1][at],
                }


@dataclass(frozen=True, eq=False, repr=False)
class BroadcastSimulation(Told):
    """What ``simulate_broadcast`` found, at one rate or at several.

    Attributes
    ----------
    asked
        The rates that were asked for, messages per cycle of the average sending node.
    """

    columns: ClassVar = Columns(
        RATE,
        _of_run("created", float, unit=MESSAGES),
        _of_run("accepted", float, unit=MESSAGES, key=True),
        Column("zero_load_latency", "unicast latency if idle", CYCLES),
        *(_latency(of, part) for of in LATENCIES for part in PARTS),
        Column("unicast_messages", value="run.unicast.messages", kind=int),
        Column("broadcast_messages", value="run.broadcast.messages", kind=int),
        _of_run("hops", float, "hops of a unicast"),
        _used("mean", "mean channel", lambda run: run.class_utilisation.sum()),
        _used("max", "busiest channel", lambda run: run.channel_utilisation.max(initial=0)),
        _used("unicast", "mean channel, unicasts", lambda run: run.class_utilisation[0]),
        _used("broadcast", "mean channel, broadcasts", lambda run: run.class_utilisation[1]),
        _of_run("cycles", int, "measured", CYCLES),
        _of_run("warmup_cycles", int, "warm-up", CYCLES),
        _of_run("flit_hops", int),
        _of_run("stable", bool, "keeps up", key=True),
        Column("backlog_growth", value="run.stability.growth", table=False, json="backlog.growth"),
        Column("backlog_node", kind=str, value="node", table=False, json="backlog.node"),
        Column(
            "backlog_node_growth", value="run.stability.node_growth", table=False,
            json="backlog.node_growth",
        ),
        _of_run("reason", str),
        _of_run("precise", bool),
        _of_run("warmed_up", bool),
        _of_run("interrupted", bool),
        Column("note", kind=str),
        Column(
            "directions", kind=list, value=lambda at: list(map(DIRECTIONS.nested, at.directions())),
            table=False,
        ),
    )  # fmt: skip
    about: ClassVar = NETWORK | Columns(
        Column("traffic", kind=str, value="traffic.name"),
        Column(
            "packet_flits", kind=dict,
            value=lambda found: {"law": found.lengths.name, "mean": found.lengths.mean},
        ),
        Column("broadcast", value=asked("broadcast")),
        Column("multicast_targets", kind=int, value=asked("multicast_targets")),
        Column("tree", kind=str, value=asked("tree")),
        Column("startup_cycles", unit=CYCLES, kind=int, value=asked("startup_cycles")),
        Column("asked", kind=list),
        Column("interrupted", kind=bool),
    )  # fmt: skip

    network: PreparedNetwork
    traffic: Traffic
    lengths: Lengths
    points: tuple[BroadcastRun, ...]
    asked: tuple[float, ...]
    provenance: Provenance

    @property
    def observations(self) -> list[AtRate]:
        """The runs, with what is known of each."""
        return [AtRate(self, run) for run in self.points]

    @property
    def several(self) -> bool:
        """Whether there is not one run that was asked for."""
        return len(self.asked) > 1 or not self.points

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        stopped = any(run.interrupted for run in self.points)
        return stopped or len(self.points) < len(self.asked)

    @property
    def point(self) -> BroadcastRun:
        """The one run, or InputError if several rates were asked for, or it never began."""
        return self.only(self.points, f"{len(self.points)} rates")

    def zero_load_latency(self, run: BroadcastRun) -> float:
        """Return the unicast latency of the idle network by the formula, over measured hops."""
        startup: int = self.provenance.configuration["startup_cycles"]
        return startup + self.network.zero_load_latency(run.hops, run.flits)

    @cached_property
    def expected(self) -> Floats:
        """The exact mean load of the channels of each direction, at a message per node and cycle.

        float64[2, n, 2], flits per cycle, see ``class_loads``. Only on k-ary n-cubes.
        """
        cube, chosen = self.network.topology, self.provenance.configuration
        assert isinstance(cube, Cube)
        multicast = bool(chosen["multicast_targets"])
        part, tree = chosen["broadcast"], chosen["tree"]
        shares = class_loads(cube, self.traffic, part, tree, multicast=multicast)
        return shares * self.lengths.mean

    @table(DIRECTIONS)
    def directions(self) -> pl.DataFrame:
        """Return one row per rate, dimension and direction: mean utilization of the channels.

        Flits a cycle: ``total`` as counted on the channels, ``broadcast`` of the copies that
        arrived, ``unicast`` the rest, ``expected_`` the exact means. Empty on networks that are no
        k-ary n-cubes.
        """
        return DIRECTIONS.frame(row for at in self.observations for row in at.directions())

    @table(channel_columns(RATE))
    def channels(self) -> pl.DataFrame:
        """Return one row per rate and channel: its two nodes, and flits per cycle on it."""
        runs = ((run.rate, run.channel_utilisation) for run in self.points)
        return channels_by("rate", runs, self.network.topology)


BY_RATE = Axes(
    "rate, messages/node/cycle", "latency of unicast messages", "cycles",
    "accepted messages/node/cycle",
)  # fmt: skip

CURVE = CurveKind(
    BY_RATE, "rate", "unicast_latency_mean", "zero_load_latency", "unicast_latency_ci95",
    "accepted", "stable", besides=("rate",),
)  # fmt: skip


class BroadcastFields(Question, panel="Broadcast"):
    """How many messages there are, and how those to all nodes are sent."""

    rate: Numbers = option(
        "Messages per sending node and cycle: 0.002, several with commas, or START:STOP:STEP."
    )
    broadcast: float = option("Share of the messages that are broadcast.", default=0.04, ge=0, le=1)
    multicast_targets: int = option(
        "Targets drawn per broadcast (0: all nodes).", default=0, ge=0, le=MAX_ELEMENTS
    )
    tree: Literal["balanced", "row-first"] = option(
        "Tree of a broadcast: balanced (dimensions in random order) or row-first (along "
        "rows, then columns).",
        default="balanced",
    )
    startup_cycles: int = option(
        "Start-up time of every message and copy.", default=0, ge=0, le=2**20, unit=CYCLES
    )


class BroadcastQuestion(Measured, ProgramQuestion, Arriving, PatternTraffic, BroadcastFields):
    """Messages of which a part goes to all nodes, by trees."""

    packet_flits: PacketLengths = option(  # type: ignore[assignment]
        "Length of a message, one packet: flits, uniform:1-9, bimodal:1,9,0.5 or geometric:5.",
        default=5,
        panel="Broadcast",
    )


def prepare(question: BroadcastQuestion) -> tuple[PreparedNetwork, Traffic, Lengths]:
    """Build the network, its traffic and the lengths of messages."""
    given: Any = question.packet_flits
    lengths = given if isinstance(given, Lengths) else parse_lengths(given)
    whole = question.model_copy(update={"packet_flits": None})  # messages are not cut
    found = network_of(question)
    check_direct(found[0], "broadcasts from neighbour to neighbour", "simulate trace")
    network = prepare_program(whole, longest_flits=lengths.longest, found=found)
    return network, read_traffic(question.traffic, network.topology), lengths


@asks(
    BroadcastQuestion,
    prepare=prepare,
    title="Simulated broadcasts",
    example="netloom simulate broadcast --on torus:8x8 --rate 0.002 --broadcast 0.04",
    page="run-a-program.md",
    sweep="rate",
    outputs=(PLOT,),
)
def simulate_broadcast(
    question: BroadcastQuestion, ready: tuple[PreparedNetwork, Traffic, Lengths]
) -> BroadcastSimulation:
    """Simulate traffic with some broadcasts, sent by trees of messages.

    Every node that a broadcast reaches sends copies on (Shahrabi, Ould-Khaoua & Mackenzie 2002).
    Runs at several rates go on at once, on all processors. Ctrl-C ends them, and what was known by
    then is the answer.

    Raises
    ------
    DeadlockError
        If packets could block each other for good, or have.

    Examples
    --------
    >>> found = simulate_broadcast(
    ...     "torus:4x4", rate=0.002, broadcast=0.1, packet_flits=8, cycles=20_000)
    >>> run = found.point
    >>> run.stable, run.broadcast.mean > run.unicast.mean
    (True, True)
    """
    rates = parse_numbers(question.rate, "rate", unit="messages/node/cycle")
    network, traffic, law = ready
    programs = [
        BroadcastTraffic(
            network.topology,
            traffic,
            rate,
            question.broadcast,
            lengths=law,
            arrivals=question.arrivals,
            tree=question.tree,
            startup_cycles=question.startup_cycles,
            multicast_targets=question.multicast_targets,
            seed=question.seed,
        )
        for rate in rates
    ]
    runs = [
        partial(run_broadcasts, network, traffic, program, rate, law.mean, question.limits())
        for rate, program in zip(rates, programs, strict=True)
    ]
    what = f"{traffic.name} with broadcasts on {network.topology.name}"
    with counting_runs(len(runs), what) as tell:
        found = run_all(runs, tell=tell)
    return BroadcastSimulation(
        network=network,
        traffic=traffic,
        lengths=law,
        points=tuple(found),
        asked=rates,
        provenance=provenance_of(question, "simulate_broadcast", network.topology),
    )


WORDS, UNIT = "simulate.broadcast", "messages/node/cycle"


def verdict(found: Figures) -> Verdict:
    """Return whether the network carries the rate, and how long both kinds of messages take."""
    points = found.get("points", [found])
    share = say.rough(found["broadcast"])
    of = f"{found['traffic']} with {share} broadcasts on {found['topology']}"
    vague = next((each for each in points if not is_known(each)), None)
    if vague is not None or len(points) < len(found["asked"]):
        more = say.again(WORDS, found) if found["interrupted"] else say.longer(WORDS, found)
        return Verdict("unknown", _too_short(vague), of, {}, more)
    carried = [each for each in points if each["stable"]]
    failed = next((each for each in points if not each["stable"]), None)
    if not carried:
        first = points[0]
        backlog, rate = first["backlog"], f"{number(first['rate'])} {UNIT}"
        piles = f"{rate} asked, {say.rough(backlog['growth'])} of it piles up"
        if backlog["node"] is not None:
            share = say.rough(backlog["node_growth"])
            piles = f"at {rate} the queue of node {backlog['node']} keeps {share} of what the node "
            piles += "sends"
        accepts = {"accepts": f"{number(first['accepted'])} of {rate} arrive"}
        less = [part * first["accepted"] for part in (0.25, 0.5, 0.75, 1)]
        said = f"Overloaded: {piles}. No latency exists here."
        return Verdict("act", said, of, accepts, _asked(found, less))
    last = carried[-1]
    rate = f"{number(last['rate'])} {UNIT}"
    used = last["utilisation"]
    lines = {
        "where": f"the busiest link is {say.rough(used['max'])} busy, the average link "
        f"{say.rough(used['mean'])}"
    }
    if used["mean"] and used["broadcast"]:
        part = say.rough(used["broadcast"] / used["mean"])
        lines["why"] = f"broadcasts make {part} of the traffic on links"
    if failed is not None:
        said = f"Saturates between {number(last['rate'])} and {number(failed['rate'])} {UNIT}: "
        said += f"{_latencies(last)} at {number(last['rate'])}."
    else:
        said = f"Carries {rate}: {_latencies(last)}."
    if not all(each["precise"] and each["warmed_up"] for each in carried):
        said = said.removesuffix(".") + ", in runs too short to be sure."
        return Verdict("unknown", said, of, lines, say.longer(WORDS, found))
    mean, idle = last["unicast_latency"]["mean"], last["zero_load_latency"]
    slow = failed is not None or bool(mean and idle and mean > say.SLOW * idle)
    if failed is None:
        most = 1 / found["packet_flits"]["mean"]
        rates = [min(times * last["rate"], most) for times in (1, 1.5, 2, 3, 4)]
    else:
        apart = (failed["rate"] - last["rate"]) / 4
        rates = [last["rate"] + step * apart for step in range(1, 4)]
    more = _asked(found, rates)
    return Verdict("limited" if slow else "fine", said, of, lines, more)


def is_known(point: Figures) -> bool:
    """Whether a run was long enough to tell whether the network carries its rate."""
    if point["interrupted"] or not (point["unicast_messages"] or point["broadcast_messages"]):
        return False
    return not point["stable"] or point["backlog"]["growth"] is not None


def _too_short(vague: Figures | None) -> str:
    if vague is None:
        return "Interrupted after 0 cycles of a further rate: not all rates are known."
    ran = counted(vague["cycles"], "cycle", ",")
    rate = f"{number(vague['rate'])} {UNIT}"
    if vague["interrupted"]:
        return f"Interrupted after {ran}: not known whether {rate} are carried."
    seen = vague["unicast_messages"] + vague["broadcast_messages"]
    return f"Too short to tell at {rate}: {counted(seen, 'message', ',')} in {ran}."


def _latencies(point: Figures) -> str:
    """Return the latencies of both kinds of messages, of those that there were."""
    parts = []
    unicast, broadcast = point["unicast_latency"], point["broadcast_latency"]
    if unicast["mean"] is not None:
        idle = f" ({number(point['zero_load_latency'])} idle)"
        parts.append(f"unicasts take {say.around(unicast['mean'], None)} cycles{idle}")
    if broadcast["mean"] is not None:
        parts.append(f"broadcasts {number(broadcast['mean'])} cycles to the last node")
    return ", ".join(parts)


def _asked(found: Figures, rates: Sequence[float]) -> str:
    """Return the command that asks for these rates."""
    shown = dict.fromkeys(f"{rate:.3g}" for rate in rates)
    return say.again(WORDS, found, rate=",".join(shown), cycles=None)


HEADS = (
    ("rate", "messages\n/node/cycle"),
    ("accepted", "messages\n/node/cycle"),
    ("unicast", "cycles"),
    ("p99", "cycles"),
    ("idle", "cycles"),
    ("to the last", "cycles"),
    ("to each", "cycles"),
    ("busiest", "link, %"),
    ("", ""),
)


def lines(result: BroadcastSimulation) -> list[Any]:
    """Return the latencies of unicast and broadcast messages by rate."""
    table = say.table_with_units(HEADS)
    figures = result.to_dict()
    for point in figures.get("points", [figures]):
        unicast, last = point["unicast_latency"], point["broadcast_latency"]
        table.add_row(
            number(point["rate"]),
            number(point["accepted"]),
            give_or_take(unicast["mean"], unicast["ci95"]),
            number(unicast["p99"]),
            number(point["zero_load_latency"]),
            give_or_take(last["mean"], last["ci95"]),
            number(point["target_latency"]["mean"]),
            number(100 * point["utilisation"]["max"]),
            say.state(point, known=is_known(point)),
        )
    targets = figures["multicast_targets"]
    who = counted(targets, "target") if targets else "all nodes"
    rows = {
        "broadcasts": f"{percent(figures['broadcast'])} of the messages, to {who} by "
        f"{figures['tree']} trees: cycles to the last target, and on average to each",
        "messages": f"{result.lengths.name} flits",
        "network": say.setup_of(result.network),
        "seed": str(figures["seed"]),
    }
    return [table, "", pairs(rows)]


def footer(record: Recorded) -> list[str]:
    """Return what was simulated, how messages are sent, and at which rate channels are shown."""
    from netloom.questions.simulate.drawn import highest, switched

    found = record.figures
    return [
        f"{found['traffic']} on {found['topology']}, {percent(found['broadcast'])} broadcasts; "
        f"{found['tree']} trees, messages of {found['packet_flits']['law']} flits; "
        f"{switched(record)}; channels at {number(highest(record, 'rate'))} messages/node/cycle"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the channels, and mean latencies by rate: of broadcasts to their last target."""
    from netloom.drawing.axes import panel
    from netloom.questions.network_chart import at_last, channels_chart
    from netloom.questions.simulate.drawn import ON_CHANNEL

    table, last = record.tables["table"], "broadcast, last target"
    looks = {"unicast": Look(BEST, DASHED), last: Look(THIS)}
    columns = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": last}
    tidy = (
        table.rename(columns)
        .unpivot(list(columns.values()), index="rate", variable_name="of", value_name="latency")
        .drop_nulls("latency")
        .sort("rate")
    )
    where = panel(
        axis("rate", "rate (messages/node/cycle)", table["rate"].to_list()),
        axis("latency", "mean latency (cycles)", tidy["latency"].to_list(), whole=False),
        looks,
    )
    said, reached = "No message arrived", tidy.filter(of=last)
    if reached.height:
        said = f"At {number(reached['rate'][-1])} messages/node/cycle a broadcast reaches its last "
        said += f"target after {number(reached['latency'][-1])} cycles"
    layers = [*where.lines(tidy, "of", looks), *where.ends_of(tidy, "of", looks)]
    channels = channels_chart(record, at_last(record, "rate"), "utilisation", ON_CHANNEL)
    return {"latency": where.drawn(layers, said), "channels": channels}
