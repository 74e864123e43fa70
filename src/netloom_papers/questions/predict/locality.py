"""Predict how fast processors communicate over a torus, and what a better mapping gains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, derived, figure, leaves, records
from netloom.base.words import begun, counted, listed, number, percent
from netloom.questions import fields
from netloom.questions.answers import Answer, Mark, Verdict
from netloom.questions.base import MOST, Numbers, Question, option
from netloom.questions.named import mapping_name, provenance_of, read_program
from netloom.questions.outputs import PLOT
from netloom.questions.predict.shared import rounded
from netloom.questions.register import asks
from netloom.questions.terminal import order_named, short_name
from netloom.topology import Cube, average_distance
from netloom.workload import ProcessGraph
from netloom_papers.models import locality as model
from netloom_papers.questions.predict.shared import MOST_DIMENSIONS, SIZES, find_torus, parse_sizes

TRUST = (
    "on an 8 × 8 torus with buffered switches, simulated, message rates of a torus program are "
    "within 6 % (requests and replies) or 10 % (coherence traffic) of it, those of a LAMMPS run's "
    "matrix within 12 %; wormhole switches with few buffers are slower"
)
"""How far the model can be trusted, in a line. See ``models.locality``."""

NOTE = (
    "Model: rates of messages were within 6\u00a0% (a torus program) to 12\u00a0% (a LAMMPS run) "
    "of simulations on an 8 × 8 torus with buffered switches. Wormhole switches with few buffers "
    "are slower."
)

WORTHLESS = 0.02
"""Gain up to which nothing is left to look for."""

SAME = 0.01
"""Difference from a random mapping that is none: random ones differ as much."""

LARGE = 2.0
"""Times as fast from which a gain is said as a factor, and not in per cent."""

NEW_MAPPING = ("app", "on", "messages", "parts")
"""Fields that a search for a better mapping takes over."""

SIZE, DIMENSIONS = 1000, 2
"""Where neither they nor a network are given: Johnson's largest but one."""

RANDOM_MAPPINGS = 10
"""Random mappings of a program that its own is compared with."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight")
"""Fields that say something of ``app`` only."""


Messages: TypeAlias = tuple[Floats, Floats | float]
"""Where messages go: mean hops by size and mapping, and the load of each channel (1: all alike)."""

amount = partial(option, default=None, gt=0, le=MOST)
"""More than nothing, where the question has a default of its own."""

in_cycles = partial(option, unit="processor cycles", default=None, ge=0, le=MOST)
"""A time of a processor that Alewife's is by default."""


class TorusSize(Question, panel="Torus"):
    """The torus."""

    nodes: Numbers | None = option(
        f"Nodes of the torus: {SIZES}.", default=None, kw_only=False, shown_default="1000"
    )
    dimensions: int | None = option(
        "Dimensions of the torus.", default=None, ge=1, le=MOST_DIMENSIONS, shown_default="2"
    )
    on: fields.Network | None = option(
        "Torus instead of its size: torus:8x8, a topology or a machine.", default=None, file=True
    )
    node_channels: Literal[0, 1, 2] = option(
        "Channels between node and router with a queue: 0, 1 or 2.", default=0
    )


class TasksOfNodes(Question, panel="Program"):
    """How far messages go: a distance, or a program with a task on each node."""

    distance: float | None = amount(
        "Mean distance of messages under the mapping, d.",
        unit="hops",
        shown_default="those of a random mapping",
    )
    app: fields.Program | None = option(
        "Process graph with one task per node, as for analyze.", default=None, file=True
    )


class Processors(Question, panel="Processors and their transactions (by default Alewife's)"):
    """Processors that wait for the network."""

    contexts: float = option(
        "Hardware contexts, or outstanding transactions, per processor.", default=1, ge=1, le=MOST
    )
    network_speed: float = option("Network clock / processor clock.", default=2, gt=0, le=MOST)
    run_processor_cycles: float | None = in_cycles(
        "Useful work between two transactions, T_r.", shown_default="8.055"
    )
    switch_processor_cycles: float | None = in_cycles(
        "Time of a context switch, T_s.", shown_default="11"
    )
    fixed_processor_cycles: float | None = in_cycles(
        "Fixed time per transaction, excluding messages, T_f.",
        shown_default="38.85 with one context",
    )
    transaction_messages: float | None = amount("Messages per transaction, g.", shown_default="3.2")
    critical_messages: float | None = option(
        "Messages on a transaction's critical path, c.",
        default=None,
        ge=0,
        le=MOST,
        shown_default="1.895 with one context",
    )
    message_flits: float | None = amount(
        "Mean length of a message, B.", unit="flits", shown_default="12"
    )


class LocalityQuestion(
    fields.Seeded,
    Processors,
    fields.EdgeWeight,
    fields.ProgramFile,
    fields.Mapped,
    TasksOfNodes,
    TorusSize,
):
    """Processors that wait for a torus, and where their tasks run."""


class UnderMapping(Figures):
    """What the model says under a mapping. Cycles are the network's.

    The time between two transactions has five parts (Johnson 1992, eq. 18), from the network's to
    the processor's. Their JSON is ``breakdown``.
    """

    distance: float = figure("mean distance", "hops", head="distance", lead=True, key=True)
    message_rate: float = figure(
        "messages", "messages/node/cycle", head="rate", lead=True, key=True
    )
    message_latency: float = figure("message latency", CYCLES, head="latency", lead=True, key=True)
    per_hop_latency: float = figure("latency of a hop", CYCLES)
    channel_utilisation: float = figure("channels busy", SHARE, head="busy", lead=True)
    busiest_channel_utilisation: float = figure("the busiest", SHARE)
    node_channel_wait: float = figure("wait for a node's channels", CYCLES)
    inter_transaction_cycles: float = figure(
        "between transactions", CYCLES, head="every", lead=True, key=True
    )
    inter_transaction_processor_cycles: float = figure("between transactions", "processor cycles")
    transaction_latency: float = figure("transaction latency", CYCLES)
    processor_use: float = figure("processors at work", SHARE, head="at work", lead=True, key=True)
    latency_hidden: bool = figure("processors hide latency")
    variable_message_cycles: float = figure(
        "messages' hops", CYCLES, at="breakdown.variable_message"
    )
    fixed_message_cycles: float = figure("messages' flits", CYCLES, at="breakdown.fixed_message")
    fixed_transaction_cycles: float = figure(
        "rest of transaction", CYCLES, at="breakdown.fixed_transaction"
    )
    work_cycles: float = figure("useful work", CYCLES, at="breakdown.work")
    switch_cycles: float = figure("switching contexts", CYCLES, at="breakdown.switch")

    @classmethod
    def of(cls, machine: model.Machine, where: Messages) -> tuple[UnderMapping, ...]:
        """Return what the model says at each size, if messages go there.

        Of several mappings that is the mean. Latency is hidden if it is under most of them.
        """
        found = vars(model.predict_locality(machine, *where))
        mean = {name: values.mean(axis=1) for name, values in found.items()}
        every, speed = mean["inter_transaction_cycles"], mean.pop("speed")
        mean["inter_transaction_processor_cycles"] = every / speed
        mean["processor_use"] = speed * machine.run_processor_cycles / every
        mean["latency_hidden"] = mean["latency_hidden"] > 0.5
        return records(cls, mean)


class SizedMapping(Figures):
    """A mapping on the torus of one size."""

    nodes: int = figure(lead=True, key=True)
    mapping: str = figure(lead=True, key=True)
    under: UnderMapping = figure(at=".")
    gain: float = figure("gain of the ideal mapping")
    gain_of_mapping: float = figure("gain over a random mapping", head="gain", lead=True, key=True)


class Point(Figures):
    """One size: the mapping that was asked about, beside an ideal one and random ones.

    A gain says how many times more transactions there are than under a random mapping.
    """

    nodes: int = figure(key=True)
    under: UnderMapping = figure(at=".")
    gain: float = figure("gain of the ideal mapping")
    gain_of_mapping: float = figure("gain over a random mapping", key=True)
    ideal: UnderMapping = figure()
    random: UnderMapping = figure()

    @derived("what the ideal mapping gains", SHARE)
    def gained_at_most(self) -> float:
        """Over a random one."""
        return self.gain - 1

    @derived("what this mapping gains", SHARE)
    def gained(self) -> float:
        """Over a random one."""
        return self.gain_of_mapping - 1

    @derived("what a random mapping gains over this one", SHARE)
    def lost(self) -> float:
        """Below 0 where it is better than random ones."""
        return 1 / self.gain_of_mapping - 1

    @derived("what the ideal mapping adds", SHARE)
    def left(self) -> float:
        """Over this one."""
        return self.gain / self.gain_of_mapping - 1

    @property
    def of(self) -> str:
        """The size in words."""
        return f"{number(self.nodes)} nodes"

    @property
    def most(self) -> str:
        """The gain of the ideal mapping in words: a factor, or in per cent where it is small."""
        return _times(self.gain)

    def mappings(self, own: str) -> Iterator[SizedMapping]:
        """Yield the ideal mapping, random ones, and the one asked about if it is neither."""
        found = {"ideal": self.ideal, "random": self.random} | {own: self.under}
        for name, under in found.items():
            slow = self.random.inter_transaction_cycles
            yield SizedMapping(
                nodes=self.nodes,
                mapping=name,
                under=under,
                gain=self.gain,
                gain_of_mapping=slow / under.inter_transaction_cycles,
            )


class LocalityPrediction(Answer):
    """What ``predict_locality`` says, for one size or for several.

    The table has a row for each size and mapping. Cycles are the network's.

    Attributes
    ----------
    mapping
        The one that was asked about, told from the random ones that it is compared with.
    per_hop_limit
        What the latency of a hop tends to as distances grow (eq. 16).
    """

    ROWS: ClassVar = SizedMapping

    name: str = figure(table=False)
    dimensions: int = figure(table=False)
    topology: str | None = figure(table=False)
    app: str | None = figure(table=False)
    mapping: str = figure(table=False)
    contexts: float = figure(table=False)
    network_speed: float = figure(table=False)
    per_hop_limit: float = figure(unit=CYCLES)
    trust: str = figure()
    points: tuple[Point, ...] = figure()

    @property
    def of(self) -> str:
        """The program, if there is one, and the torus."""
        if self.topology is None:
            return f"{self.dimensions}D torus"
        program = f"{short_name(self.app)} on " if self.app else ""
        return f"{program}{short_name(self.topology)}"

    def judged(self) -> Verdict:
        """Return what one size, or several, come to."""
        point, unmapped = self.points[-1], self.several or self.mapping == "random"
        mark, said = self._of_random(point) if unmapped else self._of_own(point)
        then = ""
        if mark != "fine" and self.app:
            but = [each for each in self.asked if each not in NEW_MAPPING]
            then = self.again("map", but=but, objective="hop-bytes", rankfile="ranks.txt")
        return Verdict(mark, said, {"why": self._why(point)}, then, NOTE)

    def _of_random(self, point: Point) -> tuple[Mark, str]:
        """Return the mark and the sentence where no mapping is given, or several sizes are."""
        mark: Mark = "limited" if point.gained_at_most > WORTHLESS else "fine"
        most, first = f"{point.most} on {point.of}", self.points[0]
        if self.several:
            return mark, f"Placement gains at most {first.most} on {first.of}, {most}."
        if mark == "fine":
            gain = rounded(point.gained_at_most)
            return mark, f"Placement does not matter on {point.of}: it gains at most {gain}."
        hops = counted(number(point.ideal.distance), "hop")
        far = number(point.random.distance)
        return mark, f"Placement gains at most {most}: {hops} per message, not {far}."

    def _of_own(self, point: Point) -> tuple[Mark, str]:
        """Return the mark of a mapping, and what it comes to."""
        mine, own = whose(self.mapping), point.gain_of_mapping
        if point.left <= WORTHLESS:
            beside = f"{rounded(point.gained)} faster than"
            if own >= LARGE:
                beside = f"{number(own)}× as fast as"
            return "fine", f"{mine} is as good as a perfect mapping: {beside} a random one."
        adds = f"a perfect one adds {rounded(point.left)}"
        if own < 1 - SAME:
            return "act", f"{mine} is {rounded(point.lost)} slower than a random mapping; {adds}."
        if own < 1 + SAME:
            others = "others" if self.mapping.startswith("random") else "a random mapping"
            return "act", f"{mine} gains nothing over {others}; {adds}."
        if point.gain < LARGE:
            own_share, _, _ = rounded(point.gained).partition("\u00a0")
            had = f"{own_share} of the {point.most}"
            return "limited", f"{mine} already has {had} that placement can give; {adds}."
        had = f"{_times(own)} of the {point.most}"
        return "limited", f"{mine} gains {had} that placement can give."

    def _why(self, point: Point) -> str:
        """Return how far messages go, and how busy that keeps the processors."""
        hops = f"{number(point.random.distance)} hops per message at random"
        if self.mapping != "random":
            own = counted(number(point.under.distance), "hop")
            hops = f"{own} per message, {number(point.random.distance)} at random"
        most = f"at most {percent(point.ideal.processor_use)}"
        return f"{hops}; processors work {percent(point.under.processor_use)} of the time, {most}"

    @property
    def rows(self) -> list[SizedMapping]:
        """Each size and mapping."""
        return [each for point in self.points for each in point.mappings(self.mapping)]

    def plainly(self, name: str) -> str:
        """Return a mapping as people know it."""
        return "rank order" if name == "identity" else name

    def remarks(self) -> Iterator[str]:
        """Yield what cycles are, and where processors hide all latency."""
        yield (
            f"cycles of the network, whose clock is {number(self.network_speed)} times the "
            f"processors'; {self._contexts}; a hop takes at most "
            f"{counted(number(self.per_hop_limit), 'cycle')}"
        )
        hidden = {self.plainly(each.mapping) for each in self.rows if each.under.latency_hidden}
        if hidden:
            yield f"processors hide all latency: {listed(sorted(hidden))}"

    @property
    def _contexts(self) -> str:
        return f"{counted(number(self.contexts), 'context')} per processor"

    def footer(self) -> list[str]:
        """Return what was asked about."""
        return [
            f"{self.name}; {self._contexts}; network clock {number(self.network_speed)} times the "
            "processors'; ideal: all messages go one hop"
        ]

    def parts(self) -> dict[str, Any]:
        """Return what locality is worth: the time between transactions, or the gain by size.

        Johnson 1992, figures 8 and 7.
        """
        return {"gain": self._by_size()} if self.several else {"time": self._time_parts()}

    def _time_parts(self) -> Any:
        """Return the parts of the time between two transactions, under each mapping."""
        from netloom.drawing.bars import Bar, stacked
        from netloom.drawing.frame import COLOURS, column

        found = self.rows
        parts = [each for each in leaves(UnderMapping) if each.json.startswith("breakdown.")]
        whole = max(each.under.inter_transaction_cycles for each in found)
        drawn = []
        for each in found:
            rows = [
                Bar(part.title, part.of(each.under), number(part.of(each.under)), colour)
                for part, colour in zip(parts, COLOURS, strict=True)
            ]
            who = {"ideal": "An ideal mapping", "random": "Random mappings"}.get(each.mapping)
            every = number(each.under.inter_transaction_cycles)
            said = f"{who or whose(each.mapping)}: a transaction every {every} cycles"
            unit = "cycles of the network between transactions"
            drawn.append(stacked(rows, said, unit, width=560, whole=whole))
        return column(*drawn)

    def _by_size(self) -> Any:
        """Return the gain by size, of the ideal mapping and of the one asked about."""
        import polars as pl

        from netloom.drawing.axes import AFTER, DASHES, looks_of
        from netloom_papers.exhibits import by_nodes

        own = [self.mapping] if self.mapping != "random" else []
        others = {name: look._replace(dash=DASHES[2]) for name, look in looks_of(own).items()}
        looks = {"ideal": AFTER, **others}
        table = self.table().filter(pl.col("mapping") != "random")
        last, title = self.points[-1], "gain over random mappings (times)"
        said = f"An ideal mapping gains {number(last.gain)} times at "
        said += counted(last.nodes, "node", ",")
        return by_nodes(table, "gain_of_mapping", title, "mapping", looks, said, 1.0)


def whose(name: str) -> str:
    """Return a mapping as the subject of a sentence."""
    if name.startswith("of distance "):
        return f"A mapping {name}"
    if name.startswith("random, "):
        return f"A random mapping ({name.removeprefix('random, ')})"
    return begun(order_named(name))


def _times(gain: float) -> str:
    return f"{number(gain)}×" if gain >= LARGE else rounded(gain - 1)


class MappedTorus(NamedTuple):
    """The tori of a question, and the program on them: None where no network or program was given.

    ``mapping`` is what a person calls the mapping that was asked about, ``chosen`` where messages
    go under it, ``at_random`` under random ones.
    """

    nodes: tuple[int, ...]
    dimensions: int
    topology: Cube | None
    graph: ProcessGraph | None
    mapping: str
    machine: model.Machine
    chosen: Messages
    at_random: Messages

    @property
    def name(self) -> str:
        """What a person calls the program and the torus."""
        sizes = ", ".join(f"{size:,}" for size in self.nodes[:4])
        sizes += f" … {self.nodes[-1]:,}" if len(self.nodes) > 4 else ""
        on = self.topology.name if self.topology else f"{self.dimensions}D torus of {sizes} nodes"
        return f"{self.graph.name} on {on}" if self.graph else on


def prepare(question: LocalityQuestion) -> MappedTorus:
    """Build the torus, and map the program to it if there is one."""
    _check_places(question)
    topology, graph, name = None, None, "random"
    if question.on is None:
        dimensions = question.dimensions or DIMENSIONS
        sizes = parse_sizes(SIZE if question.nodes is None else question.nodes, "nodes")
        if sizes[0] < 2**dimensions:
            wanted = f"at least {2**dimensions:,}: two a side in {counted(dimensions, 'dimension')}"
            raise InputError("nodes", f"{sizes[0]}", wanted)
        far = model.random_distance(sizes, dimensions)
        farthest = dimensions * sizes[0] ** (1 / dimensions) / 2
    else:
        topology = find_torus(question.on)
        sizes, dimensions = (topology.num_hosts,), len(topology.sides)
        far = np.array([average_distance(topology)])
        farthest = sum(side // 2 for side in topology.sides)
    machine = _machine(question, dimensions)
    chosen: Messages = (far[:, None], 1.0)
    at_random = chosen
    if question.app is not None:
        assert topology is not None  # checked
        graph, chosen, at_random = _mapped(question, topology)
        name = mapping_name(question.mapping)
        name = f"random, seed {question.seed}" if name == "random" else name
    elif question.distance is not None:
        if question.distance > farthest * (1 + 1e-9):
            wanted = f"at most {farthest:.4g}, half-way round in each dimension of "
            raise InputError("distance", f"{question.distance:g}", f"{wanted}{sizes[0]:,} nodes")
        chosen = np.full((len(sizes), 1), question.distance), 1.0
        name = f"of distance {question.distance:g}"
    return MappedTorus(sizes, dimensions, topology, graph, name, machine, chosen, at_random)


@asks(
    LocalityQuestion,
    prepare=prepare,
    title="Model of locality",
    example="netloom predict locality --on torus:8x8 --app examples/lammps-64.mtx --contexts 4",
    page="is-locality-worth-it.md",
    outputs=(PLOT,),
)
def predict_locality(question: LocalityQuestion, on: MappedTorus) -> LocalityPrediction:
    """Predict how fast processors communicate over a torus, and what a better mapping gains.

    In Johnson's model (ISCA 1992), processors that wait longer also send less: see
    ``models.locality``.

    Examples
    --------
    >>> found = predict_locality(1000).points[0]
    >>> round(found.gain, 2), round(found.under.message_rate, 4)
    (2.06, 0.0131)
    >>> predict_locality([1e3, 1e6]).table().filter(mapping="ideal")["gain"].round(1).to_list()
    [2.1, 41.2]
    """
    nearest = np.ones((len(on.nodes), 1)), 1.0
    mappings = on.chosen, nearest, on.at_random
    own, ideal, random = (UnderMapping.of(on.machine, each) for each in mappings)
    points = []
    for nodes, under, near, far in zip(on.nodes, own, ideal, random, strict=True):
        most, gain = (
            far.inter_transaction_cycles / each.inter_transaction_cycles for each in (near, under)
        )
        gains = {"gain": most, "gain_of_mapping": gain}
        points.append(Point(nodes=nodes, under=under, ideal=near, random=far, **gains))
    asked: dict[str, Any] = {each: getattr(on, each) for each in ("name", "dimensions", "mapping")}
    asked |= {each: getattr(question, each) for each in ("contexts", "network_speed")}
    return LocalityPrediction(
        **asked,
        topology=on.topology.name if on.topology else None,
        app=on.graph.name if on.graph else None,
        per_hop_limit=float(model.per_hop_limit(on.machine)),
        trust=TRUST,
        points=tuple(points),
        provenance=provenance_of(question, "predict_locality", on.topology),
    )


def _check_places(question: LocalityQuestion) -> None:
    """Raise InputError if a network, a distance and a program do not go together."""
    if question.on is not None:
        for field in ("nodes", "dimensions"):
            if getattr(question, field) is not None:
                raise InputError(field, f"{getattr(question, field)} as well as on", "one of them")
    if question.app is not None:
        if question.on is None:
            raise InputError("on", "no network for the program", "a torus, such as torus:8x8")
        if question.distance is not None:
            wanted = f"one of them; mapping distance:{question.distance:g} makes such a mapping"
            raise InputError("distance", f"{question.distance:g} as well as app", wanted)
        return
    fields.refuse(question, OF_A_PROGRAM, "app, which this says something of")


def _machine(question: LocalityQuestion, dimensions: int) -> model.Machine:
    """Return Alewife on such a torus, with what the question says otherwise."""
    needed = question.critical_messages, question.fixed_processor_cycles
    if question.contexts > 4 and None in needed:
        wanted = "at most the 4 of Alewife's processor, or critical_messages and "
        wanted += "fixed_processor_cycles of another"
        raise InputError("contexts", f"{question.contexts:g}", wanted)
    usual = model.alewife(min(question.contexts, 4), speed=question.network_speed)
    asked = {name: getattr(question, name, None) for name in vars(usual)}
    asked |= {"messages": question.transaction_messages, "dimensions": dimensions}
    machine = replace(usual, **{name: each for name, each in asked.items() if each is not None})
    critical, every = machine.critical_messages.item(), machine.messages.item()
    if critical > every:
        found = f"{critical:.4g} of the {counted(every, 'message', '.4g')} of a transaction"
        raise InputError("critical_messages", found, "at most transaction_messages")
    return machine


def _mapped(question: LocalityQuestion, topology: Cube) -> tuple[ProcessGraph, Messages, Messages]:
    """Return the program, and where its messages go: under its mapping, and under random ones."""
    from netloom.contention.channel_queueing import follow_flows
    from netloom.mapping.allocation import place_program
    from netloom.routing import virtual_channel_routing

    assert question.app is not None
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    if graph.num_tasks != topology.num_hosts:
        found = f"{graph.num_tasks} tasks for the {topology.num_hosts} nodes of {topology.name}"
        raise InputError("app", found, "a task on each node: in the model all nodes are alike")
    total = np.bincount(graph.source, graph.weights(question.weight), graph.num_tasks)
    if not total.all():
        found = f"task {int(np.argmin(total))} of {graph.name}, which sends no {question.weight}"
        raise InputError("app", found, "tasks that all send: in the model all nodes are alike")
    share = graph.shares(question.weight)  # of its source's transactions
    sends = share > 0
    rates = np.tile(share[sends], 2)  # messages go, and come back
    routing = virtual_channel_routing(topology, "dimension-order", num_vcs=2)

    def mapped(mapping: Any, seeds: Iterable[int]) -> Messages:
        distances, loads = [], []
        for seed in seeds:
            node_of = place_program(mapping, graph, topology, seed=seed, tasks_per_node=1)
            ends = node_of[graph.source[sends]], node_of[graph.target[sends]]
            flows = follow_flows(routing, np.concatenate(ends), np.concatenate(ends[::-1]), rates)
            hops = flows.paths.lengths
            distances.append(np.average(hops, weights=flows.rate))
            carried = np.repeat(flows.rate, hops)
            loads.append(np.bincount(flows.paths.channels, carried, topology.num_channels))
        return np.array([distances]), np.array([loads])

    first = question.seed + 1
    at_random = mapped("random", range(first, first + RANDOM_MAPPINGS))
    return graph, mapped(question.mapping, [question.seed]), at_random
