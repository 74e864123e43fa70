"""The cases of ``flows_and_flits``: networks, patterns and routers, and what runs of them find."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.routing import parse_routing, virtual_channel_routing
from netloom.simulation.flow import flow_network, run_flows
from netloom.simulation.network.routers import Router
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.replay import run_program
from netloom.topology import Cube, topology
from netloom.workload.programs.messages import Given, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology
    from netloom.workload.programs.messages import Messages
    from netloom_papers.studies.running import Case, Stopped

ROUTINGS = {
    "mesh": "dimension-order", "torus": "dimension-order", "hyperx": "dimension-order",
    "leaf-spine": "d-mod-k", "fat-tree": "d-mod-k", "xgft": "d-mod-k",
    "dragonfly": "minimal-group",
}  # fmt: skip
"""By family: each packet of a pair takes the same way, which flows take as well."""

NETWORKS = {
    "known": (
        "mesh:8x8", "torus:8x8", "leaf-spine:8x4x8", "fat-tree:4x3", "dragonfly:2x4x2",
        "hyperx:4x4/4",
    ),
    "judge": (
        "mesh:6x10", "torus:5x7", "mesh:4x12", "leaf-spine:6x3x5", "fat-tree:6x2", "xgft:4x6/1x3",
        "dragonfly:1x4x3", "hyperx:3x5/3",
    ),
}  # fmt: skip
"""Those on which the estimate of the error was made, and those that judge it."""

WHOLE = 2**20
"""More flits than any message has."""


class Switch(NamedTuple):
    """A router, and the longest packet."""

    vcs: int
    buffer_flits: int
    packet_flits: int


SWITCHES = {
    "packets": Switch(12, 32, 16),
    "2 VCs": Switch(2, 32, 16),
    "few credits": Switch(2, 4, 16),
    "worms": Switch(4, 16, 2048),
}
"""Routers by name: packets of 16 flits on 12 VCs of 32 flits, or on 2. On 2 VCs of 4 flits, which
do not fill a channel. One worm a message on 4 VCs of 16."""

MOST_CYCLES = 4_000_000

SHARINGS: dict[str, dict[str, Any]] = {
    "in order": {"injection": "in-order"},
    "shared": {"injection": "shared"},
    "lossless": {"injection": "in-order", "sharing": "lossless"},
}
"""How flows are run: hosts send messages in order, or all at once, or links share by turns."""

SHORT_FLITS, SOME, CROWD = 4, 8, 16


class Sent(NamedTuple):
    """Who sends what to whom, all at cycle 0, in the order of rows."""

    source: Ints
    target: Ints
    flits: Any


def _square(net: Topology) -> int:
    return int(np.sqrt(net.num_hosts))


def _plain(source: Any, target: Any, flits: Any) -> Sent:
    """Leave out what hosts would send to themselves."""
    other = source != target
    return Sent(source[other], target[other], flits[other] if np.ndim(flits) else flits)


def _permuted(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    return _plain(np.arange(net.num_hosts), rng.permutation(net.num_hosts), flits)


def _transposed(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    side = _square(net)
    hosts = np.arange(side * side)
    row, column = np.divmod(hosts, side)
    return _plain(hosts, column * side + row, flits)


def _complement(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts = np.arange(net.num_hosts)
    return _plain(hosts, hosts[::-1], flits)


def _tornado(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts = np.arange(net.num_hosts)
    ring = net.sides[-1] if isinstance(net, Cube) else net.num_hosts
    place = hosts % ring
    return _plain(hosts, hosts - place + (place + (ring + 1) // 2 - 1) % ring, flits)


def _incast(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    many = min(CROWD, net.num_hosts // 2)
    source = rng.choice(np.arange(1, net.num_hosts), many, replace=False)
    return Sent(source, np.zeros(many, np.int64), flits)


def _victims(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    crowd = _incast(net, rng, flits)
    rest = np.setdiff1d(np.arange(1, net.num_hosts), crowd.source)
    others = _plain(rest, rng.permutation(rest), flits)
    source = np.concatenate([crowd.source, others.source])
    return Sent(source, np.concatenate([crowd.target, others.target]), flits)


def _halo(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts = np.arange(net.num_hosts)
    sides = net.sides if isinstance(net, Cube) else (net.num_hosts,)
    wraps = net.wraps if isinstance(net, Cube) else (True,)
    source, target = [], []
    for side, wrap, step in _strides(sides, wraps):
        for way in (1, -1):
            place = hosts // step % side
            there = wrap | ((place + way >= 0) & (place + way < side))
            source.append(hosts[there])
            target.append((hosts + ((place + way) % side - place) * step)[there])
    return _plain(np.concatenate(source), np.concatenate(target), flits // 4)


def _strides(sides: Any, wraps: Any) -> Iterator[tuple[int, bool, int]]:
    step = 1
    for side, wrap in zip(reversed(sides), reversed(wraps), strict=True):
        yield side, bool(wrap), step
        step *= side


def _random(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    count = 3 * net.num_hosts
    source = rng.integers(0, net.num_hosts, count)
    target = (source + rng.integers(1, net.num_hosts, count)) % net.num_hosts
    return Sent(source, target, rng.integers(flits // 20, flits, count))


def _shifted(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts = np.arange(net.num_hosts)
    source, step = np.tile(hosts, net.num_hosts - 1), np.repeat(hosts[1:], net.num_hosts)
    return Sent(source, (source + step) % net.num_hosts, flits // 32)


def _one_order(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts = np.arange(net.num_hosts)
    return _plain(np.tile(hosts, net.num_hosts), np.repeat(hosts, net.num_hosts), flits // 32)


def _short(net: Topology, rng: np.random.Generator, _: int) -> Sent:
    source = np.repeat(np.arange(net.num_hosts), SOME)
    target = (source + rng.integers(1, net.num_hosts, len(source))) % net.num_hosts
    return Sent(source, target, SHORT_FLITS)


PATTERNS: dict[str, Callable[[Topology, np.random.Generator, int], Sent]] = {
    "permutation": _permuted,
    "transpose": _transposed,
    "bit complement": _complement,
    "tornado": _tornado,
    "incast": _incast,
    "incast, victims": _victims,
    "halo": _halo,
    "random": _random,
    "all-to-all, shifted": _shifted,
    "all-to-all, one order": _one_order,
    "short messages": _short,
}
"""Patterns by name. ``incast, victims``: those who are not part of the incast send to each other.
"""

PERMUTATIONS = 3


def cases(*, quick: bool) -> list[dict[str, Any]]:
    """Return all cases as plain data."""
    return [
        {
            "part": part,
            "on": spec,
            "pattern": pattern,
            "router": switch,
            "seed": seed,
            "flits": 2048,
        }
        for part, networks in NETWORKS.items()
        for spec in networks[: 1 if quick else None]
        for pattern in PATTERNS
        for seed in range(PERMUTATIONS if pattern == "permutation" else 1)
        for switch in list(SWITCHES)[: 2 if quick else None]
    ]


@cache
def _network(spec: str) -> Topology:
    return topology(spec)


def table_of(case: Case) -> Messages:
    """Return the messages of a case."""
    net = _network(case["on"])
    rng = np.random.default_rng([case["seed"], list(PATTERNS).index(case["pattern"])])
    sent = PATTERNS[case["pattern"]](net, rng, case["flits"])
    return messages(net.num_hosts, source=sent.source, target=sent.target, flits=sent.flits)


def simulated(case: Case, stopped: Stopped) -> dict[str, Any] | None:
    """Run a case flit by flit and as flows. None if it is to stop.

    Times of flows are those of bytes. What a message's head takes in the idle network of routers
    is added, so that a message alone takes as long in both.
    """
    net, table = _network(case["on"]), table_of(case)
    name, switch = ROUTINGS[case["on"].partition(":")[0]], SWITCHES[case["router"]]
    routing = virtual_channel_routing(net, name, num_vcs=switch.vcs)
    router = Router(vcs=switch.vcs, buffer_flits=switch.buffer_flits)
    network = ProgramNetwork(net, router, routing, switch.packet_flits, 0, 0)
    engine = network.make_engine()
    ending = run_program(
        engine, Given(table), step=20_000, most_cycles=MOST_CYCLES, stopped=stopped
    )
    if ending.interrupted:
        return None
    assert ending.enough
    arrived = engine.rows["arrived"].astype(np.float64)
    head = (network.zero_load_latencies(engine.rows) - table.flits).astype(np.float64)
    links = flow_network(net, latency=0.0)
    found: dict[str, Any] = {"end": float(arrived.max()), "messages": len(table)}
    for sharing, options in SHARINGS.items():
        run = run_flows(links, parse_routing(name, net), table, **options)
        found[sharing] = _compared(run.arrived + head, arrived)
        found["bound"] = float((run.link_sizes / links.capacity).max() + head.min())
    found["short"] = float(np.mean((table.flits < switch.packet_flits) | (table.flits < head)))
    return found


def _compared(said: Floats, true: Floats) -> dict[str, Any]:
    """Return the end, the error of single messages, and whether they differ alike."""
    alike = None
    if said.std() > 1e-9 * said.max() and true.std() > 0:
        alike = float(np.corrcoef(said, true)[0, 1])
    each = float(np.abs(said / true - 1).mean())
    return {"end": float(said.max()), "each": each, "alike": alike}
