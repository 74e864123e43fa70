"""Networks of any shape, with hosts of several ports and parallel channels."""

import hypothesis.strategies as st
import numpy as np

from netloom.topology.core import Topology, attach_hosts


@st.composite
def router_graphs(draw):
    """Routers joined by a tree of two-way links and a few more channels, some of them parallel."""
    routers = draw(st.integers(2, 8))
    ends = []
    for router in range(1, routers):
        other = draw(st.integers(0, router - 1))
        ends += [(router, other), (other, router)]
    one = st.integers(0, routers - 1)
    ends += [(a, b) for a, b in draw(st.lists(st.tuples(one, one), max_size=14)) if a != b]
    order = draw(st.permutations(range(len(ends))))
    source, target = np.array([ends[place] for place in order], np.int32).T.copy()
    return Topology("any", routers, source, target)


@st.composite
def networks(draw):
    """Direct networks, and networks whose hosts have one port or two."""
    routers = draw(router_graphs())
    if draw(st.booleans()):
        return routers
    hosts = draw(st.integers(2, 6))
    one = st.integers(0, routers.num_routers - 1)
    ports = sorted([*range(hosts), *draw(st.lists(st.integers(0, hosts - 1), max_size=3))])
    into = [draw(one) for _ in ports]
    out_of = [into[0], *(draw(one) for _ in ports[1:])]
    return attach_hosts(
        routers, np.array(into), name="any", ejection=np.array(out_of), port_host=np.array(ports)
    )


@st.composite
def flows(draw, network, most=8):
    """Pairs of hosts, some of them equal and some twice, and whole weights."""
    host = st.integers(0, network.num_hosts - 1)
    rows = draw(st.lists(st.tuples(host, host, st.integers(0, 9)), min_size=1, max_size=most))
    source, target, weight = np.array(rows).T
    return source.astype(np.int32), target.astype(np.int32), weight.astype(np.float64)
