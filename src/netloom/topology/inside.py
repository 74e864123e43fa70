"""Computers with an inside: GPUs on an inner switch, behind the network cards of a network.

The hosts of a network are taken for cards. Those of a computer are known, or follow each other. In
the network of GPUs, each GPU has a port to the inner switch of its computer, and one to its card's
place in the network. If GPUs share a card, the card is a router between them and the network. Inner
switches lead to the GPUs of one computer alone, so that no way through the network uses them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from netloom.base.arrays import Bools, Ints, places_among
from netloom.base.errors import InputError
from netloom.base.spec import real_number, whole_number
from netloom.base.words import counted
from netloom.topology.core import Family, StagesShape, Topology, TreeShape, attach_hosts
from netloom.topology.families import Omega, check_sizes

NUMBERS = "GPUs, cards and the inner rate of a GPU in those of a card, such as @8x8x9"


def box(gpus: int, inner_rate: float = 1.0, *, name: str) -> Topology:
    """Return a computer that stands alone: GPUs on its inner switch.

    Parameters
    ----------
    inner_rate
        Bandwidth of each GPU's port.

    Examples
    --------
    >>> net = box(8, 9.0, name="dgx-h100")
    >>> net, net.num_nodes, net.channel_name(0), net.channel_bandwidth[0].item()
    (<dgx-h100: 8 hosts, 1 routers, 0 directed channels>, 1, 'n0.0 -> n0.inside', 9.0)
    """
    none = np.zeros(0, np.int32)
    routers = Topology(name, 1, none, none, ("n0.inside",))
    labels = (*(f"n0.{gpu}" for gpu in range(gpus)), "n0.inside")
    node = np.zeros(gpus, np.int32)
    return attach_hosts(
        routers,
        node,
        name=name,
        bandwidth=inner_rate,
        labels=labels,
        node_of_host=node,
        computer_labels=("n0",),
    )


def numbered(topology: Topology, numbers: str, spec: str) -> Topology:
    """Return what ``with_computers`` does, from numbers such as ``8x8x9``.

    Raises
    ------
    InputError
        Naming ``spec``, if they are not three numbers or do not fit the network.
    """
    words = numbers.split("x")
    if len(words) != 3:
        raise InputError(spec, f"'{numbers}'", NUMBERS)
    gpus, cards = (whole_number(word, where=spec, least=1, most=1024) for word in words[:2])
    rate = real_number(words[2], where=spec)
    if rate <= 0:
        raise InputError(spec, f"an inner rate of {rate:g}", "one above 0")
    return with_computers(topology, gpus, cards, rate, name=f"{topology.name}@{numbers}")


def with_computers(
    topology: Topology, gpus: int, cards: int, inner_rate: float, *, name: str = ""
) -> Topology:
    """Return the network of the GPUs of computers whose cards are the hosts of a network.

    GPU i of a computer is near card i · cards // gpus. If GPUs share a card, it is a router, which
    each reaches at the card's rate. Channels between routers keep their numbers. Those of shared
    cards follow. If the network shows the inside of its computers, it stays as it is.

    Parameters
    ----------
    topology
        A whole network, whose hosts have one port each. Each node of a direct network has a card.
    gpus, cards
        Of each computer. If the network knows computers, those that have as many hosts as cards
        have GPUs, and others stay as they are. Otherwise hosts that follow each other are the cards
        of a computer. GPUs are a multiple of cards.
    inner_rate
        Bandwidth of a GPU's port to the inner switch. That of a card is 1.
    name
        The spec string. By default that of the network, and the numbers behind an ``@``.

    Raises
    ------
    InputError
        If the numbers do not fit the network, or it would be too large.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = with_computers(topology("leaf-spine:2x2x4"), gpus=8, cards=4, inner_rate=9)
    >>> net, net.num_nodes, net.channel_name(net.num_network_channels)
    (<leaf-spine:2x2x4@8x4x9: 16 hosts, 14 routers, 24 directed channels>, 2, 'n0.0 -> n0.card0')
    """
    name = name or f"{topology.name}@{gpus}x{cards}x{inner_rate:g}"
    node_of, fits = _computers_of(topology, gpus, cards, name)
    if (topology.inner_part >= 0).any():
        return replace(topology, name=name)
    if len(fits) == 1:
        raise InputError(name, "one computer", "several, or the computer alone, without a network")
    # hosts in the order of computers, and how many of the network of GPUs each stands for
    card_at = np.argsort(node_of, kind="stable").astype(np.int32)
    node_at, shares = node_of[card_at], np.where(fits[node_of[card_at]], gpus // cards, 1)
    near = np.arange(len(card_at), dtype=np.int32).repeat(shares)
    node = node_at[near].astype(np.int32)
    hosts, old, first = len(near), topology.routers, topology.num_routers
    own = np.flatnonzero(shares > 1)  # cards that are routers
    shared = np.arange(first, first + len(own), dtype=np.int32)
    switch = first + len(own) + np.cumsum(fits) - 1  # inside each computer
    count = first + len(own) + int(fits.sum())
    channels = topology.num_network_channels + 2 * len(own) + 4 * hosts
    check_sizes(name, hosts=hosts, routers=count, channels=channels)

    ends = [topology.injection_router[card_at], topology.ejection_router[card_at]]
    rates, cycles = np.ones((2, len(card_at))), np.ones((2, len(card_at)), np.int32)
    if topology.ports_listed:
        between = topology.num_network_channels
        rates = topology.port_bandwidth.reshape(2, -1)[:, card_at]
        cycles = topology.channel_cycles[between:].reshape(2, -1)[:, card_at]
    known = topology.num_nodes < topology.num_hosts
    called = topology.computer_labels or tuple(f"n{each}" for each in range(len(fits)))
    new = fits[node] & (not known or gpus > cards)
    gpus_at, cards_at = places_among(node).tolist(), places_among(node_at[own]).tolist()
    names = [
        f"{called[node[at]]}.{gpus_at[at]}" if new[at] else topology.name_of(int(card_at[card]))
        for at, card in enumerate(near.tolist())
    ]
    labels = [
        *map(topology.router_name, range(first)),
        *(f"{called[at]}.card{card}" for at, card in zip(node_at[own], cards_at, strict=True)),
        *(f"{called[at]}.inside" for at in np.flatnonzero(fits)),
    ]
    routers = Topology(
        old.name,
        count,
        np.concatenate([old.channel_source, shared, ends[1][own]]),
        np.concatenate([old.channel_target, ends[0][own], shared]),
        tuple(labels),
        channel_bandwidth=np.concatenate([old.channel_bandwidth, *rates[:, own]]),
        channel_cycles=np.concatenate([old.channel_cycles, *cycles[:, own]]),
    )
    for end in ends:
        end[own] = shared
    cycles[:, own] = 1

    # every GPU has the port of its card, then that to the inside
    kept = np.stack([np.ones(hosts, np.bool_), fits[node]], axis=1).ravel()

    def at_ports(of_card: Any, of_gpu: Any) -> Any:
        pairs = np.stack([of_card[near], np.broadcast_to(of_gpu, hosts)], axis=1)
        return pairs.ravel()[kept]

    rated = [at_ports(each, inner_rate) for each in rates]
    taken = [at_ports(each, 1) for each in cycles]
    return Topology(
        name,
        routers.num_routers,
        routers.channel_source,
        routers.channel_target,
        (*names, *labels),
        num_hosts=hosts,
        router_network=routers,
        port_host=np.arange(hosts, dtype=np.int32).repeat(2)[kept],
        injection_router=at_ports(ends[0], switch[node]).astype(np.int32),
        ejection_router=at_ports(ends[1], switch[node]).astype(np.int32),
        channel_bandwidth=np.concatenate([routers.channel_bandwidth, *rated]),
        channel_cycles=np.concatenate([routers.channel_cycles, *taken]).astype(np.int32),
        node_of_host=node,
        computer_labels=called,
        cards=shared,
        of_cards=topology,
        card_of_host=card_at[near],
        family=_family_of(topology, card_at, shares),
        reference_gbps=topology.reference_gbps,
        cycle_ns=topology.cycle_ns,
        notes=topology.notes,
    )


def with_ports(topology: Topology, kept: Bools) -> Topology:
    """Return a network of which some ports are left, which bool[num_ports] says.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2@2x2x9")
    >>> with_ports(net, np.tile([True, False], 4)).channel_bandwidth.max()
    np.float64(1.0)
    """
    channels = np.concatenate([np.ones(topology.num_network_channels, np.bool_), kept, kept])
    return replace(
        topology,
        port_host=topology.port_host[kept],
        injection_router=topology.injection_router[kept],
        ejection_router=topology.ejection_router[kept],
        channel_bandwidth=topology.channel_bandwidth[channels],
        channel_cycles=topology.channel_cycles[channels],
        unbroken=topology.whole,
        kept_channels=topology.whole_channel[channels],
    )


def _computers_of(topology: Topology, gpus: int, cards: int, name: str) -> tuple[Ints, Bools]:
    """Return the computer of each host, and which computers have GPUs: those of so many hosts."""
    hosts, node = topology.num_hosts, topology.node_of_host
    if topology.broken or topology.switches or isinstance(topology, Omega):
        found = "broken parts" if topology.broken else "hosts that are no cards"
        raise InputError(name, found, "a whole network whose hosts hang on routers")
    if (topology.inner_part >= 0).any():
        cards = gpus  # its hosts are GPUs
    elif gpus % cards:
        wanted = "as many GPUs as cards, or a multiple"
        raise InputError(name, f"{counted(gpus, 'GPU')} and {counted(cards, 'card')}", wanted)
    elif topology.num_ports != hosts:
        raise InputError(name, "hosts of several ports", "hosts that are cards, of one port each")
    if topology.num_nodes == hosts:
        if hosts % cards:
            wanted = f"a multiple of {cards}, which are the cards of a computer"
            raise InputError(name, counted(hosts, "host"), wanted)
        return np.arange(hosts) // cards, np.ones(hosts // cards, np.bool_)
    many = np.bincount(node)
    if not (many == cards).any():
        first = f"{topology.computer_name(0)} with {counted(int(many[0]), 'host')}"
        raise InputError(name, f"no computer with {counted(cards, 'host')}, but {first}", "one")
    return node, many == cards


def _family_of(topology: Topology, card_at: Ints, shares: Ints) -> Family | None:
    """Return the family of a network of GPUs, of which each card of a network has a share."""
    shape, share = topology.family, int(shares.max())
    if not isinstance(shape, TreeShape):
        return None if isinstance(shape, StagesShape) else shape
    if shares.min() < share:
        return None
    at = np.empty(len(card_at), np.int32)
    at[card_at] = np.arange(len(card_at))
    if shape.host_at is not None:
        at = at[shape.host_at]  # the card at each place of the tree
    routers = np.arange(topology.num_routers) if shape.router_at is None else shape.router_at
    if share == 1:
        return replace(shape, router_at=routers, host_at=at)
    return TreeShape(
        (share, *shape.children),
        (1, *shape.parents),
        (1, *shape.parallel),
        router_at=np.append(topology.num_routers + at, routers).astype(np.int32),
        host_at=(at[:, None] * share + np.arange(share)).ravel().astype(np.int32),
        sharing=share,
    )
