"""Networks of few hops: Dragonfly, Slim Fly, Jellyfish.

Dragonflies: groups of routers, all groups joined by global links.

Arithmetic in fields of a prime power of elements, as tables.

Slim Fly: networks of diameter two, close to the most routers that such a network can have.

Jellyfish: random regular networks.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import DragonflyShape, Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


Wiring: TypeAlias = Literal["absolute", "palmtree", "circulant"]


WIRINGS: tuple[Wiring, ...] = ("absolute", "palmtree", "circulant")
"""Which group a global port leads to. ``absolute`` where nothing is said."""


def dragonfly(
    hosts: int, routers: int, globals_: int, groups: int = 0, wiring: Wiring = "absolute"
) -> Topology:
    """Return a dragonfly: groups of routers that are all joined, and all groups joined.

    Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008. Host
    h hangs on router h div p, router r is number r mod a of group r div a. ``global_links`` says
    how groups are joined. A balanced dragonfly has a = 2p = 2h.

    Parameters
    ----------
    hosts, routers, globals_
        p hosts per router, a routers per group, h global links per router.
    groups
        g, at most a·h + 1, which is the default. Of fewer groups, any two are joined by
        a·h div (g − 1) links, and what is left of the global ports stays free.
    wiring
        ``absolute``, ``palmtree`` or ``circulant``.

    Raises
    ------
    InputError
        If a number is below 1, groups are below 2 or above a·h + 1, there is no such wiring, or
        the network would be too large.

    Examples
    --------
    >>> dragonfly(2, 4, 2)
    <dragonfly:2x4x2: 72 hosts, 36 routers, 180 directed channels>
    >>> dragonfly(2, 4, 2, groups=5).num_network_channels  # two links between any two groups
    100
    """
    name = _named(f"dragonfly:{hosts}x{routers}x{globals_}", groups, wiring)
    at_least_one(name, "hosts per router, routers per group, global links per router",
                 hosts, routers, globals_)  # fmt: skip
    groups = _groups(name, routers * globals_, groups)
    all_routers = routers * groups
    inside = groups * routers * (routers - 1) // 2
    check_sizes(
        name, hosts=all_routers * hosts, routers=all_routers,
        channels=2 * (inside + all_routers * (globals_ + hosts)),
    )  # fmt: skip
    low, high = np.triu_indices(routers, 1)
    first = routers * np.arange(groups)[:, None]
    one, other = global_links(groups, routers * globals_, wiring)
    one, other = one // globals_, other // globals_  # ports are numbered group by group
    joined = linked(
        name, all_routers,
        np.concatenate([(first + low).ravel(), one]),
        np.concatenate([(first + high).ravel(), other]),
        labels=tuple(f"g{group}r{r}" for group in range(groups) for r in range(routers)),
        family=DragonflyShape(groups, routers, globals_),
    )  # fmt: skip
    return attach_hosts(joined, np.arange(all_routers).repeat(hosts), name=name)


def dragonfly_plus(
    leaves: int,
    spines: int,
    hosts: int,
    globals_: int,
    groups: int = 0,
    wiring: Wiring = "absolute",
) -> Topology:
    """Return a Dragonfly+ (Megafly): groups of leaves and spines, spines joined across groups.

    Shpiner et al., *Dragonfly+: low cost topology for scaling datacenters*, 2017. In a group each
    leaf is joined to each spine. Hosts hang on leaves, global links on spines. Router r is number
    r mod (leaves + spines) of its group, leaves first.

    Parameters
    ----------
    leaves, spines
        Of each group.
    hosts
        Hosts per leaf.
    globals_
        Global links per spine.
    groups
        g, at most spines · globals_ + 1, which is the default. As in ``dragonfly``.
    wiring
        As in ``dragonfly``.

    Raises
    ------
    InputError
        As ``dragonfly`` does.

    Examples
    --------
    >>> dragonfly_plus(2, 2, 2, 2)
    <dragonfly+:2x2x2x2: 20 hosts, 20 routers, 60 directed channels>
    """
    name = _named(f"dragonfly+:{leaves}x{spines}x{hosts}x{globals_}", groups, wiring)
    at_least_one(name, "leaves and spines per group, hosts per leaf, global links per spine",
                 leaves, spines, hosts, globals_)  # fmt: skip
    groups = _groups(name, spines * globals_, groups)
    size = leaves + spines
    check_sizes(
        name, hosts=groups * leaves * hosts, routers=groups * size,
        channels=2 * groups * (leaves * spines + leaves * hosts + spines * globals_),
    )  # fmt: skip
    first = size * np.arange(groups)[:, None]
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    ends = [
        each // (spines * globals_) * size + leaves + each % (spines * globals_) // globals_
        for each in global_links(groups, spines * globals_, wiring)
    ]
    kinds = [f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)]
    joined = linked(
        name, groups * size,
        np.concatenate([(first + leaf).ravel(), ends[0]]),
        np.concatenate([(first + leaves + spine).ravel(), ends[1]]),
        labels=tuple(f"g{group}{kind}" for group in range(groups) for kind in kinds),
        family=DragonflyShape(groups, size, globals_, leaves),
    )  # fmt: skip
    of_hosts = (first + np.arange(leaves)).ravel().repeat(hosts)
    return attach_hosts(joined, of_hosts, name=name)


def global_links(groups: int, ports: int, wiring: Wiring) -> tuple[Ints, Ints]:
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


def _named(start: str, groups: int, wiring: str) -> str:
    if wiring not in WIRINGS:
        raise InputError(start, f"wiring '{wiring}'", f"one of {', '.join(WIRINGS)}")
    name = start + (f"/{groups}" if groups else "")
    return name + (f"/{wiring}" if wiring != "absolute" else "")


def _groups(name: str, ports: int, groups: int) -> int:
    """Return the number of groups: as many as the global ports of one reach, if none is given."""
    if groups == 0:
        return ports + 1
    if not 2 <= groups <= ports + 1:
        found = f"{groups} groups"
        raise InputError(name, found, f"2 to {ports + 1}, for {ports} global links per group")
    return groups


def dragonfly_of(argument: str, spec: str) -> Topology:
    """Read ``2x4x2/9/palmtree``: hosts, routers, global links. Groups. Wiring."""
    shape, groups, wiring = _read(argument, spec, "dragonfly:2x4x2/9/palmtree")
    wanted = "hosts per router, routers per group, global links per router, such as dragonfly:2x4x2"
    p, a, h = numbers(shape, where=spec, count=3, wanted=wanted)
    return dragonfly(p, a, h, groups, wiring)


def dragonfly_plus_of(argument: str, spec: str) -> Topology:
    """Read ``4x4x4x4/9/palmtree``: leaves, spines, hosts, global links. Groups. Wiring."""
    shape, groups, wiring = _read(argument, spec, "dragonfly+:4x4x4x4/9/palmtree")
    wanted = "leaves and spines per group, hosts per leaf, global links per spine"
    leaves, spines, hosts, globals_ = numbers(shape, where=spec, count=4, wanted=wanted)
    return dragonfly_plus(leaves, spines, hosts, globals_, groups, wiring)


def _read(argument: str, spec: str, wanted: str) -> tuple[str, int, Wiring]:
    """Split off what follows the numbers: groups, a wiring, or both in this order."""
    shape, *rest = argument.split("/")
    groups, wiring = 0, "absolute"
    if rest and rest[0] not in WIRINGS:
        groups = whole_number(rest.pop(0), where=spec, least=2)
    if rest:
        wiring = rest.pop(0)
    if rest:
        raise InputError(spec, f"'{argument}'", wanted)
    known = next((each for each in WIRINGS if each == wiring), None)
    if known is None:
        raise InputError(spec, f"wiring '{wiring}'", f"one of {', '.join(WIRINGS)}")
    return shape, groups, known


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


def slim_fly(q: int, hosts: int) -> Topology:
    """Return the Slim Fly of a prime power q: 2q² routers of (3q − δ)/2 links, q = 4w + δ.

    The network is that of Besta & Hoefler, *Slim Fly: a cost effective low-diameter network
    topology*, 2014. The graphs are by McKay, Miller & Širáň, *A note on large graphs of diameter
    two and given maximum degree*, 1998. The sets for δ = 0 and −1 are from Hafner, *Geometric
    realisation of the graphs of McKay–Miller–Širáň*, 2004. Router (0, x, y) has number x·q + y,
    router (1, m, c) q² + m·q + c. Host h hangs on router h div ``hosts``. Half as many hosts as
    links, rounded up, are a balanced network.

    Parameters
    ----------
    q
        A power of a prime, at least 3.
    hosts
        Hosts per router.

    Raises
    ------
    InputError
        If there is no Slim Fly of this q, or the network would be too large.

    Examples
    --------
    >>> slim_fly(5, 4)
    <slim-fly:5/4: 200 hosts, 50 routers, 350 directed channels>
    """
    name = f"slim-fly:{q}/{hosts}"
    at_least_one(name, "q and hosts per router", q, hosts)
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=3 * q**3)
    found = prime_power(q)
    if found is None or q < 3:
        raise InputError(name, f"q = {q}", "a power of a prime from 3, such as 4, 5, 7, 8, 9 or 11")
    numbers = field(*found)
    one, other = _links(numbers, q)
    channels = 2 * len(one) + 4 * q * q * hosts
    check_sizes(name, hosts=2 * q * q * hosts, routers=2 * q * q, channels=channels)
    labels = tuple(f"({s},{x},{y})" for s in (0, 1) for x in range(q) for y in range(q))
    joined = linked(name, 2 * q * q, one, other, labels=labels)
    return attach_hosts(joined, np.arange(2 * q * q).repeat(hosts), name=name)


def _links(numbers: Field, q: int) -> tuple[Ints, Ints]:
    """Return the two routers of each link.

    Routers (0, x, y) and (0, x, y') are joined if y − y' is in X, and (1, m, c) and (1, m, c') if c
    − c' is in X'. Routers (0, x, y) and (1, m, c) are joined if y = m·x + c.
    """
    one, other = [], []
    every = np.arange(q)
    for side, steps in enumerate(generators(numbers.powers)):
        low = np.repeat(every, len(steps))
        high = numbers.plus[every[:, None], steps].ravel()
        once = low < high  # X = −X, so each link is found from both of its ends
        rows = side * q * q + q * every[:, None]
        one.append((rows + low[once]).ravel())
        other.append((rows + high[once]).ravel())
    x, m, c = (each.ravel() for each in np.meshgrid(every, every, every, indexing="ij"))
    one.append(x * q + numbers.plus[numbers.times[m, x], c])
    other.append(q * q + m * q + c)
    return np.concatenate(one), np.concatenate(other)


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


def slim_fly_of(argument: str, spec: str) -> Topology:
    """Read ``5/4``: q, hosts per router."""
    wanted = "q and hosts per router, such as slim-fly:5/4"
    words = parts(argument, where=spec, least=2, most=2, wanted=wanted)
    return slim_fly(*(whole_number(word, where=spec, least=1) for word in words))


MOST_RANDOM_LINKS = 2**20
"""Most links that are drawn at random: they are drawn one by one."""

TRIES = 100


def jellyfish(routers: int, degree: int, hosts: int, seed: int = 1) -> Topology:
    """Return a random network in which every router has ``degree`` links, none parallel.

    Singla, Hong, Popa & Godfrey, *Jellyfish: networking data centers randomly*, 2012. The links
    are those of NetworkX, ``random_regular_graph(degree, routers, seed=Random(seed))`` (Steger &
    Wormald, *Generating random regular graphs quickly*, 1999), drawn on from the same stream until
    the network is connected. Host h hangs on router h div ``hosts``.

    Parameters
    ----------
    routers, degree, hosts
        Number of routers, links of each, hosts of each.
    seed
        Of the draw.

    Raises
    ------
    InputError
        If no network has these numbers, none that was drawn is connected, or it would be too large.

    Examples
    --------
    >>> jellyfish(32, 5, 3)
    <jellyfish:32x5x3/1: 96 hosts, 32 routers, 160 directed channels>
    """
    import networkx as nx

    name = f"jellyfish:{routers}x{degree}x{hosts}/{seed}"
    at_least_one(name, "routers, links and hosts of each", routers, degree, hosts)
    check_sizes(
        name, hosts=routers * hosts, routers=routers, channels=routers * (degree + 2 * hosts)
    )
    if degree >= routers or routers * degree % 2:
        found = f"{routers} routers of {degree} links each"
        raise InputError(name, found, "fewer links than routers, their product even")
    if routers * degree // 2 > MOST_RANDOM_LINKS:
        found = f"{routers * degree // 2} links"
        raise InputError(name, found, f"at most {MOST_RANDOM_LINKS} drawn at random")
    draw = Random(seed)  # noqa: S311  # no secret depends on it
    for _ in range(TRIES):
        graph = nx.random_regular_graph(degree, routers, seed=draw)
        if nx.is_connected(graph):
            break
    else:
        found = f"no connected network among {TRIES} that were drawn"
        raise InputError(name, found, "at least 3 links for each router")
    one, other = np.array(sorted(map(sorted, graph.edges)), np.int64).reshape(-1, 2).T
    joined = linked(name, routers, one, other)
    return attach_hosts(joined, np.arange(routers).repeat(hosts), name=name)


def jellyfish_of(argument: str, spec: str) -> Topology:
    """Read ``32x5x3/1``: routers, links and hosts of each. Seed."""
    wanted = "routers, links and hosts of each, such as jellyfish:32x5x3, and a seed behind /"
    shape, *seed = parts(argument, where=spec, most=2, wanted=wanted)
    counts = numbers(shape, where=spec, count=3, wanted=wanted)
    return jellyfish(*counts, *(whole_number(word, where=spec) for word in seed))
