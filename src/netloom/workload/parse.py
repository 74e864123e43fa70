"""Process graphs by name: a pattern such as ``binary-tree:255``, or a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import parse_sides, split_spec, whole_number
from netloom.base.textfiles import file_kind
from netloom.base.words import or_near
from netloom.workload.graphs import files, generators
from netloom.workload.graphs.files import is_monitoring, pattern_in, read_monitoring
from netloom.workload.graphs.process_graph import ProcessGraph
from netloom.workload.programs.training.llm import llm_graph

PATTERNS = (
    "binary-tree:255, mesh:16x16, torus:8x8, line:8, ring:64, hypercube:8, all-to-all:64, "
    "butterfly:8, random-regular:64,4 (or 64,4,SEED), transpose:12, bit-complement:64, "
    "bit-reverse:64, shuffle:64, tornado:8x8, neighbour:8x8, shift:1,5/64, "
    "random-permutation:64 (or 64,SEED), llm:dp=8,tp=8,layers=32,hidden=4096"
)
_OF_THEIR_OWN = {"hypercube", "butterfly", "transpose"}
SIZED = {"random-permutation", *generators.BY_COUNT} - _OF_THEIR_OWN
"""Patterns that may be named without a size, where there is a number of tasks to take."""

FILES = (
    "a file (.mtx, .mtx.gz, .csv, .tsv, .npz, .graphml), or Open MPI monitoring files "
    "(.prof, their directory, or a glob)"
)


def read(
    spec_or_path: str | Path,
    *,
    messages: str | Path | None = None,
    parts: str = "network",
    tasks: int | None = None,
    seed: int = DEFAULT_SEED,
) -> ProcessGraph:
    """Return the process graph that a spec string names or a file holds.

    Whatever exists, ends like a file, holds the signs of a glob or is a directory is read as a
    file. Anything else is a spec string.

    Parameters
    ----------
    spec_or_path
        Such as ``binary-tree:255``, ``mesh:16x16``, ``torus:8x8``, ``line:8``, ``ring:64``,
        ``hypercube:8``, ``all-to-all:64``, ``butterfly:8``, ``random-regular:64,4`` (or with a
        seed, ``random-regular:64,4,7``), ``transpose:12``, ``bit-complement:64``,
        ``bit-reverse:64``, ``shuffle:64``, ``tornado:8x8``, ``neighbour:8x8``. A training step,
        ``llm:dp=8,tp=8,layers=32,hidden=4096`` (see ``programs.training.llm.Model``). A graph that
        another package adds, such as a finite element mesh in parts. Or the path of MatrixMarket,
        CSV, TSV, NPZ, GraphML or Open MPI monitoring files.
    messages
        With a MatrixMarket file, a second one that holds the number of messages.
    parts
        With Open MPI monitoring files, the part of the traffic: see ``read_monitoring``.
    tasks
        The size of patterns that are named without one, such as ``all-to-all``, ``shift:1,5`` or
        ``random-permutation``. Without it, they are refused.
    seed
        Of ``random-permutation`` where its name has none.

    Raises
    ------
    InputError
        If there is no such pattern or file, or it cannot be read. One line says what would do.

    Examples
    --------
    >>> read("transpose:12")
    <transpose:12: 144 tasks, 132 directed edges, 132 bytes, 132 messages>
    >>> read("examples/lammps-64.mtx").num_tasks
    64
    >>> read("shift:1,5", tasks=16)
    <shift:1,5/16: 16 tasks, 32 directed edges, 32 bytes, 32 messages>
    """
    name = str(spec_or_path)
    if not name:  # as a path, it would be this directory
        raise InputError("process graph", "an empty name", _known())
    try:
        monitoring, exists = is_monitoring(name), Path(name).exists()
    except OSError as error:  # a name too long for a file, a folder that may not be entered
        found = f"'{name[:60]}' ({error.strerror})"
        raise InputError("process graph", found, _known()) from None
    if exists and (kind := file_kind(name)) not in ("a file", "a folder"):
        raise InputError(name, kind, _known())
    ending = next((ending for ending in _READERS if name.lower().endswith(ending)), None)
    if messages is not None and (monitoring or ending not in _MATRICES):
        raise InputError("messages", f"a second matrix with '{name}'", "a MatrixMarket file first")
    if monitoring and (traces := pattern_in(name, ".et")):
        wanted = f"netloom simulate trace chakra:{traces}, which replays them"
        raise InputError(name, "a folder of Chakra traces", wanted)
    if monitoring:
        return read_monitoring(name, parts=parts)
    if parts != "network":
        wanted = "Open MPI monitoring files, of which there are parts"
        raise InputError("parts", f"'{parts}' with '{name}'", wanted)
    if ending in _MATRICES:
        return files.read_matrix_market(name, messages=messages)
    if ending is not None:
        return _READERS[ending](name)
    if exists:
        raise InputError(name, "a file of unknown kind", FILES)
    return _from_spec(name, tasks, seed)


def _known() -> str:
    """Return what can be read: patterns, those of other packages by name, and files."""
    added = [f"{name}:..." for name in declared("process-graphs")]
    return f"{', '.join([PATTERNS, *added])}; {FILES}"


def _from_spec(spec: str, tasks: int | None, seed: int) -> ProcessGraph:
    """Return the pattern of this name, of so many tasks if the name may lack their number."""
    name, argument = split_spec(spec)
    if tasks is not None:
        if name == "shift" and "/" not in argument:
            spec = f"{name}:{argument}/{tasks}"
        elif name in SIZED and not argument:
            spec = f"{name}:{tasks}" + (f",{seed}" if name == "random-permutation" else "")
        argument = split_spec(spec)[1]
    if name not in _PATTERNS and (added := declared("process-graphs").get(name)):
        made: ProcessGraph = added.load()(argument, spec)
        return made
    if name not in _PATTERNS:
        found = "no such file, and no pattern of that name"
        wanted = or_near(name, _PATTERNS, _known())
        raise InputError(f"process graph '{spec}'", found, wanted)
    if name in SIZED and not argument:
        raise InputError(f"process graph '{spec}'", "no size", f"{name}:64")
    return _PATTERNS[name](argument, spec)


def _by_count(make: Callable[[int], ProcessGraph]) -> Callable[[str, str], ProcessGraph]:
    return lambda argument, spec: make(whole_number(argument, where=spec, least=1))


def _by_sides(make: Callable[..., ProcessGraph]) -> Callable[[str, str], ProcessGraph]:
    return lambda argument, spec: make(*parse_sides(argument, where=spec))


def _by_numbers(
    make: Callable[..., ProcessGraph], most: int, wanted: str
) -> Callable[[str, str], ProcessGraph]:
    def made(argument: str, spec: str) -> ProcessGraph:
        words = argument.split(",")
        if not most - 1 <= len(words) <= most:
            raise InputError(spec, f"{len(words)} numbers", wanted)
        return make(*(whole_number(word.strip(), where=spec) for word in words))

    return made


def _shift(argument: str, spec: str) -> ProcessGraph:
    distances, _, tasks = argument.partition("/")
    if not tasks:
        raise InputError(spec, "no number of tasks", f"{spec.rstrip('/')}/64")
    ahead = (whole_number(word.strip(), where=spec, least=1) for word in distances.split(","))
    return generators.shift(whole_number(tasks.strip(), where=spec, least=1), *ahead)


_MATRICES = (".mtx", ".mtx.gz")
_READERS = {
    **dict.fromkeys(_MATRICES, files.read_matrix_market),
    **dict.fromkeys((".csv", ".tsv"), files.read_csv),
    ".npz": files.read_npz,
    ".graphml": files.read_graphml,
}

_PATTERNS: dict[str, Callable[[str, str], ProcessGraph]] = {
    **{name: _by_count(make) for name, make in generators.BY_COUNT.items()},
    **{name: _by_sides(make) for name, make in generators.BY_SIDES.items()},
    "random-regular": _by_numbers(
        generators.random_regular, 3, "tasks,degree or tasks,degree,seed"
    ),
    "shift": _shift,
    "random-permutation": _by_numbers(generators.random_permutation, 2, "tasks, or tasks,seed"),
    "llm": lambda _, spec: llm_graph(spec),
}
