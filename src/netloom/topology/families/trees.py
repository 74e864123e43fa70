"""Trees of switches: k-ary n-trees, leaf and spine, rails.

Fat trees: k-ary n-trees, extended generalized fat trees with parallel links, leaf–spine.

Rail-optimised networks: the NICs of a computer hang on different leaves, one for each rail.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, TreeShape, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints


MOST_LEVELS = 32


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
    first = np.append(0, np.cumsum(routers))  # number of the first router of each level
    down = [np.zeros(0, np.int64), *(lower[k] + first[k - 1] for k in range(1, len(m)))]
    up = [np.zeros(0, np.int64), *(upper[k] + first[k] for k in range(1, len(m)))]
    names = level_names or (
        ("leaf", "spine") if len(m) == 2 else [f"s{level}." for level in range(1, len(m) + 1)]
    )
    inside = linked(
        label, sum(routers), np.concatenate(down), np.concatenate(up),
        labels=tuple(f"{names[k]}{i}" for k, many in enumerate(routers) for i in range(many)),
    )  # fmt: skip
    labels = (*(f"h{host}" for host in range(hosts)), *inside.labels)
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
    first = np.cumsum([0, *widths])
    links = [np.add(tree_links(shape, k), first[k : k + 2, None]) for k in range(shape.levels)]
    low, high = vertex[np.concatenate(links, axis=1)]
    return low, high


def leaf_spine(leaves: int, spines: int, hosts: int, cables: int = 1) -> Topology:
    """Return a tree of two levels: each leaf has ``hosts`` hosts and ``cables`` links per spine.

    Examples
    --------
    >>> leaf_spine(8, 4, 8)
    <leaf-spine:8x4x8: 64 hosts, 12 routers, 64 directed channels>
    """
    name = f"leaf-spine:{leaves}x{spines}x{hosts}" + (f"/{cables}" if cables > 1 else "")
    return xgft((hosts, leaves), (1, spines), (1, cables), name=name)


def k_ary_n_tree(k: int, n: int) -> Topology:
    """Return the k-ary n-tree: k^n hosts, n levels of k^(n-1) routers of k ports each way.

    Petrini & Vanneschi, *k-ary n-trees: high performance networks for massively parallel
    architectures*, 1997.

    Examples
    --------
    >>> k_ary_n_tree(4, 3)
    <fat-tree:4x3: 64 hosts, 48 routers, 256 directed channels>
    """
    name = f"fat-tree:{k}x{n}"
    if n > MOST_LEVELS:
        raise InputError(name, f"{n} levels", f"at most {MOST_LEVELS}")
    return xgft((k,) * n, (1, *(k,) * (n - 1)), name=name)


def clos_of_switches(k: int) -> Topology:
    """Return the fat tree of three levels of k-port switches: k³/4 hosts in k pods.

    Al-Fares, Loukissas & Vahdat, *A scalable, commodity data center network architecture*, 2008.

    Raises
    ------
    InputError
        If k is not even.

    Examples
    --------
    >>> clos_of_switches(4)
    <fat-tree:k=4: 16 hosts, 20 routers, 64 directed channels>
    """
    name, half = f"fat-tree:k={k}", k // 2
    if k < 2 or k % 2:
        raise InputError(name, f"switches of {k} ports", "an even number of ports")
    levels = ("edge", "aggregation", "core")
    return xgft((half, half, k), (1, half, half), name=name, level_names=levels)


def fat_tree_of(argument: str, spec: str) -> Topology:
    """Read ``4x3``, k and n of a k-ary n-tree, or ``k=8``, the ports of a switch."""
    if argument.startswith("k="):
        return clos_of_switches(whole_number(argument[2:], where=spec))
    wanted = "k and n, such as fat-tree:4x3, or switches of k ports, such as fat-tree:k=8"
    return k_ary_n_tree(*numbers(argument, where=spec, count=2, wanted=wanted))


def xgft_of(argument: str, spec: str) -> Topology:
    """Read ``4x4x4/1x2x4/1x1x2``: children, parents and parallel links, from the hosts up."""
    wanted = "xgft:4x4x4/1x2x4, or with /1x1x2 parallel links"
    lists = parts(argument, where=spec, least=2, most=3, wanted=wanted)
    return xgft(*(numbers(each, where=spec, wanted=wanted) for each in lists))


def leaf_spine_of(argument: str, spec: str) -> Topology:
    """Read ``8x4x8/2``: leaves, spines, hosts per leaf. Cables between a leaf and a spine."""
    wanted = "leaves, spines and hosts per leaf, such as leaf-spine:8x4x8"
    shape, *cables = parts(argument, where=spec, most=2, wanted=wanted)
    many = [whole_number(word, where=spec, least=1) for word in cables]
    return leaf_spine(*numbers(shape, where=spec, count=3, wanted=wanted), *many)


def rail(units: int, computers: int, rails: int, spines: int, cables: int = 1) -> Topology:
    """Return a rail-optimised network: NIC r of each computer of a unit hangs on leaf (unit, r).

    A computer (node) owns as many hosts, its NICs, as there are rails: host n · rails + r is NIC r
    of computer n, which belongs to unit n div ``computers``. Leaf (u, r) is router u · rails + r.
    The spines follow, and each leaf is joined to each. It is a tree of two levels whose hosts are
    numbered computer by computer, not leaf by leaf.

    Parameters
    ----------
    units
        Scalable units.
    computers
        Computers in a unit.
    rails
        NICs of a computer, and leaves of a unit.
    spines
        Spines.
    cables
        Links between a leaf and a spine.

    Raises
    ------
    InputError
        If a number is below 1, or the network would be too large.

    Examples
    --------
    >>> net = rail(2, 4, 8, 4)
    >>> net, net.num_nodes, net.name_of(9), net.channel_name(net.num_network_channels + 9)
    (<rail:2x4x8x4: 64 hosts, 20 routers, 128 directed channels>, 8, 'n1.1', 'n1.1 -> u0rail1')
    """
    name = f"rail:{units}x{computers}x{rails}x{spines}" + (f"/{cables}" if cables != 1 else "")
    at_least_one(name, "units, computers per unit, rails, spines and cables",
                 units, computers, rails, spines, cables)  # fmt: skip
    nodes, leaves = units * computers, units * rails
    check_sizes(
        name, hosts=nodes * rails, routers=leaves + spines,
        channels=2 * (leaves * spines * cables + nodes * rails),
    )  # fmt: skip
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    names = [f"u{unit}rail{r}" for unit in range(units) for r in range(rails)]
    joined = linked(
        name, leaves + spines, leaf.repeat(cables), (leaves + spine).repeat(cables),
        labels=(*names, *(f"spine{i}" for i in range(spines))),
    )  # fmt: skip
    node, nic = np.divmod(np.arange(nodes * rails, dtype=np.int32), rails)
    # the place of a host in the tree: leaf by leaf, computers in order
    place = (node // computers * rails + nic) * computers + node % computers
    shape = TreeShape(
        (computers, leaves), (1, spines), (1, cables), host_at=np.argsort(place).astype(np.int32)
    )
    return attach_hosts(
        joined, node // computers * rails + nic, name=name, family=shape,
        labels=(*(f"n{n}.{r}" for n in range(nodes) for r in range(rails)), *joined.labels),
        node_of_host=node, computer_labels=tuple(f"n{n}" for n in range(nodes)),
    )  # fmt: skip


def rail_of(argument: str, spec: str) -> Topology:
    """Read ``2x4x8x4``: units, computers per unit, rails, spines. Cables behind a slash."""
    wanted = "units, computers per unit, rails and spines, such as rail:2x4x8x4"
    shape, *cables = parts(argument, where=spec, most=2, wanted=wanted)
    many = [whole_number(word, where=spec, least=1) for word in cables]
    return rail(*numbers(shape, where=spec, count=4, wanted=wanted), *many)
