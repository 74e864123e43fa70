"""Random routings by hop, most of which nobody would want, for property tests.

Tables lead to everywhere by shortest ways; what packets do with them, and in which VCs, is random.
They may deadlock, which hurts no test that ends before it is found.
"""

import hypothesis.strategies as st
import numpy as np

from netloom.routing.by_hop.tables import (
    ALONG,
    ALWAYS,
    DRAWN,
    EVERY,
    GIVEN,
    HASHED,
    LEAST,
    LOCAL,
    TWO,
    Automaton,
    bits,
    channels_at_ports,
    hop_tables,
    hosted_ports,
    next_ports,
)  # fmt: skip
from netloom.routing.rules import shortest_ways
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

CHOICES = [DRAWN, TWO, LEAST, EVERY, HASHED]


@st.composite
def hop_routings(draw, net, vcs):
    """Return a routing on so many VCs; the paths of given ones lead from host port to host port."""
    ways = shortest_ways(net.routers)
    rank = draw(st.permutations(range(net.num_network_channels)))
    tables = [next_ports(net, ways), next_ports(net, ways._replace(rank=np.array(rank, np.int32)))]
    styles = ["plain", "plain", "levels"]
    if vcs > 1:
        styles += ["escape", "escape"]
    if (tables[0].lengths >= 0).all():
        styles += ["detour", "detour"]
    style = draw(st.sampled_from(styles))
    automaton, more = draw(globals()[style](net, vcs))
    choice = draw(st.sampled_from(CHOICES))
    salts = np.array(draw(numbers(net.num_routers, 2**64 - 1)), np.uint64)
    if draw(st.integers(0, 3)) == 0:  # each pair of hosts has ports of its own
        more |= pair_ports(net, np.random.default_rng(draw(st.integers(0, 99))))
    found = hop_tables(net, vcs, tables, automaton, choice=choice, salts=salts, **more)
    looks = choice in (TWO, LEAST) or more.get("detour") in (LOCAL, ALONG)
    needs = looks or draw(st.booleans())
    return VirtualChannelRouting(f"{style}: {found}", net, found, uses_credits=needs)


def pair_ports(net, rng):
    """Return for each pair of hosts by which of their ports packets enter and leave."""
    each = np.indices((net.num_hosts, net.num_hosts)).reshape(2, -1)
    offsets = net.port_offsets
    found = offsets[each] + rng.integers(0, offsets[each + 1] - offsets[each])
    return {"pair_entry": found[0].astype(np.int32), "pair_sink": found[1].astype(np.int32)}


def numbers(many, most, least=0):
    return st.lists(st.integers(least, most), min_size=many, max_size=many)


def some_vcs(draw, many, vcs):
    """Return sets of VCs, as bits: any, or rather often all."""
    one = st.one_of(st.just(bits(vcs)), st.integers(1, bits(vcs)))
    return np.array(draw(st.lists(one, min_size=many, max_size=many)), np.int64)


def automaton(draw, net, vcs, delta, **more):
    """Return states, as many as ``delta`` has rows, with random VCs and tables."""
    states, kinds = delta.shape
    kind = np.array(draw(numbers(net.num_network_channels, kinds - 1)), np.int8)
    none, own = np.zeros(states, np.int8), np.arange(states, dtype=np.int16)
    fields = {
        "kind": kind,
        "delta": delta.astype(np.int16),
        "vcs": some_vcs(draw, states, vcs),
        "eject_vcs": some_vcs(draw, states, vcs),
        "table": np.array(draw(numbers(states, 1)), np.int8),
        "to_aux": none,
        "decides": none,
        "keep": own,
        "leave": own,
        "turn": own,
    }
    return Automaton(**(fields | more))


@st.composite
def plain(draw, net, vcs):
    """Any state may follow any other."""
    states, kinds = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    delta = np.array(draw(numbers(states * kinds, states - 1))).reshape(states, kinds)
    return automaton(draw, net, vcs, delta), {}


@st.composite
def levels(draw, net, vcs):
    """Packets stay in the state that they begin in, which is said by sink and router."""
    states = draw(st.integers(1, 4))
    level = np.array(draw(numbers(net.num_ports * net.num_routers, states - 1)), np.uint8)
    return automaton(draw, net, vcs, np.arange(states)[:, None]), {"level": level}


@st.composite
def escape(draw, net, vcs):
    """Some VCs are never left again; the others are preferred."""
    states = draw(st.integers(2, 4))
    delta = np.array(draw(numbers(states, states - 2)))[:, None]
    delta[-1] = states - 1
    escape_vcs = draw(st.integers(1, bits(vcs) - 1))
    masks = some_vcs(draw, states, vcs) & ~escape_vcs
    masks[masks == 0] = bits(vcs) & ~escape_vcs
    masks[-1] = escape_vcs
    made = automaton(draw, net, vcs, delta)._replace(vcs=masks)
    adaptive = draw(st.sampled_from([bits(vcs) & ~escape_vcs, 0]))
    return made, {
        "adaptive_vcs": adaptive, "escape_vcs": escape_vcs, "escape_state": states - 1,
    }  # fmt: skip


@st.composite
def detour(draw, net, vcs):
    """Packets may go by way of a router: decided at their first router, or at later ones, too."""
    delta = np.array([[0, 0], [draw(st.integers(0, 1)), 1], [2, 2], [3, 3]])
    flags = np.zeros((2, 4), np.int8)
    flags[0, 0] = flags[1, 2] = 1
    made = automaton(
        draw, net, vcs, delta, decides=flags[0], to_aux=flags[1],
        keep=np.array([1, 1, 2, 3], np.int16), leave=np.array([2, 2, 2, 3], np.int16),
        turn=np.array([0, 1, 3, 3], np.int16),
    )  # fmt: skip
    goals = draw(st.lists(st.integers(0, net.num_routers - 1), max_size=6))
    return made, {
        "detour": draw(st.sampled_from([ALWAYS, LOCAL, ALONG])),
        "threshold": draw(st.integers(-3, 20)),
        "weight": draw(st.integers(0, 2)),
        "detour_weight": draw(st.integers(0, 2)),
        "detours": np.array([len(goals), *goals], np.int32),
    }


@st.composite
def given_paths(draw, net, vcs, pairs):
    """Return a routing of one path for each pair of hosts, of any ports of theirs, in any VCs.

    What a host sends to itself goes by its first port.
    """
    table = next_ports(net, shortest_ways(net.routers))
    wired = hosted_ports(net)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first = net.port_offsets
    ends = [
        [rng.integers(first[host], first[host + 1]) if one != other else first[host]
         for host in (one, other)]
        for one, other in pairs
    ]  # fmt: skip
    channel_at = channels_at_ports(net)[0]
    made = automaton(draw, net, vcs, np.arange(3)[:, None])
    plain = hop_tables(net, vcs, [table], made, choice=GIVEN)
    offsets, starts, lists = [0], [], []
    for entry, sink in ends:
        at, goal = net.injection_router[entry], net.ejection_router[sink]
        while at != goal:
            start = table.starts[at * table.num_goals + goal]
            port = table.ports[start + 1 + rng.integers(table.ports[start])]
            channel = channel_at[at, port]
            lanes = wired.out_port[channel] + np.arange(wired.lanes[channel])
            starts.append(len(plain.ports) + len(lists))
            lists += [len(lanes), *lanes]
            at = net.routers.channel_target[channel]
        offsets.append(len(starts))
    found = plain._replace(
        ports=np.concatenate([plain.ports, lists]).astype(np.int16),
        path_offsets=np.array(offsets, np.int64),
        path_starts=np.array(starts, np.int32),
        path_layer=rng.integers(0, 3, len(starts)).astype(np.uint8),
        path_entry=np.array([entry for entry, _ in ends], np.int32),
        path_sink=np.array([sink for _, sink in ends], np.int32),
    )
    return VirtualChannelRouting("given paths", net, found, needs_aux=True)
