"""The files that answers can be written to, each declared once: its option, checks and writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import plain
from netloom.base.textfiles import write_text
from netloom.base.words import counted
from netloom.drawing.save import check_picture, check_table, check_writable, save_chart, save_table
from netloom.drawing.timelines import Timeline, check_timeline, write_timeline
from netloom.mapping import FORMATS, how_to_apply, rank_file, read_hosts, write_mapping
from netloom.mapping.allocation import computer_names
from netloom.mapping.placements import ranks_on_computers
from netloom.topology import Topology

Writer: TypeAlias = Callable[..., str]
"""Writes an answer to a file, by the output's settings, and returns the line that says so."""

Refuse: TypeAlias = Callable[..., object]
"""Raises InputError if what the question has made ready cannot be written so: see ``Output``."""

PICTURES = ".png, .svg, .pdf or .html"


@dataclass(frozen=True)
class Setting:
    """A choice that says how a file is written: its name, its default, and what it is."""

    name: str
    default: str
    said: str


@dataclass(frozen=True)
class Output:
    """A file that an answer can be written to.

    Attributes
    ----------
    name
        The option that names the file.
    said
        What is in it.
    write
        Writes it.
    check
        Raises InputError before any work is done if such a file cannot be written.
    refuse
        Raises InputError if what the question has made ready cannot be written so: given the
        question, that, and the settings by their names.
    settings
        What else says how it is written.
    asks
        A field of the question that is true where the file is asked for, or "".
    """

    name: str
    said: str
    write: Writer
    check: Callable[[Path], object] = check_writable
    refuse: Refuse | None = None
    settings: tuple[Setting, ...] = ()
    asks: str = ""


def picture_output(
    name: str, said: str, draw: Callable[[Any], Any], title: str = "Picture"
) -> Output:
    """Return the output of a picture that ``draw`` makes of an answer."""

    def write(answer: Any, path: Path) -> str:
        return f"{title}: {save_chart(draw(answer), path)}"

    return Output(name, f"{said}: {PICTURES}.", write, check_picture)


PLOT = picture_output("plot", "Picture", methodcaller("picture"))


def table_output(name: str, said: str, method: str) -> Output:
    """Return the output of one of an answer's tables."""

    def write(answer: Any, path: Path) -> str:
        title = name.removeprefix("save_").capitalize()
        return f"{title}: {save_table(getattr(answer, method)(), path)}"

    return Output(name, said, write, check_table)


def check_in_folder(path: Path) -> None:
    """Refuse a file that cannot be written, or whose folder is not there."""
    check_writable(path)
    if not path.absolute().parent.is_dir():
        raise InputError(str(path), "a folder that is not there", "a file in one that is")


CRAY = FORMATS[-1]
"""The format that names no hosts."""

FROM_FILES = ("graph:", "fabric:")
"""Networks whose hosts have the names of a file."""


def _write_mapping(answer: Any, path: Path) -> str:
    applied = _applied(answer)
    write_mapping(path, applied, answer.network.name)
    return f"Mapping: {path}" + ", in rank order" * (applied is not answer.node_of)


def _applied(answer: Any) -> Ints:
    """Return the host of each task that files get: rank order if a search gains nothing."""
    applied: Ints = getattr(answer, "applied", answer.node_of)
    return applied


SAVE_MAPPING = Output(
    "save_mapping", "The mapping, .json or text.", _write_mapping, check_in_folder
)


def rank_file_output(
    refuse: Callable[[Any, str, Sequence[str] | None], None] | None = None,
    nodes_of: Callable[[Any], Ints | None] = lambda _: None,
    gains: Callable[[Any], bool] = lambda _: True,
) -> Output:
    """Return the output of the rank file that applies an answer's mapping.

    Parameters
    ----------
    refuse
        Raises InputError before the search if no rank file of a form could express the mapping. Its
        arguments are what the question has prepared, the form, and host names if there are any.
    nodes_of
        Returns the allocated hosts of an answer, where not all are.
    gains
        Whether an answer's mapping is to be applied. Else files hold rank order.
    """

    def check(question: Any, ready: Any, rankfile_format: str) -> None:
        form = rankfile_format
        if form not in FORMATS:
            raise InputError("rankfile_format", f"'{form}'", f"one of {', '.join(FORMATS)}")
        if refuse:
            refuse(ready, form, _host_names(question.hosts, ready.network))

    def write(answer: Any, path: Path, rankfile_format: str) -> str:
        form = rankfile_format
        topology, allocated = answer.network, nodes_of(answer)
        names = _host_names(answer.provenance.configuration["hosts"], topology)
        computers, slots = ranks_on_computers(_applied(answer), topology)
        if allocated is not None:
            allocated = np.unique(topology.node_of_host[allocated])
        write_text(path, rank_file(computers, form, names, allocated, slots))
        if gains(answer):
            busiest = int(np.bincount(computers).max())
            said = f"Run it: {how_to_apply(form, path, answer.graph.num_tasks, busiest)}"
        else:
            said = f"Rank file: {path}, in rank order (nothing is gained)"
        own = "" if form == CRAY else _numbered(answer, names)
        return said + (f"\n{path} {own}" if own else "")

    form = Setting("rankfile_format", FORMATS[0], f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    said = "Rank file that applies the mapping."
    return Output("rankfile", said, write, check_in_folder, check, (form,))


def _host_names(hosts: str | PathLike[str] | None, network: Topology) -> Sequence[str] | None:
    """Return the names of computers in a file, or else the network's own. None if it has none."""
    return read_hosts(str(hosts)) if hosts is not None else computer_names(network)


def _numbered(answer: Any, names: Sequence[str] | None) -> str:
    """Return what to say of names that netloom gave the hosts, "" if they have their own."""
    given = answer.provenance.configuration["hosts"] is not None
    if given or answer.network.name.startswith(FROM_FILES):
        return ""
    letter = "n" if names is None else names[0][:1]
    if names is not None and list(names) != [f"{letter}{at}" for at in range(len(names))]:
        return ""
    said = f"has the host names {letter}0, {letter}1 … Add --hosts FILE for yours: line n names "
    return f"{said}the host of node n, from 0 on."


def save_timeline(timeline: Timeline, path: Path, **about: Any) -> str:
    """Write a timeline, with what else there is to say, and return the line that says so."""
    write_timeline(path, replace(timeline, about=plain({**timeline.about, **about})))
    shown, messages = len(timeline.arrows.begin), timeline.about["messages"]
    many = counted(messages, "message", ",")
    said = many if shown == messages else f"{shown:,} of {many}"
    return f"Timeline: {path}, {said}; open it in ui.perfetto.dev"


def perfetto_output(refuse: Refuse | None = None, asks: str = "") -> Output:
    """Return the output of an answer's ``timeline``. Parameters as in ``Output``."""

    def write(answer: Any, path: Path) -> str:
        return save_timeline(answer.timeline(), path, provenance=answer.provenance.to_dict())

    said = "Timeline for Perfetto, .json or .json.gz."
    return Output("perfetto", said, write, check_timeline, refuse, asks=asks)


PERFETTO = perfetto_output()
