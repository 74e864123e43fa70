"""Who sends how much to whom in programs of ranks: process graphs, collective by collective."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.workload.graphs.process_graph import process_graph
from netloom.workload.programs.collectives.algorithms import collective_program, outline
from netloom.workload.programs.collectives.all_to_all import with_pair_sizes
from netloom.workload.programs.collectives.sent import sizes_in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.base.arrays import Floats, Ints
    from netloom.workload.graphs.process_graph import ProcessGraph


class Volume(NamedTuple):
    """What groups of ranks send alike, in one collective or from the first to the second.

    ``groups``: int[n, P], the ranks of each group in its order. ``size_bytes``: as
    ``CollectiveProgram`` means it, or of a message. ``times``: how often each group does it.
    ``pair_bytes``: float64[P, P], of an all-to-all with unequal parts.
    """

    name: str
    collective: str  # or "send"
    groups: Ints
    size_bytes: float
    times: int
    pair_bytes: Floats | None = None


def graph_of_volumes(
    name: str, num_ranks: int, volumes: list[Volume], algorithms: Mapping[str, str]
) -> ProcessGraph:
    """Return bytes and messages by pair of ranks, of all volumes together.

    Raises
    ------
    InputError
        If an algorithm does not fit.

    Examples
    --------
    >>> ring = Volume("gradients", "all-reduce", np.array([[0, 1, 2, 3]]), 4e6, 10)
    >>> graph = graph_of_volumes("four", 4, [ring], {"all-reduce": "ring"})
    >>> graph.target.tolist(), graph.bytes.tolist()[0] == 10 * 2 * 3 * 1e6
    ([1, 2, 3, 0], True)
    """
    columns: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64),) * 2]
    weights: list[tuple[Floats, Floats]] = [(np.zeros(0), np.zeros(0))]
    alike: dict[int, list[Volume]] = {}  # those of the same groups are added up first
    for each in volumes:
        alike.setdefault(id(each.groups), []).append(each)
    for some in alike.values():
        groups = some[0].groups
        source, target, sent, messages = _of_group(some, algorithms)
        columns.append((groups[:, source].ravel(), groups[:, target].ravel()))
        weights.append((np.tile(sent, len(groups)), np.tile(messages, len(groups))))
    ends = [np.concatenate(each) for each in zip(*columns, strict=True)]
    sent, messages = (np.concatenate(each) for each in zip(*weights, strict=True))
    return process_graph(num_ranks, *ends, bytes=sent, messages=messages, name=name)


def _of_group(
    volumes: list[Volume], algorithms: Mapping[str, str]
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the pairs of a group, with bytes and messages of all volumes together."""
    found = [(_pairs(each, algorithms), each.times) for each in volumes]
    num_ranks = volumes[0].groups.shape[1]
    key = np.concatenate([source * np.int64(num_ranks) + to for (source, to, _, _), _ in found])
    sent = np.concatenate([some * times for (_, _, some, _), times in found])
    messages = np.concatenate([some * times for (_, _, _, some), times in found])
    return _added(key, num_ranks, sent, messages)


def _pairs(volume: Volume, algorithms: Mapping[str, str]) -> tuple[Ints, Ints, Floats, Floats]:
    """Return sources and targets in a group, and bytes and messages of each pair, for one time."""
    if volume.collective == "send":
        one = np.ones(1)
        return np.array([0]), np.array([1]), one * volume.size_bytes, one
    num_ranks = volume.groups.shape[1]
    algorithm = algorithms[volume.collective]
    if volume.pair_bytes is None:
        found = outline(volume.collective, algorithm, num_ranks)
        unit = np.float64(found.chunk_size[0])
        ends = [(each.source, each.target) for each in found.steps]
        times = [np.full(len(each.source), float(each.times)) for each in found.steps]
        sent = [
            each.times * sizes_in_bytes(each.width * unit, volume.size_bytes)
            for each in found.steps
        ]
        source, target = (
            np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*ends, strict=True)
        )
        key = source.astype(np.int64) * num_ranks + target
        return _added(key, num_ranks, np.concatenate(sent), np.concatenate(times))
    program = collective_program(volume.collective, algorithm, num_ranks)
    program, size = with_pair_sizes(program, volume.pair_bytes)
    key = program.source * np.int64(num_ranks) + program.target
    count = np.ones(program.num_messages)
    return _added(key, num_ranks, sizes_in_bytes(program.message_size, size), count)


def _added(
    key: Ints,
    num_ranks: int,
    sent: Floats,
    messages: Floats,
) -> tuple[Ints, Ints, Floats, Floats]:
    pairs, place = np.unique(key, return_inverse=True)
    source, target = np.divmod(pairs, num_ranks)
    total, count = (np.bincount(place, each).astype(np.float64) for each in (sent, messages))
    return source, target, total, count
