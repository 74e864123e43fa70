"""Packets that hardware counted on links of a torus, beside those of netloom's routes.

Blue Gene/P: node x + 8y + 64z. Small messages go along x, then y, then z. Large ones spread over
all minimal paths, so that single links are not known, and cuts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Ints
from netloom.base.errors import InputError
from netloom.topology import Topology
from netloom.topology.cubes import Cube
from netloom_papers.measurements import Folder

ORDER = "dimension-order:2,1,0"
"""x, then y, then z, of which x is the last coordinate of netloom's torus."""

PACKETS = {"small_packets": (1, 0), "large_packets": (36, 2)}
"""Columns of broadcasts: packets of a message, and those back."""

MULTIGRID = ("region", "least", "mean", "most", "wrap links used")
"""Columns of a multigrid solver."""


class CountedLinks(NamedTuple):
    """One count: its line, what it is of, the ranks, and both numbers of packets or links."""

    line: int
    algorithm: str
    ranks: int
    measured: float
    predicted: float


def counted_links(folder: Folder, which: int) -> Iterator[CountedLinks]:
    """Yield the counts of a set, beside what netloom says.

    Raises
    ------
    InputError
        Naming the file and the line, if a cell or the columns are wrong.
    """
    from netloom.topology import topology

    each = folder.sets[which]
    rows = list(folder.table(which, "file"))
    network = topology(each.network) if isinstance(each.network, str) else None
    if network is None or not isinstance(network.routers, Cube) or not all(network.routers.wraps):
        raise folder.wrong(which, "network", f"{each.network}", "a torus")
    for judged, columns in ((_broadcasts, COLUMNS), (_finest_grid, MULTIGRID)):
        if rows and set(columns) <= set(rows[0][1]):
            yield from judged(network, rows)
            return
    found = f"no counted links in {each.file}"
    raise folder.wrong(which, "file", found, f"columns {', '.join(COLUMNS)}")


COLUMNS = ("communicator", "step", "from_xyz", "to_xyz", *PACKETS)
"""Columns of broadcasts."""

Rows = Sequence[tuple[str, dict[str, str]]]


def _line(where: str) -> int:
    return int(where.rpartition(":")[2])


def _count(cell: str, where: str) -> float:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        raise InputError(where, f"'{cell}'", "a number") from None


def _load(network: Topology, source: ArrayLike, target: ArrayLike) -> Ints:
    """Return how many messages cross each channel, one per pair."""
    from netloom.contention import measure_loads
    from netloom.routing.parse import parse_routing

    found: Ints = measure_loads(network, parse_routing(ORDER, network), source, target).channel_load
    return found


class _Step(NamedTuple):
    """The packets of a step of a broadcast on each channel, of small and of large messages."""

    line: int
    small: Ints
    large: Ints


def _broadcasts(network: Topology, rows: Rows) -> Iterator[CountedLinks]:
    """Yield each link that small messages of binomial broadcasts cross, and each cut of large ones.

    In the step of stride s, the largest first, member −r mod p sends to member −(r + s) mod p, for
    r = 0, 2s, 4s and so on. Members are the nodes that do not send on as much as they receive.
    """
    cube = network.routers
    assert isinstance(cube, Cube)
    ends = np.stack([np.unravel_index(end, cube.sides) for end in network_ends(network)])
    names = [
        "→".join("".join(map(str, end[::-1, each])) for end in ends)
        for each in range(ends.shape[2])
    ]
    for name, steps in _steps_of(rows, names).items():
        members = np.flatnonzero(sum(_kept(network, step.small) for step in steps.values()))
        ranks = len(members)
        for number, step in steps.items():
            stride = 2 ** max((ranks - 1).bit_length() - number, 0)
            first = np.arange(0, ranks - stride, 2 * stride)
            pair = members[-first % ranks], members[-(first + stride) % ranks]
            forth, back = _load(network, *pair), _load(network, *pair[::-1])
            small, large = (forth * there + back * again for there, again in PACKETS.values())
            for each in np.flatnonzero(small + step.small):
                what = f"{name}, step {number}, link {names[each]}"
                both = float(step.small[each]), float(small[each])
                yield CountedLinks(step.line, what, ranks, *both)
            for way, here in _cuts(ends, cube.sides):
                both = float(step.large[here].sum()), float(large[here].sum())
                if any(both):
                    what = f"{name}, step {number}, large messages, cut {way}"
                    yield CountedLinks(step.line, what, ranks, *both)


def network_ends(network: Topology) -> tuple[Ints, Ints]:
    """Return the nodes at which channels between routers begin and end."""
    return network.routers.channel_source, network.routers.channel_target


def _steps_of(rows: Rows, names: Sequence[str]) -> dict[str, dict[int, _Step]]:
    """Return the steps of each communicator, with the counts of channels of these names."""
    channel, found = {name: each for each, name in enumerate(names)}, dict[str, dict[int, _Step]]()
    for where, cells in rows:
        link = f"{cells['from_xyz']}→{cells['to_xyz']}"
        if link not in channel:
            raise InputError(where, f"no link '{link}'", f"one such as {names[0]}")
        steps, number = (
            found.setdefault(cells["communicator"], {}),
            int(_count(cells["step"], where)),
        )
        none = (np.zeros(len(names), np.int64) for _ in PACKETS)
        step = steps.setdefault(number, _Step(_line(where), *none))
        for size, counts in zip(PACKETS, step[1:], strict=True):
            counts[channel[link]] = _count(cells[size], where)
    return found


def _kept(network: Topology, packets: Ints) -> Bools:
    """Return which nodes do not send on as many packets as they receive."""
    sent, come = (np.bincount(end, packets, network.num_hosts) for end in network_ends(network))
    return np.asarray(sent != come)


def _cuts(ends: Ints, sides: Sequence[int]) -> Iterator[tuple[str, Bools]]:
    """Yield planes between nodes, in words, and the channels that cross each in one direction."""
    for axis, (begin, end) in enumerate(zip(*ends, strict=True)):
        for low in range(sides[axis]):
            for high in {(low + 1) % sides[axis], (low - 1) % sides[axis]}:
                yield f"{'zyx'[axis]} {low}→{high}", (begin == low) & (end == high)


def _finest_grid(network: Topology, rows: Rows) -> Iterator[CountedLinks]:
    """Yield the links that the finest grid of a multigrid solver uses, and how evenly.

    Its nodes send to their neighbours on the open mesh.
    """
    from netloom.topology import topology

    mesh = topology(network.name.replace("torus", "mesh"))
    load = _load(network, *network_ends(mesh))
    used, idle = int((load > 0).sum()), int((load == 0).sum())
    for where, cells in rows:
        if cells["region"].startswith("1 "):
            told = {name: _count(cells[name], where) for name in MULTIGRID[1:]}
            uneven = float(load.max() / load[load > 0].mean())
            for what, counted, predicted in (
                ("links inside the mesh that are used", used * (told["least"] > 0), used),
                ("wrap-around links that are idle", idle - told["wrap links used"], idle),
                ("packets of the most used link, by the mean", told["most"], told["mean"] * uneven),
                (
                    "packets of the least used link, by the mean",
                    told["least"],
                    told["mean"] / uneven,
                ),
            ):
                yield CountedLinks(
                    _line(where), what, network.num_nodes, float(counted), float(predicted)
                )
