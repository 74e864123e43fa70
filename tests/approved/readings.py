"""What readers make of words and files: mostly the line that refuses them, else a name.

``readings.txt`` has sections: ``## READER`` or ``## READER NETWORK``, as ``READERS`` has them. An
entry is what is read, and below it what is said. ``> WORD`` is a name. ``| LINE`` are the lines of
a file, ``- OLD`` and ``+ NEW`` one change of the section's file, which stands after ``=``, or is
named after ``@`` (``\\n`` is the end of a line there). ``python -m tests.approved.readings`` shows
what changed, with ``--accept`` it keeps that. Write a new entry without its last line by hand.
"""

import sys
import tempfile
import warnings
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from netloom.base.errors import InputError, NoRouteError
from netloom.mapping import read_hosts, read_mapping
from netloom.mapping.allocation import allocated_hosts
from netloom.routing import parse_routing, read_routes, virtual_channel_routing
from netloom.routing.forwarding.lfts import read_lfts
from netloom.topology import read_graph, topology, without
from netloom.topology.graph import bandwidth_of, clock_of, latency_of
from netloom.topology.names import unfolded, words_of
from netloom.topology.parse import spec_in_words
from netloom.topology.subnets.documents import read_document
from netloom.topology.subnets.files import read_fabric
from netloom.topology.subnets.shapes import shape_of
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic, read
from netloom.workload.programs.collectives.algorithms import collective_program
from netloom.workload.programs.collectives.msccl import executed, parse_msccl
from netloom.workload.programs.shared import parse_nodes
from netloom.workload.programs.trace_files import read_goal, read_trace
from netloom.workload.programs.training.llm import parse_llm
from tests.approved.asked import HERE, ROOT

KEPT = HERE / "readings.txt"


def _collective(word):
    """Make a program of words: COLLECTIVE ALGORITHM RANKS, and perhaps NAME=NUMBER."""
    collective, algorithm, ranks, *more = word.split()
    options = {}
    for name, _, value in (each.partition("=") for each in more):
        options[name] = tuple(map(int, value.split("x"))) if name == "torus" else int(value)
    return collective_program(collective, algorithm, int(ranks), **options)


READERS = {
    "program of 8 tasks": lambda word: read(word, tasks=8, seed=3).name,
    "program": read,
    "network": topology,
    "names": lambda text: ", ".join(name for word in words_of(text) for name in unfolded(word)),
    "nodes": parse_nodes,
    "hosts on": lambda word, on: allocated_hosts(word, topology(on)),
    "packet lengths": parse_lengths,
    "arrivals": parse_arrivals,
    "traffic on": lambda word, on: parse_traffic(word, topology(on)).name,
    "traffic among": lambda word, on, count: parse_traffic(word, topology(on), range(int(count))),
    "training step": parse_llm,
    "collective": _collective,
    "shape of": lambda word: shape_of(topology(word)).words,
    "sides of": spec_in_words,
    "bandwidth": lambda word: str(bandwidth_of(word)),
    "latency": lambda word: str(latency_of(word)),
    "clock": lambda word: str(clock_of(word)),
    "failed channels of": lambda word, on: without(topology(on), channels=word).name,
    "failed nodes of": lambda word, on: without(topology(on), nodes=word),
    "routing on": lambda word, on: str(parse_routing(word, topology(on))),
    "simulated routing on": lambda word, on: (
        virtual_channel_routing(topology(on), word, num_vcs=4).name
    ),
    "matrix app.mtx": read,
    "table app.csv": read,
    "recording app.0.prof": read,
    "trace t.csv": read_trace,
    "schedule s.goal": lambda path: read_goal(path, flit_bytes=8),
    "schedule c.xml": lambda path: executed(parse_msccl(path)),
    "edge list net.txt": read_graph,
    "fabric net": read_fabric,
    "document net": lambda path: read_document("net", Path(path).read_text(), wanted="YAML"),
    "dump dump": lambda path, on: read_lfts(topology(on), path),
    "lanes lanes": lambda path, on: read_lfts(topology(on), _with_levels(on, lanes=path)),
    "levels levels": lambda path, on: read_lfts(topology(on), _with_levels(on, levels=path)),
    "mapping m.txt": read_mapping,
    "mapping m.json": read_mapping,
    "rank file ranks.txt": lambda path: read_mapping(path, {"a": 0, "b": 1}),
    "host file hosts": read_hosts,
    "routes routes.txt": lambda path, on: read_routes(topology(on), path),
}


def _with_levels(on, **given):
    """Return the files of tables, lanes and levels beside a fabric, one of them given."""
    folder = on.removeprefix("fabric:").rpartition("/")[0]
    files = {name: f"{folder}/{name}" for name in ("tables", "lanes", "levels")} | given
    return f"{files['tables']},sl2vl:{files['lanes']},psl:{files['levels']}"


class Entry(NamedTuple):
    """What is read, as it stands in the file, and what is said."""

    asked: tuple[str, ...]
    said: str


class Section(NamedTuple):
    """A reader, its network, the file that entries change, and the entries."""

    head: str
    base: tuple[str, ...]
    entries: tuple[Entry, ...]

    def text(self):
        """The section as it stands in the file."""
        base = ["\n".join(self.base)] if self.base else []
        entries = ["\n".join([*each.asked, each.said]) for each in self.entries]
        return "\n\n".join([self.head, *base, *entries])

    def said(self, entry):
        """What is said of an entry now."""
        name = next(each for each in READERS if self.head.startswith(f"## {each}"))
        on = self.head.removeprefix(f"## {name}").split()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            word = entry.asked[0].removeprefix(">").removeprefix(" ")
            if not entry.asked[0].startswith(">"):
                word = str(Path(folder, name.split()[-1]))
                Path(word).write_text(self.content(entry))
            try:
                found = READERS[name](word, *on)
            except (InputError, NoRouteError) as error:
                return str(error).replace(f"{folder}/", "")
        return found if isinstance(found, str) and found else "taken"

    def content(self, entry):
        """The file of an entry."""
        if entry.asked[0].startswith("|"):
            return "".join(f"{each[2:]}\n" for each in entry.asked)
        old, new = (each[2:].replace("\\n", "\n") for each in entry.asked)
        if self.base[0].startswith("@"):
            whole = (ROOT / self.base[0][2:]).read_text()
        else:
            whole = "".join(f"{each[2:]}\n" for each in self.base)
        assert old in whole, old
        return whole.replace(old, new, 1)


def kept():
    """All sections of the file."""
    sections = []
    for section in KEPT.read_text().strip("\n").split("\n\n## "):
        head, *blocks = section.split("\n\n")
        lines = [tuple(block.split("\n")) for block in blocks]
        base = lines.pop(0) if lines[0][0][0] in "=@" else ()
        entries = [_entry(block) for block in lines]
        sections.append(Section(f"## {head.removeprefix('## ')}", base, tuple(entries)))
    return sections


def _entry(block):
    marked = [each for each in block if each[:1] in set(">|-+")]
    return Entry(tuple(marked), "\n".join(block[len(marked) :]))


def said_now(section):
    """A section with what is said now."""
    now = [each._replace(said=section.said(each)) for each in section.entries]
    return section._replace(entries=tuple(now))


if __name__ == "__main__":
    text = "\n\n".join(said_now(each).text() for each in kept()) + "\n"
    before = KEPT.read_text()
    sys.stdout.writelines(unified_diff(before.splitlines(True), text.splitlines(True), n=2))
    if "--accept" in sys.argv:
        KEPT.write_text(text)
