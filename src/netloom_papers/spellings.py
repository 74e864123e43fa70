"""Ways to write a set of measurements that mean the same, in the form of ``sets.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from netloom.base.errors import InputError
from netloom.base.words import listed
from netloom.machines.libraries import ROWS
from netloom.machines.named_machines import machine, machine_names
from netloom.questions.measured import spoken
from netloom.workload.programs.collectives.algorithms import ALGORITHMS
from netloom.workload.programs.collectives.program import parse_sizes

SETS = "sets.toml"

TABLES = ("set", "sets")
"""Tables of sets, each without a name or with one: ``[[set]]``, ``[sets.NAME]``."""

KEYS = {
    "preset": "network",
    "spec": "network",
    "topology": "network",
    "csv": "file",
    "table": "file",
    "title": "name",
    "rows": "where",
    "algorithm": "algorithms",
    "calibrate": "calibrates",
    "calibrating": "calibrates",
    "calibration": "calibrates",
}
"""Other names of keys of a set."""

CALLED = {
    "machine": "run",
    "gpus": "ranks",
    "program": "collective",
    "size": "bytes",
    "algbw_GBs": "algbw",
    "busbw_GBs": "busbw",
}
"""Other names of columns."""

Fixed: TypeAlias = Literal[
    "bytes", "nodes", "ranks", "collective", "algorithm", "run", "line", "fixes"
]
"""What names rows that a constant was taken from, and the constant."""

NETLOOM = {*ROWS, *(name for some in ALGORITHMS.values() for name in some)}
"""All algorithms of netloom."""

ONE_SWITCH = "leaf-spine:1x1x"
"""A network of one switch, before the number of its hosts."""

OR = "|"
"""Between algorithms of which the first that runs is meant."""


def file_of_sets(folder: Path) -> Path:
    """Return the file that describes the sets of a folder: ``sets.toml``, or the only TOML there.

    Raises
    ------
    InputError
        If there are several.
    """
    known = sorted(each.name for each in folder.glob("*.toml"))
    if SETS in known or not known:
        return folder / SETS
    if len(known) > 1:
        raise InputError(str(folder), listed(known, len(known)), f"one of them called {SETS}")
    return folder / known[0]


def tables_of_sets(tables: Mapping[str, Any], file: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the table of each set, its head in the file, and the name that the head says.

    Raises
    ------
    InputError
        If no table is one of a set.

    Examples
    --------
    >>> tables_of_sets({"my cluster": {"preset": "dgx-h100"}}, Path("sets.toml"))
    [('my cluster', 'my cluster', {'preset': 'dgx-h100'})]
    """
    found = list[tuple[str, str, dict[str, Any]]]()
    for head, each in tables.items():
        if isinstance(each, list) and head in TABLES and all(isinstance(one, dict) for one in each):
            found += [(head, "", one) for one in each]
        elif isinstance(each, dict) and each and head in TABLES and _all_tables(each):
            found += [(f"{head}.{name}", name, one) for name, one in each.items()]
        elif isinstance(each, dict) and each:
            found.append((head, "" if head in TABLES else head, each))
        else:
            raise InputError(str(file), head, "tables [[set]], or a table per set")
    if not found:
        raise InputError(str(file), "nothing", "tables [[set]], or a table per set")
    return found


def _all_tables(given: Mapping[str, Any]) -> bool:
    return all(isinstance(each, dict) for each in given.values()) and "file" not in given


def plain(
    table: Mapping[str, Any], name: str, folder: Path, which: int = 0, *, several: bool = False
) -> dict[str, Any]:
    """Return the table of a set with the usual keys.

    A network and a preset together are the network of such computers. The head of a table may say
    the set's name, and its file.

    Examples
    --------
    >>> plain({"preset": "dgx-h100", "file": "a.csv", "calibrates": 4}, "a", Path())
    {'network': 'dgx-h100', 'file': 'a.csv', 'calibrates': [4], 'name': 'a'}
    >>> plain({"preset": "ndv4", "spec": "rail:1x2x8x1"}, "a", Path())["network"]
    'rail:1x2x8x1@ndv4'
    >>> plain({"algorithms": {"rings": "nccl_ring"}}, "a", Path())["algorithms"]
    {'nccl_ring': 'rings'}
    """
    found = dict[str, Any]()
    for key, value in table.items():
        usual = KEYS.get(key, key)
        if usual == "network" and isinstance(found.get(usual), str) and isinstance(value, str):
            computer, spec = sorted((value, found[usual]), key=lambda each: ":" in each)
            value = f"{spec}@{computer}"
        found[usual] = value
    if "calibrates" in found:
        found["calibrates"] = _rows_said(found["calibrates"])
    names = found.get("algorithms")
    if isinstance(names, dict) and names and NETLOOM.issuperset(names):
        said = [(each, own) for own, some in names.items() for each in _each(some)]
        if not any(each in NETLOOM for each, _ in said):  # netloom's names stand first
            found["algorithms"] = dict(said)
    if name:
        found.setdefault("name", name)
    elif isinstance(found.get("file"), str):
        found.setdefault("name", Path(found["file"]).stem + f", set {which + 1}" * several)
    own = f"{name}.csv"
    if name and (folder / own).is_file():
        found.setdefault("file", own)
    return found


def _each(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _rows_said(given: Any) -> Any:
    """Return rows as a list of lines, of "algorithm bytes", and of tables with the usual keys.

    Examples
    --------
    >>> _rows_said({"size": 8}), _rows_said({"ring": [8, 9]}), _rows_said([["ring", 8]])
    ([{'bytes': 8}], ['ring 8', 'ring 9'], ['ring 8'])
    """
    if isinstance(given, bool):
        return given
    found = list[Any]()
    for each in _each(given):
        if isinstance(each, list):
            found.append(" ".join(map(str, each)))
        elif isinstance(each, dict) and each and not {*each} & {*get_args(Fixed), *CALLED}:
            found += [f"{name} {size}" for name, some in each.items() for size in _each(some)]
        elif isinstance(each, dict):
            found.append({CALLED.get(key, key): value for key, value in each.items()})
        else:
            found.append(each)
    return found


def row_named(said: str) -> dict[str, Any]:
    """Return the algorithm and the size that name a row: "algorithm bytes".

    Raises
    ------
    InputError
        If it does not end with a size.

    Examples
    --------
    >>> row_named("nccl_ring 512MiB"), row_named("8192")
    ({'bytes': 536870912.0, 'algorithm': 'nccl_ring'}, {'bytes': 8192.0})
    """
    name, _, size = said.strip().rpartition(" ")
    try:
        (found,) = parse_sizes(size)
    except (InputError, ValueError):
        wanted = '"algorithm bytes", such as "ring 536870912"'
        raise InputError("calibrates", f"'{said}'", wanted) from None
    name = name.strip(" ,:@")
    return {"bytes": found} | ({"algorithm": name} if name else {})


def meant(names: list[str], algorithm: str) -> list[str]:
    """Return netloom's algorithms of a measured one, by a list of measured names or of netloom's.

    Of a measured name in the list that is the algorithm which netloom knows by that name. Of other
    rows all of the list, if rows have no names or all of the list are netloom's.

    Examples
    --------
    >>> meant(["allreduce_nccl_ring", "allreduce_nccl_tree"], "allreduce_nccl_tree")
    ['double-trees|double-binary-tree']
    >>> meant(["in-switch", "rings"], ""), meant(["allreduce_nccl_ring"], "other")
    (['in-switch', 'rings'], [])
    >>> meant(["BINE-*"], "BINE-L-UTOFU-0-1"), meant(["odd"], "odd")
    (['recursive-doubling'], ['odd'])
    """
    own = spoken(algorithm) if algorithm else ()
    if any(fnmatchcase(algorithm, each) or spoken(each) == own for each in names):
        usual = next(of_shown(algorithm), algorithm)
        return [known_as(usual)]
    if algorithm and not NETLOOM.issuperset(names):
        return []
    known = map(known_as, names)
    return [each for each in known if each in NETLOOM or OR in each]


def known_as(name: str) -> str:
    """Return what a library's name of an algorithm means here, or the name.

    Examples
    --------
    >>> known_as("tree"), known_as("bine"), known_as("odd")
    ('double-trees|double-binary-tree', 'bine', 'odd')
    """
    return OR.join(each for each in spoken(name) if each in NETLOOM) or name


def of_shown(algorithm: str) -> Iterator[str]:
    """Yield what the sets that netloom comes with call a measured algorithm."""
    for where, names in _shown():
        if fnmatchcase(algorithm, where):
            yield from (each for known, each in names.items() if fnmatchcase(algorithm, known))


@cache
def _shown() -> tuple[tuple[str, dict[str, str]], ...]:
    """Return the names of algorithms of each set that takes some algorithms of a table."""
    text = files("netloom.machines").joinpath("measured", SETS).read_text("utf-8")
    some = (each for each in tomllib.loads(text)["set"] if "algorithms" in each)
    pairs = ((each.get("where", {}).get("algorithm"), each["algorithms"]) for each in some)
    return tuple((where, names) for where, names in pairs if isinstance(where, str))


def of_nodes(spec: str, nodes: str, ranks: int) -> str:
    """Return the network of a row that a preset alone is said of.

    A torus has the sides of its nodes. Several computers are joined by one switch, so that nothing
    but their cards limits them.

    Examples
    --------
    >>> of_nodes("dgx-h100", "8", 64), of_nodes("dgx-h100", "1", 8), of_nodes("fugaku", "8x8", 64)
    ('leaf-spine:1x1x64@dgx-h100', 'dgx-h100', 'fugaku:8x8')
    """
    name = spec.removeprefix("machine:")
    if name not in machine_names():
        return spec
    computer = machine(name).computer
    if computer is None:
        return f"{name}:{nodes}" if "x" in nodes else name
    many = ranks // computer.gpus
    return name if many < 2 else f"{ONE_SWITCH}{many * computer.cards}@{name}"
