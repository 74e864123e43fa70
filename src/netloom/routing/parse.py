"""Routings by name, where each fits, and the paths that a routing takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os.path import isfile
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Ints
from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.spec import split_spec, whole_number
from netloom.base.words import listed, or_near
from netloom.routing import rules
from netloom.routing.forwarding.engines import ENGINES, nue
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.routing.ragged import Paths
from netloom.routing.source_routing import SourceRoutes, Steps, read_routes, source_routes
from netloom.routing.virtual_channel_tables import RULES
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, TreeShape
from netloom.topology.faults import working_nodes

NETWORKS = {
    "mesh": "meshes, hypercubes", "torus": "rings and tori", "graph": "other networks of nodes",
    "tree": "fat trees, leaf-spines", "dragonfly": "dragonflies", "grid": "hosts on meshes or tori",
    "hyperx": "HyperX", "rest": "hosts on any other network",
}  # fmt: skip
"""Kinds of networks. In the first three, every node is its own router."""

USES = {
    "p": "analyze, analyze permutations, map, collective, compile collective, simulate flows",
    "s": "simulate load, saturation, trace, loop, pattern, transactions, broadcast",
    "m": "predict latency",
}
"""What a routing is taken by. A capital: it is the default there."""

TABLE = """
dimension-order[:0,1], xy, …      PSM  PSM  -    -    -    PSM  PSM  -
shortest-path                     psm  psm  PSM  psm  psm  psm  psm  psm
spread                            psm  psm  psm  psm  psm  psm  psm  PsM
up-down, layered                  psm  psm  psm  psm  psm  psm  psm  psm
ecmp[:SEED]                       psm  psm  psm  psm  psm  psm  psm  psm
ecmp-polarised[:SEED]             psm  psm  psm  psm  psm  psm  psm  psm
minimal                           p    p    p    psm  psm  psm  psm  pSm
valiant                           ps   ps   p    psm  psm  psm  psm  psm
d-mod-k                           -    -    -    PsM  -    -    -    -
s-mod-k                           -    -    -    psm  -    -    -    -
nca (random-up)                   -    -    -    pSm  -    -    -    -
nca-adaptive[:all] (anca)         -    -    -    s    -    -    -    -
minimal-group                     -    -    -    -    PSM  -    -    -
valiant-group                     -    -    -    -    psm  -    -    -
ugal-l[:threshold=T] (ugal)       -    -    -    s    s    s    s    s
ugal-g[:threshold=T]              -    -    -    s    s    s    s    s
par[:threshold=T]                 -    -    -    -    s    -    -    -
min-adaptive                      -    -    -    s    s    s    s    s
adaptive[:ties=+]                 s    s    -    -    -    s    -    -
adaptive-sticky-escape[:ties=+]   s    s    -    -    -    s    -    -
dimension-order-static-dateline   sm   sm   -    -    -    s    -    -
romm                              s    s    -    -    -    s    -    -
west-first, odd-even              s    -    -    -    -    -    -    -
negative-first                    s    -    -    -    -    -    -    -
o1turn, o1turn-adaptive           s    -    -    -    -    -    -    -
minhop, dnup, dor                 psm  psm  psm  psm  psm  psm  psm  psm
sssp, dfsssp, lash, nue[:LANES]   psm  psm  psm  psm  psm  psm  psm  psm
updn, ftree                       -    -    -    psm  -    -    -    -
torus-2qos                        psm  psm  -    -    -    psm  psm  -
"""
"""Routings, and what takes them on each of ``NETWORKS``. Options are in brackets, synonyms in
parentheses."""

NOTES = (
    f"With --engine {listed(['flow', *declared('engines')], last='or')}, simulate takes what p "
    "has. A routing that can deadlock on the VCs that there are is refused.",
    "fabric and route take OpenSM's engines (minhop to torus-2qos) and lfts:FILE; fabrics from "
    "files have minhop by default. updn and ftree fit wherever OpenSM would not fall back.",
    "routes:FILE fits any network, lfts:FILE any fabric with LIDs. Hosts on the routers of a mesh "
    "are simulated with what the mesh is.",
)


def rows() -> list[tuple[str, list[str]]]:
    """Return the names of each row of ``TABLE``, and its cells.

    Examples
    --------
    >>> rows()[0]
    ('dimension-order[:0,1], xy, …', ['PSM', 'PSM', '-', '-', '-', 'PSM', 'PSM', '-'])
    """
    found = []
    for line in TABLE.strip().split("\n"):
        words = line.split()
        names = len(words) - len(NETWORKS)
        found.append((" ".join(words[:names]), words[names:]))
    return found


NamedRouting: TypeAlias = rules.Rule
"""What ``parse_routing`` reads from the routing's own name."""

Routing: TypeAlias = NamedRouting | SourceRoutes | ForwardingTable

ROUTINGS = (
    "dimension-order, dimension-order:0,1, shortest-path, spread, ecmp, ecmp-polarised, ecmp:SEED, "
    "up-down, layered, d-mod-k, s-mod-k, nca, minimal, minimal-group, valiant, "
    f"valiant-group, OpenSM's {', '.join(ENGINES)}, nue:LANES, or routes:FILE, lfts:FILE"
)

SYNONYMS = {"anca": "nca-adaptive", "random-up": "nca", "ugal": "ugal-l"}
"""Other names of routings that are taken, and the name that answers have."""

SIMULATED = ("nca-adaptive", "ugal-l", "ugal-g", "par", "min-adaptive")
"""Routings that look at queues: packets' paths can be simulated, but are not known in advance."""

AXES = "xyz"
"""Names of the dimensions, the last one first."""

MOST_ROUTES = 2**21
"""Most pairs of nodes whose routes are listed."""


def named_here(name: str) -> bool:
    """Whether ``parse_routing`` knows a name, the argument taken off."""
    return SYNONYMS.get(name, name) in ("default", *names())


def names() -> tuple[str, ...]:
    """Return the names that ``parse_routing`` knows, without arguments."""
    return ("dimension-order", *_PLAIN, *_HASHED, *ENGINES, *_FILES)


def parse_routing(spec: str, topology: Topology) -> Routing:
    """Return the routing that ``spec`` names on this network.

    ``default`` is the choice of ``default_routing``. ``dimension-order:0,1`` corrects dimension 0
    first. ``up-down`` and ``layered`` fit any network: see ``UpDown`` and ``Layered``. ``d-mod-k``,
    ``s-mod-k`` and ``nca`` are for fat trees, ``minimal-group`` and ``valiant-group`` for
    dragonflies. ``routes:FILE`` reads one route per line, as does the name of a file alone. ``xy``,
    ``yx``, ``zyx`` ... are dimension orders, x being the last dimension, which is corrected first
    by default.

    Raises
    ------
    InputError
        If the name is not known or does not fit the network.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> str(parse_routing("default", mesh(4, 4)))
    'dimension-order'
    """
    name, argument = split_spec(spec)
    name = SYNONYMS.get(name, name)
    if name == "default":
        return default_routing(topology)
    name, argument = _dimensions(name, argument, topology)
    if name == "dimension-order":
        if topology.broken:
            wanted = "layered, which is dimension order but round what is broken, or up-down"
            raise InputError("routing", f"'{spec}' on {topology.name}", wanted)
        words = argument.split(",") if argument else []
        routing = rules.DimensionOrder(tuple(whole_number(word, where=spec) for word in words))
        routing.check(topology)
        return routing
    if name in _PLAIN and not argument:
        _PLAIN[name].check(topology)
        return _PLAIN[name]
    if name in _HASHED:
        seed = whole_number(argument, where=spec) if argument else rules.Ecmp().seed
        return rules.Ecmp(seed, polarised=_HASHED[name])
    if name in (*SIMULATED, *RULES):
        unknown = "a routing whose paths are not known in advance"
        limit = "netloom simulate saturation, whose limit holds whatever packets choose"
        raise InputError(f"routing '{spec}'", unknown, f"{limit}; or one of {ROUTINGS}")
    if name in ENGINES and not argument:
        return ENGINES[name](topology)
    if name == "nue":
        return nue(topology, whole_number(argument, where=f"routing '{spec}'", least=1))
    if name in _FILES:
        return _FILES[name](topology, argument)
    if isfile(spec):  # noqa: PTH113 (any words may be no path)
        return read_routes(topology, spec)
    raise InputError(f"routing '{spec}'", f"'{name}'", or_near(name, names(), ROUTINGS))


def default_routing(topology: Topology) -> Routing:
    """Return the routing of a network for which nobody named one.

    In a direct network: dimension order on k-ary n-cubes, or ``layered`` if something is broken,
    ``shortest-path`` on graphs, and ``spread`` elsewhere. If hosts hang on routers: ``d-mod-k`` on
    fat trees, ``minimal-group`` on dragonflies, and dimension order if the routers are a k-ary
    n-cube or a HyperX. Other such networks, and broken ones, get ``spread``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> str(default_routing(topology("fat-tree:4x3")))
    'd-mod-k'
    """
    if (topology.of_cards or topology).cabling is not None:
        return ENGINES["minhop"](topology)
    if topology.broken:
        return rules.Layered() if topology.direct else rules.Spread()
    if isinstance(topology.family, TreeShape):
        return rules.DModK()
    if isinstance(topology.family, DragonflyShape):
        return rules.MinimalGroup()
    if isinstance(topology.routers, Cube) or rules.is_hyperx(topology):
        return rules.DimensionOrder()
    graph = topology.direct and topology.name.startswith("graph:")
    return rules.ShortestPath() if graph else rules.Spread()


def _dimensions(name: str, argument: str, topology: Topology) -> tuple[str, str]:
    """Return ``xy``, ``yx``, ``zyx`` ... in our words. X is the last dimension, y the one before.

    Any other name stays what it is.
    """
    sides = topology.routers.sides if isinstance(topology.routers, Cube) else ()
    if argument or not 2 <= len(sides) <= len(AXES) or sorted(name) != sorted(AXES[: len(sides)]):
        return name, argument
    order = [len(sides) - 1 - AXES.index(axis) for axis in name]
    return "dimension-order", ",".join(map(str, order)) if name != AXES[: len(sides)] else ""


def paths(topology: Topology, routing: Routing, sources: ArrayLike, targets: ArrayLike) -> Paths:
    """Return the channels that packets from each source node to its target node cross.

    Under a routing by which a pair has several paths, these are all, with probabilities.

    Parameters
    ----------
    topology, routing
        The network and the routing.
    sources, targets
        int[num_paths] nodes. A pair of equal nodes has an empty path.

    Raises
    ------
    NoRouteError
        If the routing has no path for a pair.
    InputError
        If the pairs have more than ``rules.MOST_PATHS`` paths.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> net = mesh(3, 3)
    >>> row_first = paths(net, DimensionOrder(), [0], [8])
    >>> [net.channel_name(c) for c in row_first[0]]
    ['(0,0) -> (0,1)', '(0,1) -> (0,2)', '(0,2) -> (1,2)', '(1,2) -> (2,2)']
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    return routing.paths(topology, from_node, to_node)


def draw_paths(
    topology: Topology, routing: Routing, sources: ArrayLike, targets: ArrayLike, seed: int
) -> Paths:
    """Return one path of each pair, drawn as likely as the routing takes it.

    Under a routing of one path per pair, that is this path.

    Parameters
    ----------
    topology, routing
        The network and the routing.
    sources, targets
        int[num_paths] nodes. A pair of equal nodes has an empty path.
    seed
        Where chance comes from. Pairs draw one by one, so that a pair that comes twice has two
        paths.

    Raises
    ------
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    >>> from netloom.routing import Minimal
    >>> from netloom.topology import mesh
    >>> twice = draw_paths(mesh(2, 2), Minimal(), [0, 0, 0], [3, 3, 3], seed=1)
    >>> [path.tolist() for path in twice]
    [[0, 5], [0, 5], [4, 1]]
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    rng = np.random.default_rng(seed)
    if isinstance(routing, rules.Rule):
        return routing.drawn(topology, from_node, to_node, rng)
    return routing.paths(topology, from_node, to_node)


def all_routes(topology: Topology, routing: Routing) -> SourceRoutes:
    """Return the routes of all pairs of different nodes, none of them broken.

    Raises
    ------
    InputError
        If there are too many pairs, or they have several paths each.

    Examples
    --------
    >>> from netloom.routing import UpDown
    >>> from netloom.topology import mesh
    >>> all_routes(mesh(2, 2), UpDown()).routes
    <12 paths, 16 hops>
    """
    if routing.several:
        found = f"{routing}, by which pairs have several paths"
        raise InputError("routing", found, "a routing of one path per pair")
    sources, targets = all_pairs(topology, str(routing))
    pairs = sources.astype(np.int64) * topology.num_ends + targets
    return SourceRoutes(str(routing), pairs, paths(topology, routing, sources, targets))


def routes_by(
    topology: Topology,
    route: Callable[[Topology, int, int], Iterable[int | str]],
    *,
    name: str = "",
) -> SourceRoutes:
    """Return the routes that a Python function gives, of all pairs of different working nodes.

    Parameters
    ----------
    topology
        The network.
    route
        Called with the network, a source and a target. Returns the nodes that packets visit, the
        first the source, the last the target: vertices or names, as ``source_routes`` takes them.
    name
        What the routing is called. The function's name by default.

    Raises
    ------
    InputError
        If there are too many pairs, or a route does not lead where it should.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> def clockwise(network, source, target):
    ...     here = [source]
    ...     while here[-1] != target:
    ...         here.append((here[-1] + 1) % network.num_routers)
    ...     return here
    >>> routes_by(topology("ring:4"), clockwise).routes
    <12 paths, 24 hops>
    """
    called = name or getattr(route, "__name__", "") or type(route).__name__
    sources, targets = all_pairs(topology, called)
    visited, steps = [], Steps(topology)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        words = list(route(topology, source, target))
        nodes = [steps.step(word, f"routing {called}")[0] for word in words]
        if not nodes or nodes[0] != source or nodes[-1] != target:
            found = f"a route from {source} to {target} that visits {nodes}"
            wanted = f"nodes from {source} to {target}, both ends among them"
            raise InputError(f"routing {called}", found, wanted)
        visited.append(words)
    return source_routes(topology, visited, name=called)


def all_pairs(topology: Topology, routing: str) -> tuple[Ints, Ints]:
    """Return sources and targets of all pairs of different working nodes, if they are not many.

    Raises
    ------
    InputError
        If there are more than ``MOST_ROUTES``. ``routing`` is what they are for.
    """
    working = working_nodes(topology)
    if len(working) ** 2 > MOST_ROUTES:
        found, most = f"{len(working)} nodes", int(MOST_ROUTES**0.5)
        wanted = f"at most {most} for a table of the routes of all pairs"
        raise InputError(topology.name, f"{found} for routing '{routing}'", wanted)
    sources, targets = np.repeat(working, len(working)), np.tile(working, len(working))
    moving = sources != targets
    return sources[moving], targets[moving]


_ALL: list[NamedRouting] = [kind() for kind in rules.Named.__subclasses__()]
_ALL += [rules.Valiant(), rules.Valiant("groups")]
_PLAIN = {str(each): each for each in _ALL}

_FILES: dict[str, Callable[[Topology, str], Routing]] = {"lfts": read_lfts, "routes": read_routes}
"""What reads routings from files."""

_HASHED = {"ecmp": False, "ecmp-polarised": True}
