"""Programs of ranks, and files of which each rank has one.

Files of one rank each, named by a pattern in which %d stands for the rank.

Programs of ranks: computations, sends, receives and calls of collectives, with what each awaits.

Records of training (Chakra, the PyTorch profiler) and ``llm:`` programs say which collective a
rank calls, not which messages that takes. A program of ranks keeps it so. ``expand`` puts an
algorithm in the place of each call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import check_file
from netloom.workload.programs.messages import Lists, lists

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints

    Unmatched: TypeAlias = "defaultdict[tuple[int, int, int], list[Ends]]"


def pattern_in(folder: str | Path, ending: str) -> str:
    """Return the pattern of the files of ranks in a folder that end so. "" if it has none.

    Examples
    --------
    >>> pattern_in("examples/chakra", ".et"), pattern_in("examples", ".et")
    ('examples/chakra/%d.et', '')
    """
    first = re.compile(rf"(.*\D)?0{re.escape(ending)}")
    names = [each.name for each in Path(folder).iterdir()] if Path(folder).is_dir() else []
    found = next((match for match in map(first.fullmatch, sorted(names)) if match), None)
    return str(Path(folder, f"{found[1] or ''}%d{ending}")) if found else ""


def rank_files(pattern: str | Path, wanted: str) -> list[Path]:
    """Return the files of ranks 0, 1, 2 ….

    Raises
    ------
    InputError
        If the pattern has no ``%d``, there is no such folder or file, or one is missing.

    Examples
    --------
    >>> [path.name for path in rank_files("examples/chakra/%d.et", "a trace")][:2]
    ['0.et', '1.et']
    """
    path = Path(pattern)
    if path.name.count("%d") != 1 or "%" in path.name.replace("%d", "", 1):
        raise InputError(str(path), "no %d for the rank", "a name such as trace.%d.et")
    before, after = path.name.split("%d")
    name = re.compile(rf"{re.escape(before)}(0|[1-9][0-9]{{0,8}}){re.escape(after)}")
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError as error:
        raise InputError(str(path.parent), f"no such folder ({error.strerror})", wanted) from None
    ranks = sorted(int(match[1]) for match in map(name.fullmatch, names) if match)
    check_size(len(ranks), where=str(path), what="ranks")
    if not ranks:
        raise InputError(str(path), "no such files", f"{before}0{after}, {before}1{after} …")
    missing = next((rank for rank, found in enumerate(ranks) if rank != found), None)
    if missing is not None:
        found = f"a file of rank {ranks[-1]}, and none of rank {missing}"
        raise InputError(str(path), found, "one for each rank from 0 on")
    paths = [path.with_name(f"{before}{rank}{after}") for rank in ranks]
    return [check_file(each, wanted=wanted) for each in paths]


COMPUTE, DELAY, SEND, RECEIVE, CALL = range(5)
"""Kinds of operations. A delay is work elsewhere, which does not take the rank's processor."""


@dataclass(frozen=True, eq=False)
class Call:
    """One collective, called by all ranks of a group.

    Attributes
    ----------
    collective
        One of ``COLLECTIVES``.
    ranks
        The group, in its own order.
    size_bytes
        As ``CollectiveProgram`` means it: the vector of each rank for all-reduce, broadcast and
        reduce. The whole result for all-gather and gather. The whole input of a rank for the rest.
    root
        A place in the group.
    pair_bytes
        float64[P, P], of an all-to-all with unequal parts: what each place has for each.
    purpose
        What it is for, such as ``tensor`` parallelism. "" if nothing says so.
    """

    collective: str
    ranks: tuple[int, ...]
    size_bytes: float
    root: int = 0
    pair_bytes: Floats | None = None
    purpose: str = ""


@dataclass(frozen=True, eq=False)
class RankProgram:
    """What each rank does, operation by operation.

    Attributes
    ----------
    name
        The file, or what it was made from.
    num_ranks
        Number of ranks.
    ids
        A name of each operation, all different.
    kind, rank
        int8[n] and int32[n]: what it is, and whose.
    seconds
        float64[n], of computations and delays. An operation of another kind with seconds begins
        that much after what it awaits.
    peer, bytes
        int32[n] and float64[n]: of sends, to whom and how much. Of receives, from whom.
    link
        int64[n]: of a receive, the send that it gets. Of a call, its place in ``calls``. Else −1.
    after
        For each operation those of the same rank that it awaits.
    calls
        The collectives.
    """

    name: str
    num_ranks: int
    ids: Sequence[str]
    kind: NDArray[np.int8]
    rank: Ints
    seconds: Floats
    peer: Ints
    bytes: Floats
    link: Ints
    after: Lists
    calls: Sequence[Call]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        counts = f"{len(self)} operations, {len(self.calls)} collectives"
        return f"<{self.name}: {self.num_ranks} ranks, {counts}>"


@dataclass
class Builder:
    """Operations as they are added, one by one.

    ``sends``, ``receives``: by source, target and tag, in order. ``pending``: by group, then by
    rank, the collectives in the order in which it calls them. ``program`` joins them.
    """

    num_ranks: int
    ids: list[str] = field(default_factory=list)
    rows: list[tuple[int, int, float, int, float, int]] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    sends: Unmatched = field(default_factory=lambda: defaultdict(list))
    receives: Unmatched = field(default_factory=lambda: defaultdict(list))
    pending: defaultdict[Hashable, defaultdict[int, list[Pending]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(
        self,
        name: str,
        kind: int,
        rank: int,
        after: list[int],
        *,
        seconds: float = 0.0,
        peer: int = -1,
        size: float = 0.0,
        link: int = -1,
    ) -> int:
        """Add an operation, and return its number."""
        self.ids.append(name)
        self.rows.append((kind, rank, seconds, peer, size, link))
        self.after.append(after)
        return len(self.ids) - 1

    def link(self, operation: int, link: int) -> None:
        """Say later which send a receive gets, or which call an operation is of."""
        self.rows[operation] = (*self.rows[operation][:-1], link)

    def program(self, name: str) -> RankProgram:
        """Return the program.

        Raises
        ------
        InputError
            Naming what has no other end, or one of another size. Naming the call of a rank that
            another rank of its group does not make, or makes otherwise.
        """
        _match_sends(self)
        _match_calls(self)
        columns = list(zip(*self.rows, strict=True)) or [()] * 6
        dtypes = (np.int8, np.int32, np.float64, np.int32, np.float64, np.int64)
        kind, rank, seconds, peer, size, link = (
            np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)
        )
        return RankProgram(
            name, self.num_ranks, self.ids, kind, rank, seconds, peer, size, link,
            lists(self.after), self.calls,
        )  # fmt: skip


class Pending(NamedTuple):
    """What a rank says of a collective that it calls, before the others are known."""

    operation: int
    collective: str
    ranks: tuple[int, ...]
    size_bytes: float
    root: int  # a place in the group
    where: str
    row: tuple[float, ...] = ()  # of an all-to-all, if parts are unequal: bytes for each place
    purpose: str = ""


def _match_calls(builder: Builder) -> None:
    """Join what the ranks of each group call: the first of each are one collective, and so on."""
    for by_rank in builder.pending.values():
        longest = max(by_rank.values(), key=len)
        for number, call in enumerate(longest):
            calls = []
            for rank in call.ranks:
                made = by_rank.get(rank, [])
                if number >= len(made):
                    found = f"{call.collective}, call {number + 1} of its group"
                    found += f", of which rank {rank} makes {len(made)}"
                    raise InputError(call.where, found, "as many calls by all ranks of a group")
                calls.append(made[number])
            _join(builder, calls)


def _join(builder: Builder, calls: list[Pending]) -> None:
    first = calls[0]
    sizes = {call.size_bytes for call in calls}
    unequal = first.collective == "all-to-all" and (len(sizes) > 1 or any(c.row for c in calls))
    for call in calls:
        if (call.collective, call.ranks, call.root) != (first.collective, first.ranks, first.root):
            found, wanted = _said(call), f"{_said(first)}, as in {first.where}"
            raise InputError(call.where, found, wanted)
        if call.size_bytes != first.size_bytes and not unequal:
            found = f"{call.collective} of {call.size_bytes:.15g} bytes"
            raise InputError(call.where, found, f"{first.size_bytes:.15g}, as in {first.where}")
        builder.link(call.operation, len(builder.calls))
    pairs = None
    if unequal:
        ranks = len(calls)
        rows = [call.row or (call.size_bytes / ranks,) * ranks for call in calls]
        pairs = np.array(rows, np.float64)
    builder.calls.append(
        Call(first.collective, first.ranks, max(sizes), first.root, pairs, first.purpose)
    )


def _said(call: Pending) -> str:
    root = f" from rank {call.ranks[call.root]}" if call.root else ""
    return f"{call.collective}{root} of {len(call.ranks)} ranks"


class Ends(NamedTuple):
    """A send or a receive that seeks its other end."""

    operation: int
    size_bytes: float  # 0 where it is not said
    where: str


def _match_sends(builder: Builder) -> None:
    """Join receives with sends of the same source, target and tag, in order."""
    for key in {**builder.sends, **builder.receives}:
        given, taken = builder.sends[key], builder.receives[key]
        shown = f"rank {key[0]} to rank {key[1]}, tag {key[2]}"
        if len(given) != len(taken):
            longer, other = (given, "receive") if len(given) > len(taken) else (taken, "send")
            extra = longer[min(len(given), len(taken))]
            raise InputError(extra.where, f"{shown}, without a {other}", f"a {other} for it")
        for send, receive in zip(given, taken, strict=True):
            if receive.size_bytes and receive.size_bytes != send.size_bytes:
                found = f"{receive.size_bytes:.15g} bytes from a send of {send.size_bytes:.15g}"
                raise InputError(receive.where, f"{shown}: {found}", f"as many, as in {send.where}")
            builder.link(receive.operation, send.operation)


def check_group(ranks: Sequence[int], num_ranks: int, where: str) -> tuple[int, ...]:
    """Return the ranks of a group, all different and all there.

    Raises
    ------
    InputError
        If they are not.

    Examples
    --------
    >>> check_group([0, 2], 4, "groups.json")
    (0, 2)
    """
    check_size(len(ranks), where=where, what="ranks")
    if not ranks or len(set(ranks)) < len(ranks):
        raise InputError(where, f"a group {list(ranks)[:8]}", "ranks, each once")
    if not 0 <= min(ranks) <= max(ranks) < num_ranks:
        wrong = min(ranks) if min(ranks) < 0 else max(ranks)
        raise InputError(where, f"rank {wrong}", f"0 to {num_ranks - 1}, each of which has a file")
    return tuple(ranks)
