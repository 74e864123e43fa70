"""Mapping files: the node of each task as text, one line a task, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom._version import __version__
from netloom.errors import InputError
from netloom.spec import check_size, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


def read_mapping(path: str | Path) -> NDArray[np.int64]:
    """Read the node of each task from a mapping file.

    A ``.json`` file is an object whose ``node_of`` lists the nodes; any other has one node a
    line, that of task 0 first, where ``#`` starts a comment and blank lines do not count. Whether
    the nodes exist and how often each may occur is for ``check_mapping`` to say.

    Returns
    -------
    node_of
        int64[num_tasks].

    Raises
    ------
    InputError
        Naming the file, and the line of a text file, where it cannot be read.
    """
    path = Path(path)
    lines = read_lines(path, wanted="one node number a line, or netloom's JSON")
    if path.suffix == ".json":
        return _read_json(path, "\n".join(lines))
    nodes = [
        whole_number(words, where=f"{path}:{number}") for number, words in meaningful_lines(lines)
    ]
    if not nodes:
        raise InputError(str(path), "no tasks", "one node number a line, that of task 0 first")
    return np.array(nodes, dtype=np.int64)


def write_mapping(path: str | Path, node_of: ArrayLike, topology_name: str) -> None:
    """Write a mapping, as JSON where the name ends in ``.json`` and as text elsewhere.

    Parameters
    ----------
    path
        The file; it is replaced where it exists.
    node_of
        int[num_tasks], the node of each task.
    topology_name
        The spec of the network that the nodes are of, kept in the file for whoever reads it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path = Path(path)
    nodes = np.asarray(node_of, dtype=np.int64).tolist()
    if path.suffix == ".json":
        content = {"netloom": __version__, "topology": topology_name, "node_of": nodes}
        write_text(path, json.dumps(content) + "\n")
        return
    head = f"# netloom {__version__}: the node on {topology_name} of each task, task 0 first\n"
    write_text(path, head + "".join(f"{node}\n" for node in nodes))


def meaningful_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and words of every line that is not blank once comments are cut.

    Examples
    --------
    >>> list(meaningful_lines(["# nodes", " 3", "", "1  # spare"]))
    [(2, '3'), (4, '1')]
    """
    for number, line in enumerate(lines, start=1):
        words = line.split("#", 1)[0].strip()
        if words:
            yield number, words


def read_lines(path: str | Path, *, wanted: str) -> list[str]:
    """Return the lines of a text file of moderate size, or say that ``wanted`` was expected.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read or is larger than 256 MiB.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(str(path), "no such file", wanted)
    try:
        check_size(path.stat().st_size, where=str(path), what="bytes")
        return path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise InputError(str(path), f"an unreadable file ({error.strerror})", wanted) from None


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``.

    Raises
    ------
    InputError
        If that is not possible.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            str(path), f"a place that cannot be written ({error.strerror})", "a writable folder"
        ) from None


def _read_json(path: Path, text: str) -> NDArray[np.int64]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}", f"no JSON ({error.msg})", _JSON) from None
    except (RecursionError, ValueError):  # nested too deeply; a number of too many digits
        raise InputError(str(path), "JSON that cannot be read", _JSON) from None
    nodes = content.get("node_of") if isinstance(content, dict) else None
    if not isinstance(nodes, list) or not nodes:
        raise InputError(str(path), "no list of nodes", _JSON)
    for task, node in enumerate(nodes):
        if type(node) is not int or not 0 <= node < 2**63:
            raise InputError(f"{path}, task {task}", f"{node!r:.40}", "a node number")
    return np.array(nodes, dtype=np.int64)


_JSON = '{"node_of": [0, 1, ...]} with the node of each task'
