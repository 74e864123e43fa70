"""BookSim 2's routing functions as data: packets walked by the kernel, against plain rules."""

from collections import Counter
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

from netloom.base.compilation import njit
from netloom.base.errors import InputError
from netloom.routing.by_hop.tables import channels_at_ports, hosted_ports
from netloom.routing.kernels.by_hop import next_hop
from netloom.simulation.network.layout import PACKET
from netloom_papers.studies import booksim as routings
from netloom_papers.studies.booksim import ROUTINGS, Shape, network, routing_of

FAT = Shape("fattree", 4, 3)
FLAT, CUBE = Shape("flatfly", 4, 2, 4, 4, 2), Shape("flatfly", 3, 3, 1, 27)
MESH, WIDE = Shape("cmesh", 4, 2, 4, 4, 2), Shape("cmesh", 8, 2, 4, 8, 2)
DRAGON = Shape("dragonflynew", 2, 1)
FLY, TREE4, QTREE = Shape("fly", 3, 3), Shape("tree4", 4, 3), Shape("qtree", 4, 3)


@njit()
def step(tables, used, allowed, router, in_port, in_vc, packets, hops):
    allowed[:] = 0
    next_hop(tables, used, allowed, 0, router, in_port, in_vc, packets[0], hops)


class Walker:
    """Packets that go where the routing lets them, one at a time, any allowed slot at random."""

    def __init__(self, shape, function, num_vcs=4):
        self.net = network(shape)
        self.routing, self.difference = routing_of(shape, self.net, function, num_vcs)
        self.tables, self.num_vcs = self.routing.tables, num_vcs
        self.outward, _ = channels_at_ports(self.net)
        self.wired = hosted_ports(self.net)
        self.used = np.zeros(self.net.num_routers << self.tables.port_shift, np.int32)
        words = (self.wired.num_ports << self.tables.lane_shift) // 64 + 1
        self.allowed = np.zeros(words, np.int64)
        self.rng = np.random.default_rng(1)

    def fill(self, router, port, flits):
        self.used[router << self.tables.port_shift | port] = flits

    def slots(self):
        """Return {port: set of VCs} that the last packet may ask for."""
        shift, found = self.tables.lane_shift, {}
        for word, bits in enumerate(self.allowed.tolist()):
            for bit in range(64):
                if bits >> bit & 1:
                    slot = 64 * word + bit
                    found.setdefault(slot >> shift, set()).add(slot & (1 << shift) - 1)
        return found

    def walk(self, source, target, coin=None):
        """Return [(router, VCs)] of the hops of a packet, and the VCs to its host at the end."""
        net, packets = self.net, np.zeros(1, PACKET)
        coin = int(self.rng.integers(2**31)) if coin is None else coin
        packets["source"], packets["target"], packets["sink"] = source, target, target
        packets["coin"], packets["aux"], packets["way"] = coin, -1, 0
        router, in_port, in_vc, way = int(net.injection_router[source]), 0, 0, []
        for hops in range(40):
            step(self.tables, self.used, self.allowed, router, in_port, in_vc, packets, hops)
            asked = self.slots()
            assert len(asked) == 1
            ((port, vcs),) = asked.items()
            assert max(vcs) < self.num_vcs
            channel = int(self.outward[router, port])
            way.append((router, vcs))
            if channel >= net.num_network_channels:
                assert net.target_end[channel] == target
                return way
            in_vc = int(self.rng.choice(sorted(vcs)))
            router = int(net.target_end[channel]) - net.num_hosts
            in_port = int(self.wired.in_port[channel])
        raise AssertionError("it never arrives")

    def walks(self, count=300):
        """Return the ways of packets between hosts at random."""
        ends = self.rng.integers(self.net.num_hosts, size=(count, 2)).tolist()
        return [(*pair, self.walk(*pair)) for pair in ends]


EVERY = {0, 1, 2, 3}
LOWER, UPPER = {0, 1}, {2, 3}


def routers(way):
    return [router for router, _ in way]


def digits(router, k=4, n=2):
    return [router // k**axis % k for axis in range(n)]


def in_order(source, target, order, k=4, n=2):
    """Return the routers from one to another, one digit set after the other."""
    way, here, end = [source], digits(source, k, n), digits(target, k, n)
    for axis in order:
        if here[axis] != end[axis]:
            here[axis] = end[axis]
            way.append(sum(digit * k**place for place, digit in enumerate(here)))
    return way


def ends(walker, source, target):
    net = walker.net
    return int(net.injection_router[source]), int(net.ejection_router[target])


def test_of_two_ports_the_less_used_is_taken():
    walker = Walker(FAT, "anca")
    for port in (0, 1, 2):
        walker.fill(32, port, 5)
    first = Counter(routers(walker.walk(0, 63))[1] for _ in range(400))
    free = max(first, key=first.get)  # drawn at least once of twice: 7 / 16
    assert first[free] / 400 == pytest.approx(7 / 16, abs=0.08)
    assert all(first[other] / 400 == pytest.approx(3 / 16, abs=0.07) for other in {*first} - {free})


def test_lowest_digit_first_and_any_vc():
    for shape, k, n in ((FLAT, 4, 2), (CUBE, 3, 3)):
        walker = Walker(shape, "ran_min")
        for source, target, way in walker.walks():
            one, other = ends(walker, source, target)
            assert routers(way) == in_order(one, other, range(n), k, n)
            assert all(vcs == EVERY for _, vcs in way)


def order_taken(walker, source, target, way, k=4, n=2):
    """Return 0 for the lowest digit first, 1 for the highest, by the VCs of the first hop."""
    one, other = ends(walker, source, target)
    *inside, (_, last) = way
    assert last == EVERY
    assert len({frozenset(vcs) for _, vcs in inside}) <= 1
    if not inside:
        return None
    order = [LOWER, UPPER].index(inside[0][1])
    axes = range(n) if order == 0 else reversed(range(n))
    assert routers(way) == in_order(one, other, axes, k, n)
    return order


@pytest.mark.parametrize("function", ["xyyx", "adaptive_xyyx"])
def test_either_order_in_its_half_of_the_vcs(function):
    walker = Walker(FLAT, function)
    orders = Counter(order_taken(walker, *walk) for walk in walker.walks(600))
    assert orders[0] / (orders[0] + orders[1]) == pytest.approx(0.5, abs=0.07)


def test_the_order_whose_first_port_is_less_used():
    walker = Walker(FLAT, "adaptive_xyyx")
    walker.fill(0, 0, 1)  # towards digit 0 = 1
    assert {order_taken(walker, 0, 18, walker.walk(0, 18)) for _ in range(20)} == {1}
    walker.fill(0, 3, 2)  # towards digit 1 = 1: more is used there
    assert {order_taken(walker, 0, 18, walker.walk(0, 18)) for _ in range(20)} == {0}


def test_valiant_by_way_of_any_router():
    walker = Walker(FLAT, "valiant")
    hops = []
    for source, target, way in walker.walks(2_000):
        one, other = ends(walker, source, target)
        phases = [vcs for _, vcs in way[:-1]]
        assert phases == [LOWER] * phases.count(LOWER) + [UPPER] * phases.count(UPPER)
        assert way[-1] == (other, EVERY)
        middle = routers(way)[phases.count(LOWER)]
        assert routers(way) == (
            in_order(one, middle, range(2)) + in_order(middle, other, range(2))[1:]
        )
        assert other not in routers(way)[:-1]
        hops.append(len(way))
    assert mean(hops) == pytest.approx(mean(valiant_hops()), rel=0.02)


@cache
def valiant_hops():
    """Return the routers on the way of every triple: it ends where it meets the goal."""
    found = []
    for one in range(16):
        for other in range(16):
            for middle in range(16):
                way = in_order(one, middle, range(2))
                way += in_order(middle, other, range(2))[1:]
                found.append(way.index(other) + 1)
    return found


def test_the_mean_way_of_valiant_is_what_the_reference_measured():
    """At 80 % of saturation, of some 20,000 packets; of the few on an idle network 3.83."""
    assert mean(valiant_hops()) == pytest.approx(3.7466, rel=0.005)


@pytest.mark.parametrize(("flits", "away"), [(2, False), (3, True)])
def test_ugal_goes_away_above_its_threshold_only(flits, away):
    """One hop to router 1: hops times flits against 2; the detour stays in the one row."""
    walker = Walker(FLAT, "ugal")
    for source, target, way in walker.walks(100):  # nothing is used
        assert routers(way) == in_order(*ends(walker, source, target), range(2))
        assert all(vcs == UPPER for _, vcs in way[:-1])
    walker.fill(0, 0, flits)  # from router 0 to router 1
    ways = Counter(tuple(routers(walker.walk(0, 2))) for _ in range(200))
    detours = {(0, 2, 1), (0, 3, 1)}
    assert {*ways} == ({(0, 1)} | detours if away else {(0, 1)})
    if away:
        assert sum(ways[each] for each in detours) / 200 == pytest.approx(0.5, abs=0.1)
        taken = next(way for way in iter(lambda: walker.walk(0, 2), None) if len(way) == 3)
        assert [vcs for _, vcs in taken] == [LOWER, UPPER, EVERY]


def test_ugal_passes_its_goal_on_the_way_to_the_intermediate():
    """From router 0 to router 1 + 4 · 1 by way of 1 + 4 · 2: the first hop leads to router 1."""
    walker = Walker(CUBE, "ugal")
    for axis in range(3):
        for other in (1, 2):
            walker.fill(0, 2 * axis + other - 1, 100 * (other == 1))
    for _ in range(200):
        way = walker.walk(0, 13)
        lower = sum(vcs == LOWER for _, vcs in way)
        middle = routers(way)[lower]
        expected = in_order(0, middle, range(3), 3, 3) + in_order(middle, 13, range(3), 3, 3)[1:]
        assert routers(way) == expected


@pytest.mark.parametrize("shape", [MESH, WIDE], ids=lambda shape: shape.name)
def test_concentrated_meshes_go_x_first(shape):
    walker, k = Walker(shape, "dor_no_express"), shape.k
    for source, target, way in walker.walks(100):
        (y, x), (end_y, end_x) = (divmod(end, k) for end in ends(walker, source, target))
        xs = range(x, end_x, 1 if end_x > x else -1)
        ys = range(y, end_y, 1 if end_y > y else -1)
        expected = [y * k + at for at in xs] + [at * k + end_x for at in ys]
        assert routers(way)[:-1] == expected
        assert all(vcs == EVERY for _, vcs in way)


def test_express_links_half_way_along_a_border():
    walker = Walker(WIDE, "dor")
    host_of = {int(router): host for host, router in enumerate(walker.net.injection_router)}

    def way(source, target):
        return routers(walker.walk(host_of[source], host_of[target]))

    assert way(1, 5) == [1, 5]
    assert way(1, 6) == [1, 5, 6]
    assert way(7, 1) == [7, 3, 2, 1]
    assert way(1, 4) == [1, 2, 3, 4]
    assert way(56, 63) == [56, 60, 61, 62, 63]
    assert way(8, 15) == [*range(8, 16)]
    assert way(1, 56) == [1, 0, 32, 40, 48, 56]


def test_the_mean_way_with_express_links_is_what_the_reference_measured():
    for shape, expected in ((MESH, 3.0917), (WIDE, 5.742)):
        walker = Walker(shape, "dor")
        hops = walker.tables.lengths.reshape(shape.k**2, -1)
        assert 1 + hops.mean() == pytest.approx(expected, rel=0.015)


def test_both_orders_of_a_concentrated_mesh():
    walker = Walker(MESH, "xy_yx_no_express")
    orders = Counter()
    for source, target, way in walker.walks(400):
        (y, x), (end_y, end_x) = (divmod(end, 4) for end in ends(walker, source, target))
        assert len(way) == 1 + abs(x - end_x) + abs(y - end_y)
        if len(way) > 1:
            (vcs,) = {frozenset(vcs) for _, vcs in way[:-1]}
            orders[vcs] += 1
            if x != end_x and y != end_y:
                along_x = routers(way)[0] // 4 == routers(way)[1] // 4
                assert along_x == (vcs == LOWER)
    assert set(orders) == {frozenset(LOWER), frozenset(UPPER)}


def group(router):
    return router // 4


@pytest.mark.parametrize("function", ["min", "ugal"])
def test_dragonflies_without_queues_change_their_vc_on_the_global_channel(function):
    """From VC 0 to 1, and of UGAL from VC 1 to 2, which has VC 2 throughout within a group."""
    own = int(function == "ugal")
    walker = Walker(DRAGON, function, 2 + own)
    for source, target, way in walker.walks():
        one, other = ends(walker, source, target)
        assert {group(router) for router in routers(way)} == {group(one), group(other)}
        vc = 2 * own if group(one) == group(other) else own
        for (here, vcs), (there, _) in pairwise(way):
            vc += group(here) != group(there)
            assert vcs == {vc}
        assert way[-1] == (other, {vc})
        assert len(way) <= 4


def test_dragonfly_ugal_by_way_of_a_router_of_another_group():
    walker = Walker(DRAGON, "ugal", 3)
    net = walker.net
    walker.fill(0, 3, 31)  # the global channel from router 0 to group 1: port 3 of its five
    to = int(net.target_end[walker.outward[0, 3]] - net.num_hosts)
    target = int(np.flatnonzero(net.ejection_router == to)[0])
    straight, vcs_met = 0, set()
    for _ in range(300):
        way = walker.walk(0, target)
        if len(way) == 2:
            straight += 1
            assert [vcs for _, vcs in way] == [{2}, {2}]
            continue
        zero = [vcs for _, vcs in way].count({0})
        assert [vcs for _, vcs in way[:zero]] == [{0}] * zero
        assert group(routers(way)[zero]) != 0
        assert {2} in [vcs for _, vcs in way[zero:]] or group(routers(way)[zero]) == group(to)
        assert len(way) <= 7
        vcs_met |= {min(vcs) for _, vcs in way}
    assert vcs_met == {0, 1, 2}
    assert straight / 300 == pytest.approx(1 / 9 + 2 / 36, abs=0.09)  # own group, or the same way


def test_tree4_by_any_root_and_either_router_of_the_quarter():
    walker = Walker(TREE4, "nca")
    ways = {tuple(routers(walker.walk(0, 63))) for _ in range(400)}
    assert ways == set(product([12], [4, 5], range(4), [10, 11], [27]))
    assert routers(walker.walk(0, 15))[::2] == [12, 15]


def test_tree4_as_published_adapts_nothing():
    """Of several ports of equal priority only the first is kept."""
    walker = Walker(TREE4, "anca")
    assert {tuple(routers(walker.walk(0, 63))[:3]) for _ in range(50)} == {(12, 4, 0)}


def anynet(tmp_path, text):
    file = tmp_path / "net.net"
    file.write_text(text)
    return Shape("anynet", 4, 3, file=str(file))


def test_anynets_take_the_least_latency_of_their_direction(tmp_path):
    text = "router 0 node 0 router 1 2 router 2 5\nrouter 1 node 1 router 2 2\n"
    walker = Walker(anynet(tmp_path, text + "router 2 node 2\n"), "min")
    assert routers(walker.walk(0, 2)) == [0, 1, 2]
    assert routers(walker.walk(2, 0)) == [2, 0]  # a link back takes 1 if nothing else is said


def test_ties_of_an_anynet_go_to_the_way_found_first(tmp_path):
    """Leaves 0 and 1 of two spines, 2 and 3: as the reference, all by the spine settled first."""
    text = "router 0 node 0 router 3 1 router 2 1\nrouter 1 node 1 router 3 1 router 2 1\n"
    walker = Walker(anynet(tmp_path, text), "min")
    assert routers(walker.walk(0, 1)) == [0, 2, 1]
    assert routers(walker.walk(1, 0)) == [1, 2, 0]


def test_the_leaves_of_a_recorded_anynet_use_one_spine_each():
    """Leaves 0 and 1 send all through router 4, leaves 2 and 3 through router 5."""
    folder = Path(routings.__file__).parent / "data" / "anynet"
    walker = Walker(Shape("anynet", 4, 3, file=str(folder / "ff21.net")), "min")
    by = {
        (leaf, routers(walker.walk(4 * leaf, 4 * other))[1])
        for leaf in range(4)
        for other in range(4)
        if leaf != other
    }
    assert by == {(0, 4), (1, 4), (2, 5), (3, 5)}


def test_an_odd_number_of_vcs_shares_the_middle_one():
    walker = Walker(FLAT, "valiant", 3)
    met = {frozenset(vcs) for *_, way in walker.walks() for _, vcs in way[:-1]}
    assert met == {frozenset({0, 1}), frozenset({1, 2})}
    assert not walker.difference
    assert "middle VC" in Walker(FLAT, "xyyx", 3).difference


@pytest.mark.parametrize(
    ("shape", "function", "vcs", "message"),
    [
        (FLAT, "xyyx", 1, "1 VC; expected at least 2 VCs"),
        (DRAGON, "min", 1, "1 VC; expected at least 2 VCs"),
        (DRAGON, "ugal", 4, "4 VCs; expected 3 VCs"),
        (WIDE, "xy_yx", 4, "to and fro for ever"),
    ],
)
def test_what_would_fail_there_is_refused(shape, function, vcs, message):
    with pytest.raises(InputError, match=message):
        routing_of(shape, network(shape), function, vcs)


def test_every_function_is_walked():
    """Every function brings packets to their hosts."""
    for shape in (FAT, FLAT, MESH, DRAGON, FLY, TREE4, QTREE):
        for function in ROUTINGS[shape.kind]:
            vcs = 3 if shape == DRAGON else 4
            for source, target, way in (walker := Walker(shape, function, vcs)).walks(40):
                assert (routers(way)[0], routers(way)[-1]) == ends(walker, source, target)
