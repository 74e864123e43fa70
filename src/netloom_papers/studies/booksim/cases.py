"""The configurations of a table of BookSim 2's runs, as networks that netloom can run."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import real_number, whole_number
from netloom.base.textfiles import file_kind
from netloom.routing import virtual_channel_routing
from netloom.routing.by_hop.circles import hop_circle
from netloom.simulation.network.routers import router
from netloom.simulation.network.run import Run
from netloom.workload import parse_arrivals, parse_lengths
from netloom_papers.studies.booksim import direct
from netloom_papers.studies.booksim.networks import KINDS, Shape, network
from netloom_papers.studies.booksim.routings import ROUTINGS, routing_of
from netloom_papers.studies.booksim.runs import AT_50, AT_80, SATURATION, Asked, Window
from netloom_papers.studies.booksim.traffic import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology
    from netloom.workload import Traffic

NETWORK_FILES = Path(str(files("netloom_papers.studies").joinpath("data", "anynet")))
"""Where the network files of the recorded configurations are."""

FAMILIES = {
    "fast": "three-stage", "default": "canonical-4-stage", "spec": "speculative-2-stage"
}  # fmt: skip
"""The router preset of each of the reference's router families."""

NEEDED = (
    "family", "topology", "k", "n", "routing", "traffic", "num_vcs", "packet_size", "router_cycles",
)  # fmt: skip
"""Columns of every table, besides those of what was measured. Meshes and tori have ``link_cycles``
as well."""

IDLE_WINDOW, WINDOW = Window(8_000, 24_000), Window(4_000, 6_000)
"""Windows of tables that do not say their ``sample_period``. The reference's accepted traffic times
its nodes and cycles must be a whole number of flits. That, and how long its runs took, gives
them."""

CROSSED = "zero_load_routers_traversed"
"""The column of the mean routers that packets crossed at next to no load."""

WARM_UP, MEASURED, IDLE_TIMES = 3, 7, 3
"""Sample periods left out and measured, and how many times as long they are at next to no load,
in tables that say ``sample_period``."""

PAST_SATURATION, PAST_PATIENCE = (1.1, 1.25), (1.035,)
"""Times the saturation load at which to look for the highest accepted traffic as well. The
reference's runs went up to 1.05 to 1.4 times. If it gave up runs, its last complete run was at 1.01
to 1.08 times, on average 1.036."""

LEAST_PATIENCE, PATIENCE = 200.0, 5.0
"""Mean latency at which the reference gives up a run: in cycles, and times that of an idle
network."""


class Effort(NamedTuple):
    """How the reference ran a configuration.

    Attributes
    ----------
    idle, window
        Windows at next to no load, and at any other.
    past
        Times the saturation load at which to look for the highest accepted traffic as well.
    gives_up
        Whether runs whose latency is above a limit are left out there.
    """

    idle: Window = IDLE_WINDOW
    window: Window = WINDOW
    past: tuple[float, ...] = PAST_SATURATION
    gives_up: bool = False


class Setting(NamedTuple):
    """What a line says of the network, its routing and its traffic.

    ``routing`` is None where netloom refuses it. ``said`` is what else is told of it.
    """

    function: str
    network: Topology
    traffic: Traffic
    routing: VirtualChannelRouting | None
    difference: str
    said: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """One configuration: what the reference measured, and the network to measure it on.

    Attributes
    ----------
    name
        The configuration in words.
    measured
        The reference's numbers, by item.
    network, router, traffic, flits
        The configuration.
    routing
        None where netloom refuses it.
    difference
        What is known to differ in kind. Empty in most.
    effort
        Windows of its runs, and how the highest accepted traffic was found.
    routers_crossed
        Of the reference's packets at next to no load, in the mean. None where its table does not
        say so.
    asked
        In tables of runs: the load and window of each item. Empty in others.
    """

    name: str
    measured: Mapping[str, float]
    network: Topology
    router: Router
    traffic: Traffic
    flits: int
    routing: VirtualChannelRouting | None
    difference: str
    effort: Effort
    routers_crossed: float | None = None
    asked: Mapping[str, Asked] = field(default_factory=dict)

    def run(self, load: float, seed: int) -> Run:
        """Return a run that has not begun."""
        assert self.routing is not None
        return Run(
            self.network, self.routing, self.router, self.traffic, load,
            lengths=parse_lengths(str(self.flits)), arrivals=parse_arrivals("bernoulli"), seed=seed,
        )  # fmt: skip

    def patience(self, idle: float) -> float:
        """Return the mean latency above which the reference does not count a run."""
        return max(LEAST_PATIENCE, PATIENCE * idle) if self.effort.gives_up else inf


class _Line:
    """One line of a table, and where it is from."""

    def __init__(self, values: Mapping[str, str], where: str, folder: Path | None) -> None:
        self.values, self.where, self.folder = values, where, folder

    def whole(self, field: str, default: int | None = None, *, least: int = 1) -> int:
        """Return a whole number. The default where the column is missing or blank."""
        if default is not None and not self.values.get(field):
            return default
        if field not in self.values:
            raise self.wrong(field, "no such column", "one, for this topology")
        return whole_number(self.values[field], where=f"{self.where}, {field}", least=least)

    def wrong(self, field: str, found: str, wanted: str) -> InputError:
        """Return the mistake in a field."""
        return InputError(f"{self.where}, {field}", found, wanted)

    def one_of(self, field: str, names: Iterable[str], key: str | None = None) -> str:
        """Return a word, or what it is the ``key`` of, which must be one of some."""
        known, word = sorted(names), self.values[field] if key is None else key
        if word not in known:
            raise self.wrong(field, f"'{self.values[field]}'", f"one of {', '.join(known)}")
        return word

    def file(self) -> str:
        """Return the path of the ``network_file``. One that is recorded, where none is found."""
        said = self.values.get("network_file", "")
        places = [NETWORK_FILES / Path(said).name]
        if self.folder is not None:
            beside = (self.folder, self.folder.parent / "data" / "fabrics" / "anynet")
            places = [*(place / said for place in beside), *places]
        for path in map(str, places):
            if said and file_kind(path) == "a file":
                return path
        shown = " or in ".join(str(place.parent) for place in places)
        raise self.wrong("network_file", f"'{said}'", f"a file in {shown}")


def case_of(
    values: Mapping[str, str],
    columns: Mapping[str, str],
    where: str,
    folder: Path | None = None,
) -> Case:
    """Return the configuration of one line of a table.

    Parameters
    ----------
    values
        What it says, by column.
    columns
        The column of each item that was measured. What is blank there was not.
    where
        What messages call the line.
    folder
        Where the table is. Its network files are looked for there.
    """
    line = _Line(values, where, folder)
    kind = line.one_of("topology", ["mesh", "torus", *KINDS])
    vcs, flits = line.whole("num_vcs"), line.whole("packet_size")
    model = router(
        FAMILIES[line.one_of("family", FAMILIES)],
        vcs=vcs,
        buffer_flits=line.whole("vc_buf_size", 8),
        channel_cycles=1 if kind in KINDS else line.whole("link_cycles"),
    )
    if line.whole("router_cycles") != model.router_cycles:
        found, wanted = f"'{values['router_cycles']}'", f"{model.router_cycles} of this family"
        raise line.wrong("router_cycles", found, wanted)
    setting = _hosted(line, kind, vcs) if kind in KINDS else _direct(line, kind, vcs)
    links = "" if model.channel_cycles == 1 else f", links of {model.channel_cycles} cycles"
    name = (
        f"{setting.function} {values['traffic']} on {setting.network.name}, {values['family']}, "
        f"{vcs} VCs of {model.buffer_flits}, {flits} flits{links}{setting.said}"
    )
    return Case(
        name, _measured(line, columns), setting.network, model, setting.traffic, flits,
        setting.routing, setting.difference, _effort(line), _positive(line, CROSSED),
    )  # fmt: skip


def _measured(line: _Line, columns: Mapping[str, str]) -> dict[str, float]:
    said = {item: _positive(line, column) for item, column in columns.items()}
    measured = {item: value for item, value in said.items() if value is not None}
    if SATURATION not in measured:
        return {item: measured[item] for item in measured if item not in (AT_50, AT_80)}
    return measured


def _positive(line: _Line, column: str) -> float | None:
    """Return a number above 0. None where the column is missing or blank."""
    if not line.values.get(column):
        return None
    number = real_number(line.values[column], where=f"{line.where}, {column}")
    if number <= 0:
        raise line.wrong(column, f"'{line.values[column]}'", "a number above 0")
    return number


def _effort(line: _Line) -> Effort:
    period = line.whole("sample_period", 0)
    if not period:
        return Effort()
    start, cycles = WARM_UP * period, MEASURED * period
    idle = Window(IDLE_TIMES * start, IDLE_TIMES * cycles)
    return Effort(idle, Window(start, cycles), PAST_PATIENCE, gives_up=True)


def _direct(line: _Line, kind: str, vcs: int) -> Setting:
    """Read a mesh or a torus."""
    function = line.values["routing"].removesuffix(f"_{kind}")
    known = [name for of, name in direct.ROUTINGS if of == kind]
    routing = direct.ROUTINGS[kind, line.one_of("routing", known, function)]
    traffic = line.one_of("traffic", direct.TRAFFICS)
    made = direct.cube(kind, line.values["k"], line.whole("n"))
    sent = direct.traffic_of(traffic, made, line.where)
    try:
        virtual = virtual_channel_routing(made, routing, num_vcs=vcs)
    except InputError as error:
        return Setting(function, made, sent, None, f"netloom refuses it: {error}")
    return Setting(function, made, sent, virtual, direct.difference(kind, function, vcs))


def _hosted(line: _Line, kind: str, vcs: int) -> Setting:
    """Read a network whose hosts are not routers."""
    shape = Shape(
        kind, line.whole("k"), line.whole("n"), line.whole("c", 1), line.whole("x", 8),
        line.whole("xr", 1), by_length=line.whole("use_noc_latency", 1, least=0) != 0,
        file=line.file() if kind == "anynet" else "",
    )  # fmt: skip
    function = line.values["routing"].removesuffix(f"_{kind}")
    line.one_of("routing", ROUTINGS[kind], function)
    try:
        made = network(shape)
        sent = pattern(line.values["traffic"], shape, made.num_hosts)
    except InputError as error:
        raise InputError(f"{line.where}, {error.where}", error.found, error.wanted) from None
    try:
        virtual, difference = routing_of(shape, made, function, vcs)
    except InputError as error:
        return Setting(function, made, sent, None, f"netloom refuses it: {error}")
    return Setting(function, made, sent, virtual, difference, _circle(made, virtual))


def _circle(made: Topology, routing: VirtualChannelRouting) -> str:
    """Say so where packets can deadlock: such routings are run unchecked, as in the reference."""
    try:
        return ", with VCs in a circle" if hop_circle(made, routing.tables) else ""
    except InputError:
        return ", not checked for circles"
