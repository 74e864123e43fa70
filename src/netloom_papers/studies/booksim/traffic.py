"""The traffic patterns of BookSim 2: on the hosts' numbers alone, the source itself included.

Every host sends at the same rate. Read in its source (commit 28f43299), in our own words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.workload import Traffic, traffic
from netloom.workload.traffic.targets import merged, weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom_papers.studies.booksim.networks import Shape

    Host = Ints

_SPOT = re.compile(r"node(\d{1,9}) weight (\d{1,9})")


def pattern(name: str, shape: Shape, num_hosts: int) -> Traffic:
    """Return the traffic that a configuration's ``traffic`` names.

    Parameters
    ----------
    name
        A name of ``PATTERNS``, ``uniform``, or ``hotspot(...)``: with that simulator's own lists
        (``hotspot({{0,1},{9,1}})``; weights that are missing are as the last), or in words
        (``hotspot(node0 weight 9 others 1)``).
    shape
        The network, whose k, n and xr ``tornado``, ``neighbor`` and ``bad_dragon`` work with.
    num_hosts
        Hosts of the network.

    Raises
    ------
    InputError
        If there is no such pattern, or it would fail there on so many hosts.

    Examples
    --------
    >>> from netloom_papers.studies.booksim.networks import Shape
    >>> pattern("tornado", Shape("flatfly", 4, 2, 4, 4, 2), 64).matrix(0, 1).target
    array([27], dtype=int32)
    >>> hot = pattern("hotspot(node0 weight 9 others 1)", Shape("fly", 8, 2), 64)
    >>> (64 * hot.matrix(5, 6).weight[:2]).round(4)
    array([0.125 , 0.0139])
    """
    word = name.partition("(")[0]
    if word == "hotspot":
        return _hot_spot(name, num_hosts)
    if name == "uniform":
        return traffic.uniform(num_hosts, to_self=True)
    if name not in PATTERNS:
        known = ", ".join(["uniform", *PATTERNS, "hotspot(...)"])
        raise InputError("traffic", f"'{name}'", f"one of {known}")
    host = np.arange(num_hosts, dtype=np.int64)
    targets = np.asarray(PATTERNS[name](host, shape))
    if targets.min() < 0 or targets.max() >= num_hosts:
        wanted = f"hosts from 0 to {num_hosts - 1}: it fails on this network there, too"
        raise InputError(f"traffic '{name}'", f"host {targets.max()} as a target", wanted)
    return _spread(name, targets.reshape(num_hosts, -1))


def _spread(name: str, targets: Ints, weights: Any = 1.0) -> Traffic:
    """Return the traffic of hosts to targets [host, several], each with its weight."""
    hosts = len(targets)
    keys = np.arange(hosts)[:, None] * hosts + targets
    share = np.broadcast_to(np.asarray(weights, np.float64), keys.shape)
    order = np.argsort(keys, axis=None, kind="stable")
    found = merged(hosts, keys.ravel()[order], share.ravel()[order])
    return Traffic(name, hosts, np.ones(hosts), weighted(hosts, found))


def _bits(host: Host, *, even: bool = False) -> int:
    """Return how many bits a host's number has, of as many hosts as a power of two."""
    bits = len(host).bit_length() - 1
    if 1 << bits != len(host) or (even and bits % 2):
        wanted = "an even power of two of them" if even else "a power of two of them"
        raise InputError("traffic", f"{len(host)} hosts", wanted)
    return bits


def _bit_complement(host: Host, _: Shape) -> Host:
    _bits(host)
    return host[::-1]


def _bit_reverse(host: Host, _: Shape) -> Host:
    bits = _bits(host)
    return sum((((host >> bit) & 1) << (bits - 1 - bit) for bit in range(bits)), 0 * host)


def _shuffle(host: Host, _: Shape) -> Host:
    _bits(host)
    return 2 * host % len(host) + 2 * host // len(host)


def _transpose(host: Host, _: Shape) -> Host:
    half = _bits(host, even=True) // 2
    return np.asarray(host >> half | host % (1 << half) << half)


def _shifted(by: Callable[[int], int]) -> Callable[[Host, Shape], Host]:
    """Return the pattern that shifts each of the n digits of a host's number, of base xr · k."""

    def targets(host: Host, shape: Shape) -> Host:
        base = shape.xr * shape.k
        weights = base ** np.arange(shape.n)
        digits = (host[:, None] // weights % base + by(base)) % base
        return np.asarray(digits @ weights)

    return targets


def _asymmetric(host: Host, _: Shape) -> Host:
    half = len(host) // 2
    if not half:
        raise InputError("traffic 'asymmetric'", "1 host", "at least 2")
    return np.asarray(host[:, None] % half + np.array([0, half]))


def _bad_dragon(host: Host, shape: Shape) -> Host:
    group = 2 * shape.k * shape.k
    return ((host[:, None] // group + 1) * group + np.arange(group)) % len(host)


def _bad_yarc(host: Host, shape: Shape) -> Host:
    row = shape.xr * shape.k
    return np.arange(row) * row + host[:, None] // row


def _diagonal(host: Host, _: Shape) -> Host:
    return np.stack([host, host, (host + 1) % len(host)], axis=1)


def _taper(host: Host, _: Shape) -> Host:
    if len(host) != 64:
        raise InputError("traffic 'taper64'", f"{len(host)} hosts", "64 of them")
    near = (8 * np.arange(-1, 2)[:, None] + np.arange(-1, 2)).ravel()
    around = (host[:, None] + near) % 64
    anywhere = np.broadcast_to(host, (64, 64))
    return np.concatenate([np.tile(around, 64), np.tile(anywhere, 9)], axis=1)


PATTERNS: dict[str, Callable[[Host, Shape], Host]] = {
    "bitcomp": _bit_complement,
    "bitrev": _bit_reverse,
    "shuffle": _shuffle,
    "transpose": _transpose,
    "tornado": _shifted(lambda base: (base + 1) // 2 - 1),
    "neighbor": _shifted(lambda _: 1),
    "asymmetric": _asymmetric,
    "bad_dragon": _bad_dragon,
    "badperm_yarc": _bad_yarc,
    "diagonal": _diagonal,
    "taper64": _taper,
}
"""The targets of each host, int64[hosts] or [hosts, several that are drawn alike], by name."""


def _hot_spot(name: str, num_hosts: int) -> Traffic:
    inside = name.partition("(")[2].rpartition(")")[0]
    if _SPOT.search(inside):
        weights = _in_words(name, inside, num_hosts)
    else:
        weights = _in_lists(name, inside, num_hosts)
    if not weights.any():
        raise InputError(f"traffic '{name}'", "no host that is hot", "a weight above 0")
    hot = np.flatnonzero(weights)
    return _spread(name, np.broadcast_to(hot, (num_hosts, len(hot))), weights[hot])


def _in_words(name: str, inside: str, num_hosts: int) -> Ints:
    """Read ``node0 weight 9 others 1``. Several nodes may be named, others are 0 if not said."""
    rest = _SPOT.sub("", inside).split()
    wanted = "hotspot(node0 weight 9 others 1)"
    if rest and (len(rest) != 2 or rest[0] != "others"):
        raise InputError(f"traffic '{name}'", f"'{' '.join(rest)}'", wanted)
    others = whole_number(rest[1], where=f"traffic '{name}'") if rest else 0
    weights = np.full(num_hosts, others, np.int64)
    for node, weight in _SPOT.findall(inside):
        weights[_host(name, node, num_hosts)] = int(weight)
    return weights


def _in_lists(name: str, inside: str, num_hosts: int) -> Ints:
    """Read the lists of hosts and weights as that simulator does, slips included.

    Without the outer braces it takes the first host for all of the first list: everything goes
    there.
    """
    lists = _elements(inside)
    hosts = _elements(lists[0]) if lists else []
    if not hosts or any(word.strip().startswith("-") for word in hosts):
        wanted = "hosts by number, such as hotspot({{0,1},{9,1}}); it draws others at random"
        raise InputError(f"traffic '{name}'", f"'{inside}'", wanted)
    said = _elements(lists[1]) if len(lists) > 1 else []
    where = f"traffic '{name}'"
    each = [whole_number(word.strip(), where=where, least=1) for word in said] or [1]
    each += [each[-1]] * (len(hosts) - len(each))
    weights = np.zeros(num_hosts, np.int64)
    for node, weight in zip(hosts, each, strict=False):
        weights[_host(name, node.strip(), num_hosts)] += weight
    return weights


def _elements(text: str) -> list[str]:
    """Return what a list in braces holds, itself if it has none. Nothing behind its end."""
    if not text.startswith("{"):
        return [text] if text else []
    found, depth, word = [], 0, ""
    for letter in text[1:]:
        if not depth and letter in ",}":
            found += [word] if word else []
            word = ""
            if letter == "}":
                break
            continue
        depth += (letter == "{") - (letter == "}")
        word += letter
    return found


def _host(name: str, word: str, num_hosts: int) -> int:
    host = whole_number(word, where=f"traffic '{name}'")
    if host >= num_hosts:
        raise InputError(f"traffic '{name}'", f"host {host}", f"0 to {num_hosts - 1}")
    return host
