"""The files that answers can be written to, each declared once: its option, checks and writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from netloom.drawing.save import check_picture, check_table, check_writable, save_chart, save_table
from netloom.errors import InputError

Writer: TypeAlias = Callable[[Any, Path, Mapping[str, str]], str]
"""Writes an answer to a file with some settings, and returns the line that says so."""

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
        question, that, and the settings.
    settings
        What else says how it is written.
    asks
        A field of the question that is true where the file is asked for; or "".
    """

    name: str
    said: str
    write: Writer
    check: Callable[[Path], object] = check_writable
    refuse: Callable[[Any, Any, Mapping[str, str]], None] | None = None
    settings: tuple[Setting, ...] = ()
    asks: str = ""


def _write_picture(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    from netloom.questions.recorded import chart_of

    return f"Picture: {save_chart(chart_of(answer), path)}"


PLOT = Output("plot", f"Picture: {PICTURES}.", _write_picture, check_picture)


def table_output(name: str, said: str, method: str) -> Output:
    """Return the output of one of an answer's tables."""

    def write(answer: Any, path: Path, _: Mapping[str, str]) -> str:
        title = name.removeprefix("save_").capitalize()
        return f"{title}: {save_table(getattr(answer, method)(), path)}"

    return Output(name, said, write, check_table)


def check_in_folder(path: Path) -> None:
    """Refuse a file that cannot be written, or whose folder is not there."""
    check_writable(path)
    if not path.absolute().parent.is_dir():
        raise InputError(str(path), "a folder that is not there", "a file in one that is")


def _write_mapping(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    from netloom.mapping import write_mapping

    write_mapping(path, answer.node_of, answer.topology.name)
    return f"Mapping: {path}"


def _host_names(hosts: Any) -> list[str] | None:
    from netloom.mapping import read_hosts

    return None if hosts is None else list(read_hosts(str(hosts)))


def _write_ranks(answer: Any, path: Path, settings: Mapping[str, str]) -> str:
    import numpy as np

    from netloom.mapping import how_to_apply, write_rank_file

    form = settings["rankfile_format"]
    hosts = answer.provenance.configuration["hosts"]
    names = answer.topology.node_labels or None if hosts is None else _host_names(hosts)
    write_rank_file(path, answer.node_of, form, names, getattr(answer, "nodes", None))
    busiest = int(np.bincount(answer.node_of).max())
    return f"Run it: {how_to_apply(form, path, answer.graph.num_tasks, busiest)}"


def _refuse_ranks(question: Any, ready: Any, settings: Mapping[str, str]) -> None:
    """Refuse a rank file of an unknown form, or one that no mapping of this program has."""
    from netloom.mapping import FORMATS, check_rank_file, rank_file

    form = settings["rankfile_format"]
    if form not in FORMATS:
        raise InputError("rankfile_format", f"'{form}'", f"one of {', '.join(FORMATS)}")
    if not hasattr(ready, "nodes"):  # the mapping is given: it fits, or there is none
        return
    names = _host_names(question.hosts) or ready.network.node_labels or None
    if ready.layout is not None:
        rank_file(ready.layout.node_of, form, names, ready.nodes)
    else:
        per_node = question.tasks_per_node
        check_rank_file(form, ready.graph.num_tasks, ready.nodes, per_node, names)


SAVE_MAPPING = Output(
    "save_mapping", "The mapping, .json or text.", _write_mapping, check_in_folder
)

RANK_FILE = Output(
    "rankfile",
    "Rank file that applies the mapping.",
    _write_ranks,
    check_in_folder,
    _refuse_ranks,
    (
        Setting(
            "rankfile_format",
            "openmpi-rankfile",
            "openmpi-rankfile, openmpi-seq, mpich, slurm or cray.",
        ),
    ),
)
