"""How fast do processors communicate that wait for their network, and what is a mapping worth?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.drawing.colours import BEST, OTHERS, REFERENCE, THIS
from netloom.mapping.allocation import place_program
from netloom.questions.base import MOST, MOST_DIMENSIONS, Numbers, Question, option, parse_sizes
from netloom.questions.columns import CYCLES, Column, Columns, asked
from netloom.questions.fields import (
    EdgeWeight,
    Network,
    Nodes,
    Program,
    ProgramFile,
    Seeded,
    refuse,
)
from netloom.questions.named import mapping_name, provenance_of, read_program
from netloom.questions.outputs import PLOT
from netloom.questions.predict.shared import SIZES, begun, find_torus, rounded
from netloom.questions.predict.shared import at as figure_of
from netloom.questions.register import asks, command_line, kind_of
from netloom.questions.shown import Verdict, order_named, percent, plain_table, short_name
from netloom.topology import Cube, average_distance
from netloom.workload import ProcessGraph
from netloom_papers.models import locality as model
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import altair as alt
    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.drawing.axes import Axis
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded
    from netloom.workload import ProcessGraph
    from netloom_papers.models.locality import Locality

PARTS = {
    "variable_message": "messages' hops",
    "fixed_message": "messages' flits",
    "fixed_transaction": "rest of transaction",
    "work": "useful work",
    "switch": "switching contexts",
}
"""Of the time between two transactions (Johnson 1992, eq. 18), from the network's to the
processor's, and what a person calls them."""

FIGURES = {
    "distance": ("mean distance", "hops"),
    "message_rate": ("messages", "messages/node/cycle"),
    "message_latency": ("message latency", CYCLES),
    "per_hop_latency": ("latency of a hop", CYCLES),
    "channel_utilisation": ("channels busy, share", ""),
    "busiest_channel_utilisation": ("the busiest, share", ""),
    "node_channel_wait": ("wait for a node's channels", CYCLES),
    "inter_transaction_cycles": ("between transactions", CYCLES),
    "inter_transaction_processor_cycles": ("between transactions", "processor cycles"),
    "transaction_latency": ("transaction latency", CYCLES),
}
"""Figures of ``Locality``: titles and units. Cycles are the network's."""

KEY = ("distance", "message_rate", "message_latency", "inter_transaction_cycles")

TRUST = (
    "on an 8 × 8 torus with buffered switches, simulated, message rates of a torus program are "
    "within 6 % (requests and replies) or 10 % (coherence traffic) of it, those of a LAMMPS run's "
    "matrix within 12 %; wormhole switches with few buffers are slower"
)
"""How far the model can be trusted, in a line. See ``models.locality``."""


class SizedMapping(NamedTuple):
    """A mapping on the torus of one size: its place and name, and what the model says."""

    answer: LocalityPrediction
    place: int
    mapping: str
    found: Locality

    @property
    def processor_use(self) -> float:
        """The share of its time in which a processor works."""
        return self.answer.work_cycles / float(self.found.inter_transaction_cycles[self.place])

    def beside(self, found: Locality) -> dict[str, Any]:
        """Return what the model says under another mapping, as plain data."""
        return UNDER_A_MAPPING.nested(self._replace(found=found))


NODES = Column("nodes", kind=int, value=lambda each: each.answer.nodes[each.place], key=True)

UNDER_A_MAPPING = Columns(
    *(Column(name, *told, figure_of(name), key=name in KEY) for name, told in FIGURES.items()),
    Column("processor_use", "processors at work, share", key=True),
    Column("latency_hidden", "processors hide latency", "", figure_of("masked"), bool),
    *(
        Column(
            f"{part}_cycles", title, CYCLES, figure_of(f"{part}_cycles"), json=f"breakdown.{part}"
        )
        for part, title in PARTS.items()
    ),
)

GAINS = (
    Column("gain", "gain of the ideal mapping", "", lambda each: each.answer.gain(each.place)),
    Column(
        "gain_of_mapping", "gain over a random mapping", key=True,
        value=lambda each: each.answer.gain(each.place, each.found),
    ),
)  # fmt: skip


Models = tuple[model.Application, model.TransactionCost, model.TorusNetwork]
Ready = tuple["MappedTorus", Models, model.MappedMessages, model.MappedMessages]
"""Tori, models of processors and network, and where messages go: as asked, and at random."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MappedTorus:
    """The tori of a question, and the program on them: None where no network or program was given.

    ``mapping`` is what a person calls the mapping that was asked about.
    """

    nodes: tuple[int, ...]
    dimensions: int
    topology: Cube | None
    graph: ProcessGraph | None
    mapping: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LocalityPrediction(Told, MappedTorus):
    """What ``predict_locality`` says, for one size or for several.

    The table has a row for each size and mapping. Cycles are the network's.

    Attributes
    ----------
    chosen, ideal, random
        What the model says under that mapping, where all messages go one hop, and under a random
        mapping: a value for each size.
    work_cycles
        T_r, network cycles.
    per_hop_limit
        What the latency of a hop tends to as distances grow (eq. 16).
    """

    columns: ClassVar = Columns(
        NODES, Column("mapping", kind=str, key=True), *UNDER_A_MAPPING, *GAINS
    )
    in_json: ClassVar = Columns(
        NODES,
        *UNDER_A_MAPPING,
        Column(
            "random_distance", unit="hops",
            value=lambda each: each.answer.random.distance[each.place],
        ),
        *GAINS,
        Column("ideal", kind=dict, value=lambda each: each.beside(each.answer.ideal)),
        Column("random", kind=dict, value=lambda each: each.beside(each.answer.random)),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("name", kind=str),
        Column("dimensions", kind=int),
        Column("topology", kind=str, value=lambda answer: answer.topology and answer.topology.name),
        Column("app", kind=str, value=lambda answer: answer.graph and answer.graph.name),
        Column("mapping", kind=str, value="label"),
        Column("contexts", value=asked("contexts")),
        Column("network_speed", value=asked("network_speed")),
        Column("per_hop_limit", unit=CYCLES),
        Column("trust", kind=str, value=lambda _: TRUST),
    )

    chosen: Locality
    ideal: Locality
    random: Locality
    work_cycles: float
    per_hop_limit: float
    provenance: Provenance

    @property
    def label(self) -> str:
        """The mapping that was asked about, told from the random ones that it is compared with."""
        own = self.mapping == "random" and self.graph is not None
        return f"random, seed {self.provenance.seed}" if own else self.mapping

    @property
    def mappings(self) -> dict[str, Locality]:
        """The mappings by name, each once: ``ideal``, ``random``, and any other."""
        return {"ideal": self.ideal, "random": self.random} | (
            {} if self.label == "random" else {self.label: self.chosen}
        )

    def gain(self, place: int, of: Locality | None = None) -> float:
        """Return how many times more transactions there are than under a random mapping.

        Parameters
        ----------
        of
            Under which mapping. The ideal one by default.
        """
        slow = self.random.inter_transaction_cycles[place]
        return float(slow / (of or self.ideal).inter_transaction_cycles[place])

    @property
    def observations(self) -> tuple[SizedMapping, ...]:
        """The mapping that was asked about, at each size."""
        return tuple(
            SizedMapping(self, place, self.label, self.chosen) for place in range(len(self.nodes))
        )

    @property
    def table_rows(self) -> Iterable[SizedMapping]:
        """Each size and mapping."""
        for place in range(len(self.nodes)):
            for name, found in self.mappings.items():
                yield SizedMapping(self, place, name, found)

    @property
    def name(self) -> str:
        """What a person calls the program and the torus."""
        sizes = ", ".join(f"{size:,}" for size in self.nodes[:4])
        sizes += f" … {self.nodes[-1]:,}" if len(self.nodes) > 4 else ""
        on = self.topology.name if self.topology else f"{self.dimensions}D torus of {sizes} nodes"
        return f"{self.graph.name} on {on}" if self.graph else on


SIZE, DIMENSIONS = 1000, 2
"""Where neither they nor a network are given: Johnson's largest but one."""

RANDOM_MAPPINGS = 10
"""Random mappings of a program that its own is compared with."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight")
"""Fields that say something of ``app`` only."""


class TorusSize(Question, panel="Torus"):
    """The torus."""

    nodes: Numbers | None = option(
        f"Nodes of the torus: {SIZES}.", default=None, kw_only=False, shown_default="1000"
    )
    dimensions: int | None = option(
        "Dimensions of the torus.", default=None, ge=1, le=MOST_DIMENSIONS, shown_default="2"
    )
    on: Network | None = option(
        "Torus instead of its size: torus:8x8, a topology or a machine.", default=None, file=True
    )
    node_channels: Literal[0, 1, 2] = option(
        "Channels between node and router with a queue: 0, 1 or 2.", default=0
    )


class TasksOfNodes(Question, panel="Program"):
    """How far messages go: a distance, or a program with a task on each node."""

    distance: float | None = option(
        "Mean distance of messages under the mapping, d.", unit="hops", default=None, gt=0, le=MOST,
        shown_default="those of a random mapping",
    )  # fmt: skip
    app: Program | None = option(
        "Process graph with one task per node, as for analyze.", default=None, file=True
    )
    mapping: Nodes = option(
        "Mapping: identity, random, a layout (gray, tiles, fold ...), "
        "distance:HOPS, a file, or the node of each task.",
        default="identity",
        file=True,
    )


class Processors(Question, panel="Processors and their transactions (by default Alewife's)"):
    """Processors that wait for the network."""

    contexts: float = option(
        "Hardware contexts, or outstanding transactions, per processor.",
        default=1, ge=1, le=MOST,
    )  # fmt: skip
    network_speed: float = option("Network clock / processor clock.", default=2, gt=0, le=MOST)
    run_processor_cycles: float | None = option(
        "Useful work between two transactions, T_r.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="8.055",
    )  # fmt: skip
    switch_processor_cycles: float | None = option(
        "Time of a context switch, T_s.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="11",
    )  # fmt: skip
    fixed_processor_cycles: float | None = option(
        "Fixed time per transaction, excluding messages, T_f.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="38.85 with one context",
    )  # fmt: skip
    transaction_messages: float | None = option(
        "Messages per transaction, g.", default=None, gt=0, le=MOST, shown_default="3.2"
    )
    critical_messages: float | None = option(
        "Messages on a transaction's critical path, c.",
        default=None, ge=0, le=MOST, shown_default="1.895 with one context",
    )  # fmt: skip
    message_flits: float | None = option(
        "Mean length of a message, B.", unit="flits",
        default=None, gt=0, le=MOST, shown_default="12",
    )  # fmt: skip


class LocalityQuestion(Seeded, Processors, EdgeWeight, ProgramFile, TasksOfNodes, TorusSize):
    """Processors that wait for a torus, and where their tasks run."""


def prepare(question: LocalityQuestion) -> Ready:
    """Build the torus, and map the program to it if there is one."""
    _check_places(question)
    topology, graph = None, None
    if question.on is None:
        dimensions = question.dimensions or DIMENSIONS
        sizes = parse_sizes(SIZE if question.nodes is None else question.nodes, "nodes")
        if sizes[0] < 2**dimensions:
            in_all = f"in {dimensions} dimension{'s' * (dimensions > 1)}"
            wanted = f"at least {2**dimensions:,}: two a side {in_all}"
            raise InputError("nodes", f"{sizes[0]}", wanted)
        far = model.random_distance(sizes, dimensions)
    else:
        topology = find_torus(question.on)
        sizes, dimensions = (topology.num_hosts,), len(topology.sides)
        far = np.array([average_distance(topology)])
    models = _models(question, dimensions)
    at_random = model.MappedMessages.even(far)
    chosen, name = at_random, "random"
    if question.app is not None:
        assert topology is not None  # checked
        graph, chosen, at_random = _mapped(question, topology)
        name = mapping_name(question.mapping)
    elif question.distance is not None:
        farthest = dimensions * sizes[0] ** (1 / dimensions) / 2
        if topology is not None:
            farthest = sum(side // 2 for side in topology.sides)
        if question.distance > farthest * (1 + 1e-9):
            wanted = (
                f"at most {farthest:.4g}, half-way round in each dimension of {sizes[0]:,} nodes"
            )
            raise InputError("distance", f"{question.distance:g}", wanted)
        chosen = model.MappedMessages.even(np.full(len(sizes), question.distance))
        name = f"of distance {question.distance:g}"
    on = MappedTorus(
        nodes=sizes, dimensions=dimensions, topology=topology, graph=graph, mapping=name
    )
    return on, models, chosen, at_random


@asks(
    LocalityQuestion,
    prepare=prepare,
    title="Model of locality",
    example="netloom predict locality --on torus:8x8 --app examples/lammps-64.mtx --contexts 4",
    page="is-locality-worth-it.md",
    outputs=(PLOT,),
)
def predict_locality(question: LocalityQuestion, ready: Ready) -> LocalityPrediction:
    """Predict how fast processors communicate over a torus, and what a better mapping gains.

    In Johnson's model (ISCA 1992), processors that wait longer also send less: see
    ``models.locality``.

    Examples
    --------
    >>> found = predict_locality(1000)
    >>> figures = found.to_dict()
    >>> round(figures["gain"], 2), round(figures["message_rate"], 4)
    (2.06, 0.0131)
    >>> predict_locality([1e3, 1e6]).table().filter(mapping="ideal")["gain"].round(1).to_list()
    [2.1, 41.2]
    """
    on, models, chosen, at_random = ready
    sizes = len(on.nodes)
    return LocalityPrediction(
        **vars(on),
        chosen=model.mean_locality(*models, chosen, sizes),
        ideal=model.mean_locality(*models, model.MappedMessages.even(np.ones(sizes)), sizes),
        random=model.mean_locality(*models, at_random, sizes),
        work_cycles=question.network_speed * float(models[0].run_processor_cycles),  # type: ignore[arg-type]
        per_hop_limit=float(model.per_hop_limit(*models)),
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
    refuse(question, OF_A_PROGRAM, "app, which this says something of")


def _models(question: LocalityQuestion, dimensions: int) -> Models:
    """Return Alewife's models, with what the question says otherwise."""
    own = question.critical_messages is not None and question.fixed_processor_cycles is not None
    if question.contexts > 4 and not own:
        wanted = "at most the 4 of Alewife's processor, or critical_messages and "
        wanted += "fixed_processor_cycles of another"
        raise InputError("contexts", f"{question.contexts:g}", wanted)
    application, transaction, _ = model.alewife(min(question.contexts, 4))

    def with_said(part: Any, changes: dict[str, float | None]) -> Any:
        return replace(
            part, **{name: value for name, value in changes.items() if value is not None}
        )

    application_changes = {
        "contexts": question.contexts,
        "run_processor_cycles": question.run_processor_cycles,
        "switch_processor_cycles": question.switch_processor_cycles,
    }
    transaction_changes = {
        "messages": question.transaction_messages,
        "critical_messages": question.critical_messages,
        "message_flits": question.message_flits,
        "fixed_processor_cycles": question.fixed_processor_cycles,
    }
    application = with_said(application, application_changes)
    transaction = with_said(transaction, transaction_changes)
    critical, every = float(transaction.critical_messages), float(transaction.messages)
    if critical > every:
        found = f"{critical:.4g} of the {counted(every, 'message', '.4g')} of a transaction"
        raise InputError("critical_messages", found, "at most transaction_messages")
    network = model.TorusNetwork(dimensions, question.network_speed, question.node_channels)
    return application, transaction, network


def _mapped(
    question: LocalityQuestion, topology: Cube
) -> tuple[ProcessGraph, model.MappedMessages, model.MappedMessages]:
    """Return the program, and where its messages go: under its mapping, and under random ones."""
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

    def mapped(mapping: Any, seed: int) -> model.MappedMessages:
        node_of = place_program(mapping, graph, topology, seed=seed, tasks_per_node=1)
        ends = node_of[graph.source], node_of[graph.target]
        return model.MappedMessages.of_mapping(topology, *ends, share)

    others = [mapped("random", question.seed + 1 + each) for each in range(RANDOM_MAPPINGS)]
    own = mapped(question.mapping, question.seed)
    return graph, own, model.MappedMessages.of_several(others)


WORTHLESS = 0.02
"""Gain up to which nothing is left to look for."""

SAME = 0.01
"""Difference from a random mapping that is none: random ones differ as much."""

LARGE = 2.0
"""Times as fast from which a gain is said as a factor, and not in per cent."""

NOTE = (
    "Model: rates of messages were within 6\u00a0% (a torus program) to 12\u00a0% (a LAMMPS run) "
    "of simulations on an 8 × 8 torus with buffered switches. Wormhole switches with few buffers "
    "are slower."
)


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one size, or several, come to."""
    points = figures.get("points", [figures])
    asked, name = figures["provenance"]["configuration"], figures["mapping"]
    of = f"{figures['dimensions']}D torus"
    if figures["topology"]:
        program = f"{short_name(figures['app'])} on " if figures["app"] else ""
        of = f"{program}{short_name(figures['topology'])}"
    first, last = points[0], points[-1]
    if len(points) > 1:
        said = (
            f"Placement gains at most {_times(first['gain'])} on {_nodes(first)}, "
            f"{_times(last['gain'])} on {_nodes(last)}."
        )
        mark = "limited" if last["gain"] > 1 + WORTHLESS else "fine"
        return Verdict(mark, said, of, _lines(last, name), note=NOTE)
    mark, said = _of_random(first) if name == "random" else _of_mapping(first, name)
    then = ""
    if mark != "fine" and figures["app"]:
        shared = {field: asked[field] for field in ("app", "on", "messages", "parts")}
        more = {"objective": "hop-bytes", "rankfile": "ranks.txt"}
        then = command_line(kind_of("map"), shared, **more)
    return Verdict(mark, said, of, _lines(first, name), then, NOTE)


def _of_random(point: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mark and the sentence where no mapping is given."""
    if point["gain"] <= 1 + WORTHLESS:
        gain = rounded(point["gain"] - 1)
        return "fine", f"Placement does not matter on {_nodes(point)}: it gains at most {gain}."
    best, far = point["ideal"]["distance"], point["random"]["distance"]
    return "limited", (
        f"Placement gains at most {_times(point['gain'])} on {_nodes(point)}: "
        f"{counted(number(best), 'hop')} per message, not {number(far)}."
    )


def _of_mapping(point: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return the mark of a mapping, and what it comes to."""
    mine, own, best = whose(name), point["gain_of_mapping"], point["gain"]
    left = best / own - 1
    if left <= WORTHLESS:
        beside = f"{number(own)}× as fast as" if own >= LARGE else f"{rounded(own - 1)} faster than"
        return "fine", f"{mine} is as good as a perfect mapping: {beside} a random one."
    adds = f"a perfect one adds {_times(1 + left)}"
    if own < 1 - SAME:
        return "act", f"{mine} is {rounded(1 / own - 1)} slower than a random mapping; {adds}."
    if own < 1 + SAME:
        others = "others" if name.startswith("random") else "a random mapping"
        return "act", f"{mine} gains nothing over {others}; {adds}."
    if best < LARGE:
        had = rounded(own - 1).partition("\u00a0")[0]
        return "limited", (
            f"{mine} already has {had} of the {rounded(best - 1)} that placement can give; {adds}."
        )
    return "limited", f"{mine} gains {_times(own)} of the {_times(best)} that placement can give."


def whose(name: str) -> str:
    """Return a mapping as the subject of a sentence."""
    if name.startswith("of distance "):
        return f"A mapping {name}"
    if name.startswith("random, "):
        return f"A random mapping ({name.removeprefix('random, ')})"
    return begun(order_named(name))


def _lines(point: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return why: how far messages go, and how busy that keeps the network."""
    far = point["random"]
    if name == "random":
        hops = f"{number(far['distance'])} hops per message at random"
    else:
        own = counted(number(point["distance"]), "hop")
        hops = f"{own} per message, {number(far['distance'])} at random"
    return {
        "why": f"{hops}; processors work {percent(point['processor_use'])} of the time, at most "
        f"{percent(point['ideal']['processor_use'])}"
    }


def _nodes(point: Mapping[str, Any]) -> str:
    return f"{number(point['nodes'])} nodes"


def _times(gain: float) -> str:
    """Return a gain: a factor, or in per cent where it is small."""
    return f"{number(gain)}×" if gain >= LARGE else rounded(gain - 1)


def lines(result: LocalityPrediction) -> list[Any]:
    """Return what mappings are worth to the processors."""

    def called(name: str) -> str:
        return "rank order" if name == "identity" else name

    data = result.to_dict()
    contexts = counted(number(data["contexts"]), "context")
    notes = [
        f"[dim]Cycles of the network, whose clock is {number(data['network_speed'])} times the "
        f"processors'; {contexts} per processor. A hop takes at most "
        f"{counted(number(data['per_hop_limit']), 'cycle')}.[/]"
    ]
    if "points" in data:
        columns = {
            "nodes": "nodes", "hops": "distance", "messages\nper cycle": "message_rate",
            "latency\n(cycles)": "message_latency", "of a hop\n(cycles)": "per_hop_latency",
            "transaction\nevery (cycles)": "inter_transaction_cycles",
        }  # fmt: skip
        own = result.label != "random"
        more = [f"gain, {called(result.label)}\n(times)"] if own else []
        table = plain_table((*columns, "channels\nbusy", "gain, ideal\n(times)", *more))
        for point in data["points"]:
            cells = [number(point[name]) for name in columns.values() if name != "nodes"]
            cells += [percent(point["channel_utilisation"]), number(point["gain"])]
            table.add_row(f"{point['nodes']:,}", *cells, *[number(point["gain_of_mapping"])] * own)
        return [table, *notes]
    names = list(result.mappings)
    by_name = {"ideal": data["ideal"], "random": data["random"]}
    found = [by_name.get(name, data) for name in names]
    table = plain_table(("", *(called(name) for name in names)))
    rows = {
        "mean distance, hops": "distance",
        "messages per node and cycle": "message_rate",
        "message latency, cycles": "message_latency",
        "  of a hop": "per_hop_latency",
        "cycles between transactions": "inter_transaction_cycles",
    }
    for label, name in rows.items():
        table.add_row(label, *(number(each[name]) for each in found))
    for part, label in PARTS.items():
        if any(each["breakdown"][part] for each in found):
            table.add_row(f"  {label}", *(number(each["breakdown"][part]) for each in found))
    every = "inter_transaction_processor_cycles"
    table.add_row("  in processor cycles", *(number(each[every]) for each in found))
    for label, name in (
        ("channels busy", "channel_utilisation"),
        ("  the busiest", "busiest_channel_utilisation"),
        ("processors at work", "processor_use"),
    ):
        table.add_row(label, *(percent(each[name]) for each in found))
    hidden = [name for name, each in zip(names, found, strict=True) if each["latency_hidden"]]
    if hidden:
        notes.append(f"• Processors hide all latency: {', '.join(map(called, hidden))}")
    return [table, *notes]


def footer(record: Recorded) -> list[str]:
    """Return what was asked about."""
    found = record.figures
    return [
        f"{found['name']}; {counted(number(found['contexts']), 'context')} per processor; network "
        f"clock {number(found['network_speed'])} times the processors'; ideal: all messages go one "
        "hop"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return what locality is worth: the time between transactions, or the gain by size.

    Johnson 1992, figures 8 and 6: also the latency of a hop by size, and its limit.
    """
    import polars as pl

    from netloom.drawing.axes import AFTER, DASHES, Look, looks_of
    from netloom.drawing.bars import Bar, stacked
    from netloom.drawing.frame import column
    from netloom.questions.predict.drawn import lines_by, nodes_axis, ratio_axis

    table = record.tables["table"]
    if not record.several:
        colours = [THIS, BEST, *OTHERS, REFERENCE]
        whole = float(table["inter_transaction_cycles"].max() or 1.0)  # type: ignore[arg-type]
        drawn = []
        for row in table.iter_rows(named=True):
            times = {name: row[f"{part}_cycles"] for part, name in PARTS.items()}
            rows = [
                Bar(name, time, number(time), colours[at % len(colours)])
                for at, (name, time) in enumerate(times.items())
            ]
            who = {"ideal": "An ideal mapping", "random": "Random mappings"}.get(row["mapping"])
            every = number(row["inter_transaction_cycles"])
            said = f"{who or whose(row['mapping'])}: a transaction every {every} cycles"
            unit = "cycles of the network between transactions"
            drawn.append(stacked(rows, said, unit, width=560, whole=whole))
        return {"time": column(*drawn)}

    known = {"ideal": AFTER, "random": Look(REFERENCE, (6, 4))}
    others = looks_of(
        name for name in table["mapping"].unique(maintain_order=True) if name not in known
    )
    for at, (name, look) in enumerate(others.items()):
        known[name] = look._replace(dash=DASHES[(at + 2) % len(DASHES)])

    def by_size(
        rows: pl.DataFrame, y: Axis, said: str, *bound: tuple[str, float]
    ) -> alt.LayerChart:
        looks = {name: known[name] for name in rows["mapping"].unique(maintain_order=True)}
        return lines_by(rows, nodes_axis(rows), y, "mapping", looks, said, *bound)

    mapped = table.filter(pl.col("mapping") != "random")
    gains = [1.0, *mapped["gain_of_mapping"].to_list()]
    last = mapped.filter(mapping="ideal").sort("nodes").row(-1, named=True)
    said = f"An ideal mapping gains {number(last['gain_of_mapping'])} times at "
    said += counted(last["nodes"], "node", ",")
    gain = by_size(
        mapped, ratio_axis("gain_of_mapping", "gain over random mappings (times)", gains), said
    )
    limit = record.figures["per_hop_limit"]
    waits = [*table["per_hop_latency"].to_list(), limit]
    hop = axis("per_hop_latency", "latency of a hop (cycles of the network)", waits, whole=False)
    most = table.filter(mapping="random")["per_hop_latency"].max()
    said = f"A hop under random mappings takes up to {number(most)} cycles"
    return {
        "gain": gain,
        "latency of a hop": by_size(table, hop, said, (f"limit {number(limit)}", limit)),
    }
