"""Finish times that SimGrid 3.32 gave (Debian's libsimgrid-dev), for machines without it.

``data/simgrid.npz`` holds what SimGrid was given and when each flow ended: random flows on networks
of netloom's families and on arbitrary routes, and patterns on six of SimGrid's own clusters (its
routes, link by link). ``python -m tests.simulation.flow.recorded`` writes it anew.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.peers.simgrid import timed_run, zone

PLACE = Path(__file__).parent / "data" / "simgrid.npz"
NETWORKS = (
    "torus:4x4x4", "mesh:8x8", "fat-tree:4x3", "leaf-spine:8x8x8", "dragonfly:2x4x2",
    "hyperx:4x4/4", "jellyfish:32x5x3/1",
)  # fmt: skip
ZONES = {  # cluster of SimGrid: topology, topo_parameters, hosts
    "torus 3x2x2": ("TORUS", "3,2,2", 12),
    "fat tree 2;4,4;1,2;1,2": ("FAT_TREE", "2;4,4;1,2;1,2", 16),
    "torus 4x4x4": ("TORUS", "4,4,4", 64),
    "fat tree 3;4,4,4;1,4,4;1,1,1": ("FAT_TREE", "3;4,4,4;1,4,4;1,1,1", 64),
    "fat tree 2;8,8;1,4;1,1": ("FAT_TREE", "2;8,8;1,4;1,1", 64),
    "dragonfly 3,4;4,3;5,1;2": ("DRAGONFLY", "3,4;4,3;5,1;2", 120),
}
PATTERNS = ("all-to-all", "shift 1", "shift 5", "incast", "bit reversal")
MESSAGE_BYTES = 1_000_000


@dataclass(frozen=True)
class Flows:
    """Flows on routes over links, in bytes and seconds; what SimGrid says of their ends."""

    bandwidth: np.ndarray
    latency: np.ndarray
    offsets: np.ndarray
    links: np.ndarray
    start: np.ndarray
    route: np.ndarray
    size: np.ndarray
    rate: np.ndarray
    """The limit of each flow's rate, 0 where there is none."""
    weight: np.ndarray
    finish: np.ndarray | None = None
    finish_by_latency: np.ndarray | None = None
    """As SimGrid shares where links have latencies: each flow counts 1 / latency of its route."""

    @property
    def route_latency(self):
        """Latency of each flow's route."""
        return np.add.reduceat(self.latency[self.links], self.offsets[:-1])[self.route]

    def timed(self, **options):
        """Return SimGrid's ends, run now, and its CPU seconds."""
        return timed_run(
            self.bandwidth, self.latency, (self.offsets, self.links), self.start, self.route,
            self.size, rate=self.rate, **options,
        )  # fmt: skip

    def asked(self, *, by_latency=False):
        """Return the same with SimGrid's ends, run now."""
        weight = None if (self.weight == 1).all() else self.weight
        return replace(
            self,
            finish=self.timed(weight=weight)[0],
            finish_by_latency=self.timed(by_latency=True)[0] if by_latency else None,
        )


def on_network(spec, flows, seed, *, at_once=False, limited=False, weighed=False):
    """Return random flows between hosts: channels of 1 GB/s and 100 ns a cycle."""
    from netloom.routing import parse_routing, paths
    from netloom.topology import topology

    net = topology(spec)
    rng = np.random.default_rng(seed)
    source = rng.integers(0, net.num_hosts, flows)
    target = (source + rng.integers(1, net.num_hosts, flows)) % net.num_hosts
    found = paths(net, parse_routing("default", net), source, target).whole(net)
    assert found.pair is None, "one path a pair"
    bandwidth, latency = net.channel_bandwidth * 1e9, net.channel_cycles * 1e-7
    return _flows(rng, bandwidth, latency, found.offsets, found.channels, flows,
                  at_once=at_once, limited=limited, weighed=weighed)  # fmt: skip


def on_routes(links, routes, flows, seed, *, at_once=False, limited=False, weighed=False):
    """Return random flows over arbitrary routes of 1 to 6 links, all unlike in rate and latency."""
    rng = np.random.default_rng(seed)
    bandwidth = rng.integers(100, 25_000, links) * 1e6
    latency = rng.integers(50, 5_000, links) * 1e-9
    taken = [rng.choice(links, rng.integers(1, 7), replace=False) for _ in range(routes)]
    offsets = np.cumsum([0, *map(len, taken)])
    return _flows(rng, bandwidth, latency, offsets, np.concatenate(taken), flows,
                  at_once=at_once, limited=limited, weighed=weighed)  # fmt: skip


def _flows(rng, bandwidth, latency, offsets, links, flows, *, at_once, limited, weighed):
    """Return flows of 1 kB to 1 MB that take routes at random, in about the time that they need."""
    num_routes = len(offsets) - 1
    route = np.arange(flows) if num_routes == flows else rng.integers(0, num_routes, flows)
    size = rng.integers(1_000, 1_000_000, flows)
    steps = np.diff(offsets)
    load = np.zeros(len(bandwidth))
    bytes_of_route = np.bincount(route, size, num_routes)
    np.add.at(load, links, np.repeat(bytes_of_route, steps))
    nanoseconds = int((load / bandwidth).max() * 1e9)
    start = np.zeros(flows) if at_once else rng.integers(0, nanoseconds, flows) * 1e-9
    rate = np.zeros(flows)
    if limited:
        own = np.minimum.reduceat(bandwidth[links], offsets[:-1])[route]
        rate = np.where(rng.random(flows) < 0.5, np.floor(own * rng.uniform(0.02, 1.2, flows)), 0.0)
    weight = rng.integers(1, 5, flows) if weighed else np.ones(flows, int)
    return Flows(bandwidth, latency, np.asarray(offsets), np.asarray(links), start, route, size,
                 rate, weight)  # fmt: skip


def pairs_of(pattern, hosts):
    """Return source and target of each message of a pattern."""
    each = np.arange(hosts)
    if pattern == "all-to-all":
        source, target = np.divmod(np.arange(hosts * hosts), hosts)
    elif pattern.startswith("shift"):
        source, target = each, (each + int(pattern.split()[1])) % hosts
    elif pattern == "incast":
        source, target = each, np.zeros(hosts, int)
    else:
        bits = (hosts - 1).bit_length()
        source, target = each, np.array([int(f"{i:0{bits}b}"[::-1], 2) for i in each])
    there = (source != target) & (target < hosts)
    return source[there], target[there]


def in_zone(wires, hosts, pattern):
    """Return a pattern's messages of 1 MB, all at once, in one of SimGrid's clusters."""
    bandwidth, latency, (offsets, links) = wires
    source, target = pairs_of(pattern, hosts)
    none = np.zeros(len(source))
    return Flows(bandwidth, latency, offsets, links, none,
                 source * (hosts - 1) + target - (target > source),
                 np.full(len(source), MESSAGE_BYTES), none, np.ones(len(source), int))  # fmt: skip


def _random_cases():
    for seed, spec in enumerate(NETWORKS):
        yield f"{spec} over time", on_network(spec, 220, seed)
        yield f"{spec} at once", on_network(spec, 220, 100 + seed, at_once=True)
    for seed, size in enumerate(((10, 20, 300), (40, 200, 450), (200, 400, 450))):
        yield f"routes {seed} over time", on_routes(*size, 200 + seed)
        yield f"routes {seed} at once", on_routes(*size, 300 + seed, at_once=True)
    yield "limited over time", on_routes(40, 200, 500, 400, limited=True)
    yield "limited at once", on_network("torus:4x4x4", 300, 401, at_once=True, limited=True)
    yield "weighed over time", on_routes(40, 200, 450, 500, weighed=True)
    yield "weighed at once", on_network("torus:4x4x4", 300, 501, at_once=True, weighed=True)


ENDS = ("finish", "finish_by_latency")


@cache
def _file():
    with np.load(PLACE) as file:
        return dict(file)


def random_cases():
    """Return the names of the random cases."""
    return [key.split("|")[1] for key in _file() if key.startswith("random|") and "bytes" in key]


def random_case(name):
    """Return random flows, with SimGrid's ends."""
    file = {key.split("|")[2]: value for key, value in _file().items()
            if key.startswith(f"random|{name}|")}  # fmt: skip
    none = np.zeros(len(file["route"]))
    return Flows(
        bandwidth=file["bandwidth"].astype(np.float64),
        rate=file.get("rate", none).astype(np.float64),
        latency=file["latency_ns"] * 1e-9, start=file["start_ns"] * 1e-9,
        offsets=_offsets(file["steps"]), links=file["links"].astype(np.int64),
        route=file["route"].astype(np.int64), size=file["bytes"].astype(np.float64),
        weight=file.get("weight", none + 1).astype(np.int64), finish=file["finish"],
    )  # fmt: skip


def zone_case(name, pattern):
    """Return a pattern in one of SimGrid's clusters, with SimGrid's ends."""
    file = _file()
    wires = (file[f"zone|{name}|bandwidth"].astype(np.float64),
             file[f"zone|{name}|latency_ns"] * 1e-9,
             (_offsets(file[f"zone|{name}|steps"]), file[f"zone|{name}|links"].astype(np.int64)),
             )  # fmt: skip
    ends = {end: file[f"zone|{name}|{pattern}|{end}"][file[f"zone|{name}|{pattern}|{end}_of"]]
            for end in ENDS}  # fmt: skip
    return replace(in_zone(wires, ZONES[name][2], pattern), **ends)


def _offsets(steps):
    return np.concatenate(([0], np.cumsum(steps, dtype=np.int64)))


def _shortened(times):
    """Round times to 37 significant bits, 1e-11 relative: a file of less than 300 kB."""
    return ((times.view(np.int64) + (1 << 15)) >> 16 << 16).view(np.float64)


def _write():
    """Ask SimGrid for all, and write the file."""
    data = {}
    for name, case in _random_cases():
        case = case.asked()
        stored = {
            "bandwidth": case.bandwidth.astype(np.uint64),
            "latency_ns": np.rint(case.latency * 1e9).astype(np.uint16),
            "start_ns": np.rint(case.start * 1e9).astype(np.uint32),
            "steps": np.diff(case.offsets).astype(np.uint8),
            "links": case.links.astype(np.uint16),
            "route": case.route.astype(np.uint16),
            "bytes": case.size.astype(np.uint32),
            "finish": _shortened(case.finish),
        }
        if case.rate.any():
            stored["rate"] = case.rate.astype(np.uint64)
        if (case.weight > 1).any():
            stored["weight"] = case.weight.astype(np.uint8)
        data |= {f"random|{name}|{key}": value for key, value in stored.items()}
    for name, (kind, parameters, hosts) in ZONES.items():
        bandwidth, latency, (offsets, links) = wires = zone(kind, parameters, hosts)
        own = {
            "bandwidth": bandwidth.astype(np.uint64),
            "latency_ns": np.rint(latency * 1e9).astype(np.uint16),
            "steps": np.diff(offsets).astype(np.uint8),
            "links": links.astype(np.uint16),
        }
        for pattern in PATTERNS:
            case = in_zone(wires, hosts, pattern).asked(by_latency=True)
            for end in ENDS:  # symmetric flows end together
                values, which = np.unique(_shortened(getattr(case, end)), return_inverse=True)
                own[f"{pattern}|{end}"] = values
                own[f"{pattern}|{end}_of"] = which.astype(np.uint16)
        data |= {f"zone|{name}|{key}": value for key, value in own.items()}
    PLACE.parent.mkdir(exist_ok=True)
    np.savez_compressed(PLACE, **data)


if __name__ == "__main__":
    _write()
