"""Which connections come before which: from a file, or as given in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.errors import InputError
from netloom.spec import whole_number
from netloom.textfiles import read_lines

if TYPE_CHECKING:
    from netloom.workload import ProcessGraph

    Edge: TypeAlias = tuple[int, int]

FORM = "a line such as '0 1 < 2 3': the words from task 0 to 1 before those from 2 to 3"


def connection_order(given: Any, graph: ProcessGraph) -> list[tuple[Edge, Edge]]:
    r"""Return pairs of edges, the first of which has delivered before the second sends.

    ``given`` is None, the pairs themselves, or the path of a file with a pair a line:
    ``0 1 < 2 3`` for the edges 0 -> 1 and 2 -> 3 of the graph. ``#`` starts a comment.

    Raises
    ------
    InputError
        Naming the file and line, or the pair, that cannot be read or is of no edge of the graph.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload import read
    >>> file = Path(mkdtemp()) / "order"
    >>> _ = file.write_text("# once round\n0 1 < 1 2\n1 2 < 2 3\n")
    >>> connection_order(file, read("ring:4"))
    [((0, 1), (1, 2)), ((1, 2), (2, 3))]
    """
    if given is None:
        return []
    if isinstance(given, str | Path):
        pairs = {place: _pair(words, place) for place, words in read_lines(given, wanted=FORM)}
    else:
        pairs = {f"order[{place}]": edges for place, edges in enumerate(_array(given))}
    known = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for place, edges in pairs.items():
        for start, end in edges:
            if (start, end) not in known:
                raise InputError(place, f"{start} -> {end}", f"edges of {graph.name}")
    return list(pairs.values())


def _pair(words: str, place: str) -> tuple[Edge, Edge]:
    sides = [side.split() for side in words.split("<")]
    if [len(side) for side in sides] != [2, 2]:
        raise InputError(place, f"'{words}'", FORM)
    first, second = ((whole_number(a, where=place), whole_number(b, where=place)) for a, b in sides)
    return first, second


def _array(given: Any) -> list[tuple[Edge, Edge]]:
    wanted = "pairs of edges, such as [((0, 1), (2, 3))]"
    try:
        pairs = np.asarray(given)
    except ValueError:
        raise InputError("order", "lists of unequal lengths", wanted) from None
    if not pairs.size:
        return []
    if pairs.shape[1:] != (2, 2) or pairs.dtype.kind not in "iu":
        raise InputError("order", f"{pairs.dtype} of shape {pairs.shape}", wanted)
    return [((a, b), (c, d)) for (a, b), (c, d) in pairs.tolist()]
