"""Families of networks: trees, networks of stages, grids, and networks of few hops.

Each family is a function of the numbers of a spec by their names, such as leaves, spines and hosts
of ``leaf-spine:8x4x8``, and returns the network of this name. ``SPECS`` of
``netloom.topology.parse`` lists them, and reads the numbers, each at least 1.

References: Lawrie, *Access and alignment of data in an array processor*, IEEE Trans. Computers C-24
(1975), for Omega networks. Dally & Towles, *Principles and practices of interconnection networks*
(2004), chapter 4, have them as butterflies whose stages are drawn in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import NO_INT64S, Ints, offsets_of
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.words import counted
from netloom.topology.core import (
    DragonflyShape,
    Family,
    HyperXShape,
    StagesShape,
    Topology,
    TreeShape,
    attach_hosts,
)
from netloom.topology.cubes import cube

# -- numbers and links -----------------------------------------------------------------------------


MOST_VERTICES, MOST_CHANNELS = 2**22, 2**26
"""Most hosts and routers, and most channels, of a network with hosts apart from its routers.

Each vertex has a name, which takes more memory than the numbers of a channel.
"""


MOST_LEVELS = 32
"""Most levels of a tree, stages, and dimensions of a grid."""


def check_sizes(where: str, *, hosts: int, routers: int, channels: int) -> None:
    """Refuse a network with hosts apart from its routers that is too large, before it is made."""
    if hosts + routers > MOST_VERTICES:
        found = f"{hosts} hosts and {routers} routers"
        raise InputError(where, found, f"at most {MOST_VERTICES} together")
    if channels > MOST_CHANNELS:
        raise InputError(where, f"{channels} channels", f"at most {MOST_CHANNELS}")


def linked(name: str, num_routers: int, one: Ints, other: Ints, **more: Any) -> Topology:
    """Return routers joined by links, each of which is two channels. Sorted by source, then target.

    Parameters
    ----------
    name
        The spec string.
    num_routers
        Number of routers.
    one, other
        int[num_links], the two routers of each link. Links may be parallel.
    **more
        Other fields of ``Topology``.

    Examples
    --------
    >>> ring = linked("ring:3", 3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    >>> ring.channel_target.tolist()
    [1, 2, 0, 2, 0, 1]
    """
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((target, source))
    return Topology(
        name, num_routers, source[order].astype(np.int32), target[order].astype(np.int32), **more
    )


def hung(
    links: tuple[Ints, Ints],
    router_labels: tuple[str, ...],
    router_of_port: Ints,
    *,
    name: str,
    router_family: Family | None = None,
    **more: Any,
) -> Topology:
    """Return hosts that hang on linked routers of these labels. ``more`` are fields of the whole.

    Examples
    --------
    >>> hung((np.array([0]), np.array([1])), ("a", "b"), np.array([0, 1, 1]), name="pair")
    <pair: 3 hosts, 2 routers, 2 directed channels>
    """
    routers = linked(name, len(router_labels), *links, labels=router_labels, family=router_family)
    return attach_hosts(routers, router_of_port, name=name, **more)


# -- trees -----------------------------------------------------------------------------------------


def xgft(
    children: Sequence[int],
    parents: Sequence[int],
    parallel: Sequence[int] | None = None,
    *,
    name: str = "",
    level_names: Sequence[str] = (),
) -> Topology:
    """Return the extended generalized fat tree ``XGFT(h; m; w)``, with parallel links if given.

    Parameters
    ----------
    children
        m_1 … m_h: how many children a router of each level has. Level 1 is next to the hosts.
    parents
        w_1 … w_h: how many parents a vertex of the level below has. A host has one port to each.
    parallel
        p_1 … p_h: how many links join each child and parent, 1 by default.
    name
        The spec string. Made from the rest where it is not given.
    level_names
        What the routers of each level are called: ``leaf`` and ``spine`` in trees of two levels,
        ``s1.``, ``s2.`` … in others, if nothing is given. A number follows.

    Raises
    ------
    InputError
        If the lists differ in length, hold a number below 1, or the network would be too large.

    Examples
    --------
    >>> xgft([4, 4, 4], [1, 4, 4])
    <xgft:4x4x4/1x4x4: 64 hosts, 48 routers, 256 directed channels>
    """
    m, w = tuple(map(int, children)), tuple(map(int, parents))
    p = (1,) * len(m) if parallel is None else tuple(map(int, parallel))
    lists = [m, w] if parallel is None else [m, w, p]
    label = name or "xgft:" + "/".join("x".join(map(str, each)) for each in lists)
    if not m or not len(m) == len(w) == len(p) or min(*m, *w, *p) < 1:
        found = f"{len(m)} numbers of children, {len(w)} of parents, {len(p)} of parallel links"
        raise InputError(label, found, "as many of each, all of at least 1")
    if len(m) > MOST_LEVELS:
        raise InputError(label, f"{len(m)} levels", f"at most {MOST_LEVELS}")
    shape = TreeShape(m, w, p)
    hosts = shape.width(0)
    routers = [shape.width(level) for level in range(1, len(m) + 1)]
    links = [shape.width(level) * w[level] * p[level] for level in range(len(m))]
    check_sizes(label, hosts=hosts, routers=sum(routers), channels=2 * sum(links))
    lower, upper = zip(*(tree_links(shape, level) for level in range(len(m))), strict=True)
    first = offsets_of(routers)  # number of the first router of each level
    down = [NO_INT64S, *(lower[k] + first[k - 1] for k in range(1, len(m)))]
    up = [NO_INT64S, *(upper[k] + first[k] for k in range(1, len(m)))]
    names = level_names or (
        ("leaf", "spine") if len(m) == 2 else [f"s{level}." for level in range(1, len(m) + 1)]
    )
    links_inside = np.concatenate(down), np.concatenate(up)
    labels = tuple(f"{names[k]}{i}" for k, many in enumerate(routers) for i in range(many))
    inside = linked(label, sum(routers), *links_inside, labels=labels)
    labels = (*(f"h{host}" for host in range(hosts)), *labels)
    return attach_hosts(
        inside, upper[0], name=label, port_host=lower[0], labels=labels, family=shape
    )


def tree_links(shape: TreeShape, level: int) -> tuple[Ints, Ints]:
    """Return the places of child and parent of each link above a level, by child, then parent.

    The label of a vertex of level l, read as digits, is (high, a_{l+1}, low), low being b_l … b_1.
    Of its parents (high, b_{l+1}, low).
    """
    below = prod(shape.parents[:level])
    fan_in, fan_out = shape.children[level], shape.parents[level]
    child = np.arange(shape.width(level))
    high, low = child // (below * fan_in), child % below
    upper = (high[:, None] * fan_out + np.arange(fan_out)) * below + low[:, None]
    many = shape.parallel[level]
    return child.repeat(fan_out * many), upper.ravel().repeat(many)


def tree_ends(shape: TreeShape) -> tuple[Ints, Ints]:
    """Return the vertices of child and parent of each link, level by level as ``tree_links`` does.

    Hosts are numbered before routers, as the shape says that they stand.
    """
    widths = [shape.width(level) for level in range(shape.levels + 1)]
    vertex = np.arange(sum(widths))
    if shape.host_at is not None:
        vertex[: widths[0]] = shape.host_at
    if shape.router_at is not None:
        vertex[widths[0] :] = widths[0] + shape.router_at
    first = offsets_of(widths)
    links = [np.add(tree_links(shape, k), first[k : k + 2, None]) for k in range(shape.levels)]
    low, high = vertex[np.concatenate(links, axis=1)]
    return low, high


def fat_tree(*, name: str, ports: int = 0, levels: int = 0, k: int = 0) -> Topology:
    """Return the k-ary n-tree of ``4x3``, or of ``k=8`` three levels of switches of k ports.

    A k-ary n-tree has k^n hosts and n levels of k^(n-1) routers of k ports each way: Petrini &
    Vanneschi, *k-ary n-trees: high performance networks for massively parallel architectures*,
    1997. The k-port switches join k³/4 hosts in k pods: Al-Fares, Loukissas & Vahdat, *A scalable,
    commodity data center network architecture*, 2008.

    Raises
    ------
    InputError
        If the ports of a switch are not even, or the network would be too large.

    Examples
    --------
    >>> fat_tree(ports=4, levels=3, name="fat-tree:4x3"), fat_tree(k=4, name="fat-tree:k=4")
    (<fat-tree:4x3: 64 hosts, 48 routers, 256 directed channels>, \
<fat-tree:k=4: 16 hosts, 20 routers, 64 directed channels>)
    """
    if k:
        half = k // 2
        if k % 2:
            raise InputError(name, f"switches of {k} ports", "an even number of ports")
        kinds = ("edge", "aggregation", "core")
        return xgft((half, half, k), (1, half, half), name=name, level_names=kinds)
    if levels > MOST_LEVELS:
        raise InputError(name, f"{levels} levels", f"at most {MOST_LEVELS}")
    return xgft((ports,) * levels, (1, *(ports,) * (levels - 1)), name=name)


def leaf_spine(leaves: int, spines: int, hosts: int, cables: int = 1, *, name: str) -> Topology:
    """Return the tree of two levels of ``8x4x8/2``: leaves, spines, hosts per leaf, cables.

    Each leaf has that many links to each spine.

    Examples
    --------
    >>> leaf_spine(8, 4, 8, name="leaf-spine:8x4x8")
    <leaf-spine:8x4x8: 64 hosts, 12 routers, 64 directed channels>
    """
    return xgft((hosts, leaves), (1, spines), (1, cables), name=name)


def rail(
    units: int, computers: int, rails: int, spines: int, cables: int = 1, *, name: str
) -> Topology:
    """Return a rail-optimised network: NIC r of each computer of a unit hangs on leaf (unit, r).

    A computer (node) owns as many hosts, its NICs, as there are rails: host n · rails + r is NIC r
    of computer n. A unit has computers that follow each other. Leaf (u, r) is router u · rails + r.
    The spines follow, and each leaf is joined to each by ``cables`` links. It is a tree of two
    levels whose hosts are numbered computer by computer, not leaf by leaf.

    Raises
    ------
    InputError
        If the network would be too large.

    Examples
    --------
    >>> net = rail(2, 4, 8, 4, name="rail:2x4x8x4")
    >>> net, net.num_nodes, net.name_of(9), net.channel_name(net.num_network_channels + 9)
    (<rail:2x4x8x4: 64 hosts, 20 routers, 128 directed channels>, 8, 'n1.1', 'n1.1 -> u0rail1')
    """
    nodes, leaves = units * computers, units * rails
    hosts, channels = nodes * rails, 2 * (leaves * spines * cables + nodes * rails)
    check_sizes(name, hosts=hosts, routers=leaves + spines, channels=channels)
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    routers = [f"u{unit}rail{r}" for unit in range(units) for r in range(rails)]
    routers += [f"spine{i}" for i in range(spines)]
    node, nic = np.divmod(np.arange(hosts, dtype=np.int32), rails)
    # the place of a host in the tree: leaf by leaf, computers in order
    place = (node // computers * rails + nic) * computers + node % computers
    in_tree = np.argsort(place).astype(np.int32)
    return hung(
        (leaf.repeat(cables), (leaves + spine).repeat(cables)),
        tuple(routers),
        node // computers * rails + nic,
        name=name,
        family=TreeShape((computers, leaves), (1, spines), (1, cables), host_at=in_tree),
        labels=(*(f"n{n}.{r}" for n in range(nodes) for r in range(rails)), *routers),
        node_of_host=node,
        computer_labels=tuple(f"n{n}" for n in range(nodes)),
    )


# -- stages ----------------------------------------------------------------------------------------


def butterfly(ports: int, stages: int, *, name: str) -> Topology:
    """Return the k-ary n-fly of ``kxn``: k^n hosts, n stages of k^(n−1) routers, channels one way.

    Dally & Towles, *Principles and practices of interconnection networks*, 2004, chapter 4. Router
    s · k^(n−1) + i is router i of stage s. Host h injects at router h div k of the first stage and
    receives at router h div k of the last. Let i be written in base k. Router i of stage s leads to
    k routers of the next stage: those whose number is i with any digit at weight k^(n−2−s).

    Raises
    ------
    InputError
        If k is below 2, or the network would be too large.

    Examples
    --------
    >>> net = butterfly(2, 3, name="butterfly:2x3")
    >>> net, net.channel_target[:2]
    (<butterfly:2x3: 8 hosts, 12 routers, 16 directed channels>, array([4, 6], dtype=int32))
    """
    if ports < 2:
        found = f"{ports} ports and {stages} stages"
        raise InputError(name, found, "at least 2 ports and 1 stage")
    if stages > MOST_LEVELS:
        raise InputError(name, f"{stages} stages", f"at most {MOST_LEVELS}")
    width = ports ** (stages - 1)
    hosts, channels = ports * width, (stages + 1) * ports * width
    check_sizes(name, hosts=hosts, routers=stages * width, channels=channels)
    place = np.arange(width)
    source = np.arange((stages - 1) * width, dtype=np.int32).repeat(ports)
    target = np.zeros((stages - 1, width, ports), np.int32)
    for stage in range(1, stages):
        weight = ports ** (stages - 1 - stage)
        kept = place - place // weight % ports * weight
        target[stage - 1] = stage * width + kept[:, None] + weight * np.arange(ports)
    labels = tuple(f"s{stage}.{i}" for stage in range(stages) for i in range(width))
    family = StagesShape(ports, stages)
    joined = Topology(name, stages * width, source, target.ravel(), labels, family=family)
    first = np.arange(hosts) // ports
    return attach_hosts(joined, first, ejection=first + (stages - 1) * width, name=name)


FEWEST_PES, MOST_PES = 4, 65_536
"""Processing elements of an Omega network."""


@dataclass(frozen=True, eq=False, repr=False)
class Omega(Topology):
    """N processing elements (PEs), N memory modules and K = log_r N stages of N/r r × r switches.

    Hosts 0 … N − 1 are the PEs, N … 2N − 1 the modules. Router i·N/r + s is switch s of stage i.
    Stage 0 is next to the PEs. N lines lead into every stage, and N to the modules. A line
    enters a stage through a perfect shuffle in base r: line l at switch l mod N/r. Switch s has
    the lines r·s … r·s + r − 1 behind it. Each line is two channels: one for requests, towards the
    modules, and one for replies, back. Those of PEs and modules are their injection and ejection
    channels. Channels between switches are sorted by source, then target.

    A path is unique from a PE to a module, and its K + 1 channels, K − 1 of them between switches,
    are also the fewest hops.

    Attributes
    ----------
    pes
        N, a power of r from 4 to 65,536.
    switch_size
        r: 2, 4 or 8.
    stages
        K.
    """

    pes: int = 0
    switch_size: int = 0
    stages: int = 0

    def lines(self, pe: ArrayLike, module: ArrayLike) -> Ints:
        """Return the lines that a request uses, into each stage and to its module.

        At stage i it turns to output port d_i of its switch, which is digit K − 1 − i of its
        destination line D (Lawrie 1975, destination tags). So l_0 = x and l_{i+1} = (l_i mod N/r)·r
        + d_i. Line l_i is then the K digits from the i-th on of x·r^K + D, written with 2K digits
        in base r.

        They are int32[..., K + 1]. The last is D. A reply uses the same lines, last to
        first.

        Parameters
        ----------
        pe, module
            0 … N − 1 each. Whole numbers, or arrays that broadcast to one shape.

        Examples
        --------
        >>> net = omega(8)
        >>> net.lines(pe=1, module=6)
        array([1, 3, 7, 6], dtype=int32)
        """
        both = np.asarray(pe, np.int64) * self.pes + np.asarray(module, np.int64)
        bits = self.switch_size.bit_length() - 1
        shifts = bits * np.arange(self.stages, -1, -1)
        return ((both[..., None] >> shifts) & (self.pes - 1)).astype(np.int32)


def omega(pes: int, switch_size: int = 2) -> Omega:
    """Return the Omega network of ``pes`` PEs and as many memory modules.

    Raises
    ------
    InputError
        If the switch size is not 2, 4 or 8, or ``pes`` is not one of its powers from 4 to 65,536.

    Examples
    --------
    >>> omega(8)
    <omega:8: 16 hosts, 12 routers, 32 directed channels>
    >>> net = omega(8)
    >>> net.name_of(3), net.name_of(13), net.channel_name(0)  # PEs, memory modules, switches
    ('PE 3', 'MM 5', 'switch 0.0 -> switch 1.0')
    >>> omega(4096, switch_size=8).stages
    4
    """
    name = f"omega:{pes}" if switch_size == 2 else f"omega:{pes}/{switch_size}"
    stages = checked_stages(pes, switch_size, where=name)
    width = pes // switch_size
    line, step = np.arange(pes), width * np.arange(stages)[:, None]
    one, other = (step + line // switch_size)[:-1], (step + line % width)[1:]
    labels = tuple(f"switch {i}.{s}" for i in range(stages) for s in range(width))
    hosts = (*(f"PE {pe}" for pe in range(pes)), *(f"MM {module}" for module in range(pes)))
    last = (stages - 1) * width + line // switch_size
    ports = np.concatenate([line % width, last])
    links = one.ravel(), other.ravel()
    whole = hung(links, labels, ports, name=name, labels=(*hosts, *labels))
    given = {each.name: getattr(whole, each.name) for each in fields(Topology) if each.init}
    return Omega(**given, pes=pes, switch_size=switch_size, stages=stages)


def checked_stages(pes: int, switch_size: int, *, where: str = "") -> int:
    """Return K, where ``pes`` is the K-th power of the switch size. Refuse it where it is none.

    ``pes`` is N, ``switch_size`` r. Errors name ``where``, or the field itself by default.

    Raises
    ------
    InputError
        If the switch size is not 2, 4 or 8, or ``pes`` is not one of its powers from 4 to 65,536.

    Examples
    --------
    >>> checked_stages(4096, 8)
    4
    """
    if switch_size not in (2, 4, 8):
        raise InputError(where or "switch_size", f"switches of size {switch_size}", "2, 4 or 8")
    powers = [switch_size**exponent for exponent in range(1, 17)]
    allowed = [power for power in powers if FEWEST_PES <= power <= MOST_PES]
    if pes not in allowed:
        wanted = f"a power of {switch_size} from {allowed[0]} to {allowed[-1]}"
        raise InputError(where or "pes", f"{pes} PEs, with switches of size {switch_size}", wanted)
    return powers.index(pes) + 1


# -- grids -----------------------------------------------------------------------------------------


def hyperx(sides: Sequence[int], hosts: int, lanes: int = 1, *, name: str) -> Topology:
    """Return the HyperX of ``4x4/4/2``: routers that differ in one coordinate are joined.

    These are the sides, the hosts per router, and the links between two routers that are joined.

    Ahn et al., *HyperX: topology, routing, and packaging of efficient large-scale networks*, 2009.
    The k-ary n-flat (Kim, Dally & Abts, *Flattened butterfly*, 2007) has n − 1 sides of k, and k
    hosts per router. Routers are numbered row-major, and hosts router by router.

    Raises
    ------
    InputError
        If the network would be too large.

    Examples
    --------
    >>> net = hyperx([4, 4], 4, name="hyperx:4x4/4")
    >>> net, net.channel_name(0)
    (<hyperx:4x4/4: 64 hosts, 16 routers, 96 directed channels>, '(0,0) -> (0,1)')
    """
    if len(sides) > MOST_LEVELS:
        raise InputError(name, f"{len(sides)} sides", f"1 to {MOST_LEVELS}")
    routers = prod(sides)
    channels = routers * (lanes * sum(side - 1 for side in sides) + 2 * hosts)
    check_sizes(name, hosts=routers * hosts, routers=routers, channels=channels)
    grid = np.arange(routers).reshape(sides)
    links = [np.zeros((2, 0), np.int64)]
    for axis, side in enumerate(sides):
        along = np.moveaxis(grid, axis, -1)
        links += [np.stack([along[..., ends].ravel() for ends in np.triu_indices(side, 1)])]
    one, other = np.concatenate(links, axis=1).repeat(lanes, axis=1)
    shape, ports = HyperXShape(tuple(sides), lanes), np.arange(routers).repeat(hosts)
    return hung((one, other), coordinate_labels(sides), ports, name=name, router_family=shape)


def coordinate_labels(sides: Sequence[int]) -> tuple[str, ...]:
    """Return ``(row,column)`` of every place of a grid, row-major.

    Examples
    --------
    >>> coordinate_labels([1, 2])
    ('(0,0)', '(0,1)')
    """
    return tuple("(" + ",".join(map(str, place)) + ")" for place in np.ndindex(*sides))


def grid(
    sides: Sequence[int] = (), hosts: int = 0, *, name: str, length: int = 0, dimensions: int = 0
) -> Topology:
    """Return the mesh, torus, line, ring, hypercube, cube or twisted torus of a name.

    Behind its sides, its length or its dimensions may stand the hosts on each router.

    Raises
    ------
    InputError
        If the network would be too large.

    Examples
    --------
    >>> grid([8, 4], name="cube:8wx4").wraps, grid([4, 4], 4, name="mesh:4x4/4")
    ((True, False), <mesh:4x4/4: 64 hosts, 16 routers, 48 directed channels>)
    """
    plain = name.partition("/")[0]
    kind, _, shape = plain.partition(":")
    if dimensions > MOST_DIMENSIONS:
        raise InputError(name, f"{dimensions} dimensions", f"at most {MOST_DIMENSIONS}")
    sides = [length] if length else (2,) * dimensions or sides
    check_size(prod(sides), where=name, what="nodes")
    if hosts:
        check_sizes(name, hosts=hosts * prod(sides), routers=prod(sides), channels=0)
    if kind == "twisted-torus":
        routers = twisted_torus(sides, name=plain)
    elif kind == "cube":
        routers = cube(sides, [side.endswith("w") for side in shape.split("x")], name=plain)
    else:
        routers = cube(sides, kind in ("torus", "ring"), name=plain)
    return concentrated(routers, hosts) if hosts else routers


MOST_DIMENSIONS = 28
"""Most dimensions of a hypercube."""


def twisted_torus(sides: Sequence[int], *, name: str) -> Topology:
    """Return the torus of sides k and 2k whose wraps of side k also go k along sides of 2k.

    This is the rectangular twisted torus 2k × k of Cámara et al., *Twisted torus topologies for
    enhanced interconnection networks*, 2010. In three dimensions, k × k × 2k and k × 2k × 2k are
    those of Jouppi et al., *TPU v4: an optically reconfigurable supercomputer for machine learning
    with hardware support for embeddings*, 2023. Routers are numbered row-major. Each has a host, as
    in a torus.

    Raises
    ------
    InputError
        If there are not two or three sides, of k and of 2k, k at least 2, or it would be too large.

    Examples
    --------
    >>> net = twisted_torus([4, 2], name="twisted-torus:4x2")
    >>> net, [net.name_of(v) for v in net.channel_target[net.channel_source == 0]]
    (<twisted-torus:4x2: 8 nodes, 32 directed channels>, ['(0,1)', '(1,0)', '(2,1)', '(3,0)'])
    """
    short = min(sides)
    wanted = "two or three sides of k and 2k, both, such as 4x4x8, 4x8x8 or 8x4"
    if len(sides) not in (2, 3) or set(sides) != {short, 2 * short} or short < 2:
        raise InputError(name, f"sides {' x '.join(map(str, sides))}", wanted)
    many = prod(sides)
    check_sizes(name, hosts=many, routers=0, channels=2 * len(sides) * many)
    at = np.stack(np.unravel_index(np.arange(many), sides))
    ends = []  # of each router the one behind it, as one coordinate grows
    for axis, side in enumerate(sides):
        to = at.copy()
        to[axis] += 1
        closing = to[axis] == side
        to[axis, closing] = 0
        # a short dimension closes with a shift along the long ones
        long = [other for other in range(len(sides)) if side == short < sides[other]]
        to[np.ix_(long, closing)] = (to[np.ix_(long, closing)] + short) % (2 * short)
        ends.append(np.ravel_multi_index(tuple(to), sides))
    one = np.tile(np.arange(many), len(sides))
    return linked(name, many, one, np.concatenate(ends), labels=coordinate_labels(sides))


def concentrated(routers: Topology, hosts: int) -> Topology:
    """Return a direct network with ``hosts`` hosts on each router. Host h hangs on h div hosts.

    Raises
    ------
    InputError
        If there are no hosts, or the network would be too large.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> concentrated(mesh(4, 4), 4)
    <mesh:4x4/4: 64 hosts, 16 routers, 48 directed channels>
    """
    name, many = f"{routers.name}/{hosts}", routers.num_routers
    if hosts < 1:
        raise InputError(name, f"{hosts} hosts per router", "at least 1")
    channels = routers.num_channels + 2 * many * hosts
    check_sizes(name, hosts=many * hosts, routers=many, channels=channels)
    return attach_hosts(routers, np.arange(many).repeat(hosts), name=name)


# -- networks of few hops --------------------------------------------------------------------------


WIRINGS = ("absolute", "palmtree", "circulant")
"""Which group a global port leads to. ``absolute`` where nothing is said."""


def dragonfly(
    hosts: int, routers: int, global_: int, groups: int = 0, wiring: str = "absolute", *, name: str
) -> Topology:
    """Return the dragonfly of ``2x4x2/9/palmtree``: groups all joined, of routers all joined.

    Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008. Host
    h hangs on router h div p, router r is number r mod a of group r div a. ``global_links`` says
    how groups are joined. A balanced dragonfly has a = 2p = 2h.

    The numbers are p hosts per router, a routers per group, h global links per router. Behind
    slashes may stand g groups, at most a·h + 1, which is the default, and a wiring of ``WIRINGS``.
    Of fewer groups, any two are joined by a·h div (g − 1) links, and what is left of the global
    ports stays free.

    Raises
    ------
    InputError
        If groups are below 2 or above a·h + 1, there is no such wiring, or the network would be
        too large.

    Examples
    --------
    >>> dragonfly(2, 4, 2, name="dragonfly:2x4x2")
    <dragonfly:2x4x2: 72 hosts, 36 routers, 180 directed channels>
    >>> net = dragonfly(2, 4, 2, 5, name="dragonfly:2x4x2/5")
    >>> net.num_network_channels  # two links between any two groups
    100
    """
    return _in_groups(routers, 0, hosts, global_, groups, wiring, name=name)


def dragonfly_plus(
    leaves: int,
    spines: int,
    hosts: int,
    global_: int,
    groups: int = 0,
    wiring: str = "absolute",
    *,
    name: str,
) -> Topology:
    """Return a Dragonfly+ (Megafly): groups of leaves and spines, spines joined across groups.

    The numbers of ``4x4x4x4/9/palmtree`` are leaves and spines per group, hosts per leaf, and
    global links per spine, then groups and wiring as in ``dragonfly``.

    Shpiner et al., *Dragonfly+: low cost topology for scaling datacenters*, 2017. In a group each
    leaf is joined to each spine. Hosts hang on leaves, global links on spines. Router r is number
    r mod (leaves + spines) of its group, leaves first.

    Raises
    ------
    InputError
        As ``dragonfly`` does.

    Examples
    --------
    >>> dragonfly_plus(2, 2, 2, 2, name="dragonfly+:2x2x2x2")
    <dragonfly+:2x2x2x2: 20 hosts, 20 routers, 60 directed channels>
    """
    return _in_groups(leaves + spines, leaves, hosts, global_, groups, wiring, name=name)


def _in_groups(
    size: int, leaves: int, hosts: int, global_: int, groups: int, wiring: str, *, name: str
) -> Topology:
    """Return groups of so many routers: all joined, or the first of them leaves."""
    spines, bearing = size - leaves, leaves or size
    cables, ports = leaves * spines or size * (size - 1) // 2, spines * global_
    if wiring not in WIRINGS:
        raise InputError(name, f"wiring '{wiring}'", f"one of {', '.join(WIRINGS)}")
    if groups and not 2 <= groups <= ports + 1:
        wanted = f"2 to {ports + 1}, for {ports} global links per group"
        raise InputError(name, counted(groups, "group"), wanted)
    groups = groups or ports + 1
    channels = 2 * groups * (cables + ports + bearing * hosts)
    check_sizes(name, hosts=groups * bearing * hosts, routers=groups * size, channels=channels)
    low, high = np.triu_indices(size, 1)
    kinds = [f"r{i}" for i in range(size)]
    if leaves:
        low, high = np.divmod(np.arange(cables), spines)
        high += leaves
        kinds = [f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)]
    first = size * np.arange(groups)[:, None]
    links = [
        np.append(first + inside, each // ports * size + leaves + each % ports // global_)
        for inside, each in zip((low, high), global_links(groups, ports, wiring), strict=True)
    ]
    labels = tuple(f"g{group}{kind}" for group in range(groups) for kind in kinds)
    of_hosts = (first + np.arange(bearing)).ravel().repeat(hosts)
    shape = DragonflyShape(groups, size, global_, leaves)
    return hung((links[0], links[1]), labels, of_hosts, name=name, router_family=shape)


def global_links(groups: int, ports: int, wiring: str) -> tuple[Ints, Ints]:
    """Return the two ports of each link between groups. Port j of group i is i · ports + j.

    Ports 0 … g − 2 of a group lead to the other groups in the order of the wiring, the next
    g − 1 again, and so on. Ports that are left when no full round fits stay free. Port j of group
    i leads to

    - ``absolute``: group j, or j + 1 from j = i on (as BookSim's ``dragonflynew`` and SST do)
    - ``palmtree``: group i − j − 1 modulo g
    - ``circulant``: groups i + 1, i − 1, i + 2, i − 2 … modulo g

    and arrives at the port that leads back. See Camarero, Vallejo & Beivide, *Topological
    characterization of Hamming and dragonfly networks and its implications on routing*, 2014, and
    Hastings et al., *Comparing global link arrangements for dragonfly networks*, 2015.

    Examples
    --------
    >>> one, other = global_links(3, 2, "absolute")
    >>> one.tolist(), other.tolist()  # groups 0 and 1, 0 and 2, 1 and 2
    ([0, 1, 3], [2, 4, 5])
    """
    others = groups - 1
    group, turn = np.divmod(np.arange(groups * others), others)
    if wiring == "absolute":
        to = turn + (turn >= group)
        back = group - (group > to)
    elif wiring == "palmtree":
        to = (group - turn - 1) % groups
        back = others - 1 - turn
    else:
        away = turn // 2 + 1
        to = (group + np.where(turn % 2 == 0, away, -away)) % groups
        back = np.where(turn + 1 - turn % 2 * 2 < others, turn + 1 - turn % 2 * 2, turn)
    once = group < to
    rounds = others * np.arange(ports // others)[:, None]
    one = (group * ports + turn)[once] + rounds
    other = (to * ports + back)[once] + rounds
    return one.ravel(), other.ravel()


class Field(NamedTuple):
    """GF(q): elements 0 … q − 1, written as polynomials of digits in base p. Q = p^m.

    Attributes
    ----------
    plus, times
        int64[q, q], the tables of addition and multiplication.
    powers
        int64[q − 1], the powers ξ^0, ξ^1 … of a primitive element.
    """

    plus: Ints
    times: Ints
    powers: Ints


def prime_power(q: int) -> tuple[int, int] | None:
    """Return p and m of q = p^m with a prime p. None if q is no power of a prime.

    Examples
    --------
    >>> prime_power(27), prime_power(12), prime_power(1)
    ((3, 3), None, None)
    """
    prime = next((p for p in range(2, int(q**0.5) + 1) if q % p == 0), q)
    exponent, left = 0, q
    while left > 1 and left % prime == 0:
        left, exponent = left // prime, exponent + 1
    return (prime, exponent) if exponent and left == 1 else None


def field(prime: int, exponent: int) -> Field:
    """Return the field of prime^exponent elements.

    Its modulus is the first monic polynomial, coefficients counted up, of which x is a primitive
    root. In a field of p elements the primitive element is the least one.

    Examples
    --------
    >>> field(2, 2).times[2].tolist(), field(5, 1).powers.tolist()
    ([0, 2, 3, 1], [1, 2, 4, 3])
    """
    q = prime**exponent
    places = prime ** np.arange(exponent)
    digits = np.arange(q)[:, None] // places % prime
    powers = _powers(prime, exponent)
    log = np.zeros(q, np.int64)
    log[powers] = np.arange(q - 1)
    times = powers[(log[:, None] + log) % (q - 1)]
    times[0] = times[:, 0] = 0
    plus = np.zeros((q, q), np.int64)
    for place in range(exponent):
        plus += (digits[:, None, place] + digits[None, :, place]) % prime * places[place]
    return Field(plus, times, powers)


def _powers(prime: int, exponent: int) -> Ints:
    q = prime**exponent
    if exponent == 1:
        for root in range(1, q):
            found = [pow(root, k, q) for k in range(q - 1)]
            if len(set(found)) == q - 1:
                return np.array(found)
    for low in product(range(prime), repeat=exponent):
        # x^m = -(low_{m-1} ... low_0), and multiplying by x moves digits up by one place
        element, found = [1] + [0] * (exponent - 1), []
        for _ in range(q - 1):
            found.append(sum(digit * prime**place for place, digit in enumerate(element)))
            top = element[-1]
            element = [
                (before - top * coefficient) % prime
                for before, coefficient in zip([0, *element[:-1]], low[::-1], strict=True)
            ]
        if len(set(found)) == q - 1 and 0 not in found:
            return np.array(found)
    raise AssertionError(f"no primitive element of GF({q})")


def slim_fly(q: int, hosts: int, *, name: str) -> Topology:
    """Return the Slim Fly of ``q/hosts``: 2q² routers of (3q − δ)/2 links, q = 4w + δ.

    q is a power of a prime, at least 3. Hosts are those of each router.

    The network is that of Besta & Hoefler, *Slim Fly: a cost effective low-diameter network
    topology*, 2014. The graphs are by McKay, Miller & Širáň, *A note on large graphs of diameter
    two and given maximum degree*, 1998. The sets for δ = 0 and −1 are from Hafner, *Geometric
    realisation of the graphs of McKay–Miller–Širáň*, 2004. Router (0, x, y) has number x·q + y,
    router (1, m, c) q² + m·q + c. Routers (0, x, y) and (0, x, y') are joined if y − y' is in X.
    Routers (1, m, c) and (1, m, c') are joined if c − c' is in X', and (0, x, y) and (1, m, c) if y
    = m·x + c. See ``generators``. Host h hangs on router h div ``hosts``. Half as many hosts as
    links, rounded up, are a balanced network.

    Raises
    ------
    InputError
        If there is no Slim Fly of this q, or the network would be too large.

    Examples
    --------
    >>> slim_fly(5, 4, name="slim-fly:5/4")
    <slim-fly:5/4: 200 hosts, 50 routers, 350 directed channels>
    """
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=3 * q**3)
    found = prime_power(q)
    if found is None or q < 3:
        raise InputError(name, f"q = {q}", "a power of a prime from 3, such as 4, 5, 7, 8, 9 or 11")
    plus, times, powers = field(*found)
    one, other = [], []
    every = np.arange(q)
    for side, steps in enumerate(generators(powers)):
        low = np.repeat(every, len(steps))
        high = plus[every[:, None], steps].ravel()
        once = low < high  # X = −X, so each link is found from both of its ends
        rows = side * q * q + q * every[:, None]
        one.append((rows + low[once]).ravel())
        other.append((rows + high[once]).ravel())
    x, m, c = (each.ravel() for each in np.meshgrid(every, every, every, indexing="ij"))
    one.append(x * q + plus[times[m, x], c])
    other.append(q * q + m * q + c)
    channels = 2 * sum(map(len, one)) + 4 * q * q * hosts
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=channels)
    labels = tuple(f"({s},{x},{y})" for s in (0, 1) for x in range(q) for y in range(q))
    links = np.concatenate(one), np.concatenate(other)
    return hung(links, labels, np.arange(2 * q * q).repeat(hosts), name=name)


def generators(powers: Ints) -> tuple[Ints, Ints]:
    """Return the sets X and X' of GF(q), given the powers ξ^0 … ξ^(q−2) of a primitive element.

    Even and odd powers for q = 4w + 1. For q = 4w as many of each, ξ^(q−1) being 1. For
    q = 4w − 1 even powers up to 2w − 2 and odd ones from 2w − 1 for X, those of ξ times it for X'.

    Examples
    --------
    >>> generators(np.array([1, 2, 4, 3]))
    (array([1, 4]), array([2, 3]))
    """
    q = len(powers) + 1
    if q % 4 == 3:
        half = (q + 1) // 2  # 2w
        even = np.concatenate([np.arange(0, half, 2), np.arange(half - 1, q - 1, 2)])
    else:
        even = np.arange(0, q - 1, 2)
    return powers[even], powers[(even + 1) % (q - 1)]


MOST_RANDOM_LINKS = 2**20
"""Most links that are drawn at random: they are drawn one by one."""

TRIES = 100


def jellyfish(
    routers: int, links: int, hosts: int, seed: int | None = None, *, name: str
) -> Topology:
    """Return the random network of ``32x5x3/1``: every router has as many links, none parallel.

    The numbers are routers, links and hosts of each. Behind a slash stands the seed, 1 if not said.

    Singla, Hong, Popa & Godfrey, *Jellyfish: networking data centers randomly*, 2012. The links
    are those of NetworkX, ``random_regular_graph(degree, routers, seed=Random(seed))`` (Steger &
    Wormald, *Generating random regular graphs quickly*, 1999), drawn on from the same stream until
    the network is connected. Host h hangs on router h div ``hosts``.

    Raises
    ------
    InputError
        If no network has these numbers, none that was drawn is connected, or it would be too large.

    Examples
    --------
    >>> jellyfish(32, 5, 3, name="jellyfish:32x5x3")
    <jellyfish:32x5x3/1: 96 hosts, 32 routers, 160 directed channels>
    """
    import networkx as nx

    if seed is None:
        seed, name = 1, f"{name}/1"
    channels = routers * (links + 2 * hosts)
    check_sizes(name, hosts=routers * hosts, routers=routers, channels=channels)
    if links >= routers or routers * links % 2:
        found = f"{routers} routers of {links} links each"
        raise InputError(name, found, "fewer links than routers, their product even")
    if routers * links // 2 > MOST_RANDOM_LINKS:
        found = f"{routers * links // 2} links"
        raise InputError(name, found, f"at most {MOST_RANDOM_LINKS} drawn at random")
    draw = Random(seed)  # noqa: S311  # no secret depends on it
    for _ in range(TRIES):
        graph = nx.random_regular_graph(links, routers, seed=draw)
        if nx.is_connected(graph):
            break
    else:
        found = f"no connected network among {TRIES} that were drawn"
        raise InputError(name, found, "at least 3 links for each router")
    one, other = np.array(sorted(map(sorted, graph.edges)), np.int64).reshape(-1, 2).T
    joined = linked(name, routers, one, other)
    return attach_hosts(joined, np.arange(routers).repeat(hosts), name=name)
