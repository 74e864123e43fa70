"""Simulate traffic with some broadcasts, sent by trees of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from netloom.base.figures import CYCLES, SHARE, Figures, figure, unseen
from netloom.base.progress import counting_runs
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.words import counted, number, percent
from netloom.contention.busiest import ChannelUse, channel_uses
from netloom.questions.answers import Answer, Verdict, only, table
from netloom.questions.base import Numbers, Question, option, parse_numbers
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.fields import Arriving, Measured, PacketLengths, PatternTraffic
from netloom.questions.named import network_again, network_of, provenance_of, read_traffic
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnEngine, PreparedNetwork, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.load import longer
from netloom.questions.terminal import rough
from netloom.simulation.side_by_side import run_all
from netloom.simulation.steady import SLOW
from netloom.topology.measures import check_direct
from netloom.workload import Lengths, parse_lengths
from netloom_papers.programs.broadcast import (
    MESSAGES,
    BroadcastRun,
    BroadcastTraffic,
    run_broadcasts,
)


class Channel(Figures):
    """A channel at one rate."""

    rate: float = figure(unit=MESSAGES, key=True)
    use: ChannelUse = figure(at=".")


class MessageLengths(Figures):
    """The law of the lengths of messages, and their mean."""

    law: str = figure()
    mean: float = figure(unit="flits")


class BroadcastSimulation(Answer):
    """What ``simulate_broadcast`` found, at one rate or at several.

    ``network`` is that of an answer that was asked just now.
    """

    setup: OnEngine = figure(at=".", table=False)
    traffic: str = figure(table=False)
    lengths: MessageLengths = figure("lengths of messages", at="packet_flits")
    broadcast: float = figure("share of broadcasts", SHARE, table=False)
    multicast_targets: int = figure(table=False)
    tree: str = figure(table=False)
    startup_cycles: int = figure(unit=CYCLES, table=False)
    rates: tuple[float, ...] = figure("rates asked for", MESSAGES, at="asked")
    interrupted: bool = figure(table=False)
    points: tuple[BroadcastRun, ...] = figure()
    network: PreparedNetwork = unseen(default=None)

    @property
    def several(self) -> bool:
        """Whether there is not one run that was asked for."""
        return len(self.rates) > 1 or not self.points

    @property
    def of(self) -> str:
        """Traffic, broadcasts and network."""
        return f"{self.traffic} with {rough(self.broadcast)} broadcasts on {self.setup.topology}"

    @property
    def point(self) -> BroadcastRun:
        """The one run, or InputError if several rates were asked for, or it never began."""
        return only(self, self.points, f"{len(self.points)} rates")

    def judged(self) -> Verdict:
        """Return whether the network carries the rate, and how long both kinds of messages take."""
        points = self.points
        vague = next((each for each in points if not each.is_known), None)
        if vague is not None or len(points) < len(self.rates):
            more = self.again() if self.interrupted else longer(self)
            return Verdict("unknown", _too_short(vague), {}, more)
        carried = [each for each in points if each.stable]
        failed = next((each for each in points if not each.stable), None)
        if not carried:
            return self._overloaded(points[0])
        last = carried[-1]
        lines = {
            "where": f"the busiest link is {rough(last.utilisation_max)} busy, the average link "
            f"{rough(last.utilisation_mean)}"
        }
        if last.broadcast_share:
            lines["why"] = f"broadcasts make {rough(last.broadcast_share)} of the traffic on links"
        if failed is not None:
            said = f"Saturates between {number(last.rate)} and {number(failed.rate)} {MESSAGES}: "
            said += f"{_latencies(last)} at {number(last.rate)}."
        else:
            said = f"Carries {number(last.rate)} {MESSAGES}: {_latencies(last)}."
        if not all(each.precise and each.warmed_up for each in carried):
            said = said.removesuffix(".") + ", in runs too short to be sure."
            return Verdict("unknown", said, lines, longer(self))
        mean, idle = last.unicast_latency.mean, last.zero_load_latency
        slow = failed is not None or bool(mean and idle and mean > SLOW * idle)
        if failed is None:
            most = 1 / self.lengths.mean
            rates = [min(times * last.rate, most) for times in (1, 1.5, 2, 3, 4)]
        else:
            apart = (failed.rate - last.rate) / 4
            rates = [last.rate + step * apart for step in range(1, 4)]
        return Verdict("limited" if slow else "fine", said, lines, self._asking(rates))

    def _overloaded(self, first: BroadcastRun) -> Verdict:
        rate = f"{number(first.rate)} {MESSAGES}"
        said = f"{rate} asked, {rough(first.backlog.growth)} of it piles up"
        if first.backlog.node is not None:
            share = rough(first.backlog.node_growth)
            said = f"at {rate} the queue of node {first.backlog.node} keeps {share} of what the "
            said += "node sends"
        lines = {"accepts": f"{number(first.accepted)} of {rate} arrive"}
        more = self._asking([part * first.accepted for part in (0.25, 0.5, 0.75, 1)])
        return Verdict("act", f"Overloaded: {said}. No latency exists here.", lines, more)

    def _asking(self, rates: Sequence[float]) -> str:
        """Return the command that asks for these rates."""
        shown = dict.fromkeys(f"{rate:.3g}" for rate in rates)
        return self.again(rate=",".join(shown), cycles=None)

    def remarks(self) -> Iterator[str]:
        """Yield how broadcasts are sent, and how it was run."""
        targets = self.multicast_targets
        who = counted(targets, "target") if targets else "all nodes"
        yield (
            f"{percent(self.broadcast)} of the messages are broadcasts, to {who} by {self.tree} "
            "trees: their latency is that to the last target"
        )
        yield f"messages of {self.lengths.law} flits, seed {self.setup.seed}"
        yield self.setup.how

    @table(Channel)
    def channels(self) -> dict[str, Any]:
        """Return one row per rate and channel: its two nodes, and flits per cycle on it."""
        runs = ((run.rate, run.channel_utilisation) for run in self.points)
        return channel_uses("rate", runs, self.network.topology)

    def footer(self) -> list[str]:
        """Return what was simulated, how messages are sent, and where channels are shown."""
        highest = number(max((each.rate for each in self.points), default=None))
        return [
            f"{self.traffic} on {self.setup.topology}, {percent(self.broadcast)} broadcasts; "
            f"{self.tree} trees, messages of {self.lengths.law} flits; {self.setup.routing}, "
            f"{self.setup.router['name']}; channels at {highest} {MESSAGES}"
        ]

    def parts(self) -> dict[str, Any]:
        """Return mean latencies by rate, of broadcasts to their last target, and the channels."""
        from netloom.drawing.axes import DASHED, Look, axis, panel
        from netloom.drawing.frame import BEST, THIS
        from netloom.drawing.networks.chart import USE, loaded_chart

        last = "broadcast, last target"
        looks = {"unicast": Look(BEST, DASHED), last: Look(THIS)}
        means = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": last}
        table = self.table().rename(means)
        tidy = table.unpivot(list(looks), index="rate", variable_name="of", value_name="latency")
        tidy = tidy.drop_nulls("latency").sort("rate", maintain_order=True)
        where = panel(
            axis("rate", f"rate ({MESSAGES})", [each.rate for each in self.points]),
            axis("latency", "mean latency (cycles)", tidy["latency"].to_list(), whole=False),
            looks,
        )
        said, reached = "No message arrived", tidy.filter(of=last)
        if reached.height:
            said = f"At {number(reached['rate'][-1])} {MESSAGES} a broadcast reaches its last "
            said += f"target after {number(reached['latency'][-1])} cycles"
        layers = [*where.lines(tidy, "of", looks), *where.ends_of(tidy, "of", looks)]
        channels = self.channels()
        shown = channels.filter(channels["rate"] == channels["rate"].max())
        at_hand = self.network.topology if self.kept is None else None
        net = network_again(at_hand, self.asked, shown)
        return {
            "latency": where.drawn(layers, said),
            "channels": loaded_chart(net, shown, "utilisation", USE),
        }


def _too_short(vague: BroadcastRun | None) -> str:
    if vague is None:
        return "Interrupted after 0 cycles of a further rate: not all rates are known."
    ran, rate = counted(vague.cycles, "cycle", ","), f"{number(vague.rate)} {MESSAGES}"
    if vague.interrupted:
        return f"Interrupted after {ran}: not known whether {rate} are carried."
    return f"Too short to tell at {rate}: {counted(vague.messages, 'message', ',')} in {ran}."


def _latencies(point: BroadcastRun) -> str:
    """Return the latencies of both kinds of messages, of those that there were."""
    parts, unicast, broadcast = [], point.unicast_latency.mean, point.broadcast_latency.mean
    if unicast is not None:
        idle = f" ({number(point.zero_load_latency)} idle)"
        parts.append(f"unicasts take {number(unicast)} cycles{idle}")
    if broadcast is not None:
        parts.append(f"broadcasts {number(broadcast)} cycles to the last node")
    return ", ".join(parts)


BY_RATE = Axes(f"rate, {MESSAGES}", "latency of unicast messages", "cycles", f"accepted {MESSAGES}")

UNICAST = "unicast_latency_mean", "zero_load_latency", "unicast_latency_ci95"
CURVE = CurveKind(BY_RATE, "rate", *UNICAST, "accepted", "stable", besides=("rate",))


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


def prepare(question: BroadcastQuestion) -> tuple[PreparedNetwork, list[BroadcastTraffic]]:
    """Build the network, and the messages at each rate."""
    rates = parse_numbers(question.rate, "rate", unit=MESSAGES)
    given: Any = question.packet_flits
    lengths = given if isinstance(given, Lengths) else parse_lengths(given)
    whole = question.model_copy(update={"packet_flits": None})  # messages are not cut
    found = network_of(question)
    check_direct(found[0], "broadcasts from neighbour to neighbour", "simulate trace")
    network = prepare_program(whole, longest_flits=lengths.longest, found=found)
    traffic, share = read_traffic(question.traffic, network.topology), question.broadcast
    names = ("arrivals", "tree", "startup_cycles", "multicast_targets", "seed")
    options = {name: getattr(question, name) for name in names}
    programs = [
        BroadcastTraffic(network.topology, traffic, rate, share, lengths=lengths, **options)
        for rate in rates
    ]
    return network, programs


@asks(
    BroadcastQuestion,
    prepare=prepare,
    title="Simulated broadcasts",
    example="netloom simulate broadcast --on torus:8x8 --rate 0.002 --broadcast 0.04",
    page="run-a-program.md",
    sweep="rate",
    outputs=(PLOT,),
    curve=CURVE,
)
def simulate_broadcast(
    question: BroadcastQuestion, ready: tuple[PreparedNetwork, list[BroadcastTraffic]]
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
    network, programs = ready
    traffic, law = programs[0].traffic, programs[0].lengths
    runs = [partial(run_broadcasts, network, each, question.limits()) for each in programs]
    what = f"{traffic.name} with broadcasts on {network.topology.name}"
    with counting_runs(len(runs), what) as tell:
        found = run_all(runs, tell=tell)
    names = ("broadcast", "multicast_targets", "tree", "startup_cycles")
    return BroadcastSimulation(
        **{name: getattr(question, name) for name in names},
        setup=OnEngine.of(network),
        traffic=traffic.name,
        lengths=MessageLengths(law=law.name, mean=law.mean),
        rates=tuple(each.rate for each in programs),
        interrupted=any(run.interrupted for run in found) or len(found) < len(programs),
        points=tuple(found),
        network=network,
        provenance=provenance_of(question, "simulate_broadcast", network.topology),
    )
