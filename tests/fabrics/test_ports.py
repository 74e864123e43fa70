"""Adapters with ports on two switches: each port is an end point, in verdicts, lanes and files."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom import check_fabric, route_fabric
from netloom.base.errors import InputError
from netloom.fabrics.balancing import balanced
from netloom.fabrics.writing import write_levels, write_lfts
from netloom.routing import find_deadlock
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import lane_circle
from netloom.topology import topology
from tests.fabrics.ports import scanned, two_ports
from tests.reference.dumps import as_sl2vl
from tests.reference.ports import has_circle

CABLES = """
sw0[1]-sw3[1] sw0[2]-sw1[1] sw1[2]-sw2[1] sw2[2]-sw3[2] node2[1]-sw0[3] node4[1]-sw0[4]
node3[1]-sw1[3] node0[1]-sw2[3] node5[1]-sw2[4] node1[1]-sw3[3] node2[2]-sw3[4]
"""
"""Four switches in a ring. One adapter has ports on two of them."""

ALL_ENGINES = (*ENGINES, "balanced")


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Return the smallest fabric whose nearest ports have no credit loop and all ports have."""
    path = tmp_path_factory.mktemp("ring") / "ring.txt"
    path.write_text(described(CABLES))
    return topology(f"fabric:{path}")


def described(cables):
    """Return cables as ibnetdiscover prints them: ``NAME[PORT]-NAME[PORT]``, switches ``sw…``."""
    ends = [tuple(end.rstrip("]").split("[") for end in each.split("-")) for each in cables.split()]
    both = [*ends, *((there, here) for here, there in ends)]
    names = sorted({name for here, _ in both for name, _ in [here]})
    guid = {name: 0x100 * (place + 1) for place, name in enumerate(names)}
    lid = {end: place + 1 for place, end in enumerate(
        (name, port) for (name, port), _ in both if not name.startswith("sw"))}  # fmt: skip
    lid |= {(name, "0"): 100 + place for place, name in enumerate(names)}

    def key(name):
        return f"{'S' if name.startswith('sw') else 'H'}-{guid[name]:016x}"

    lines = []
    for name in names:
        switch = name.startswith("sw")
        kind = "Switch" if switch else "Ca"
        said = f" enhanced port 0 lid {lid[name, '0']} lmc 0" if switch else ""
        lines += ["", f"{kind.lower()}guid=0x{guid[name]:x}" + f"({guid[name]:x})" * switch]
        lines += [f'{kind}\t8 "{key(name)}"\t\t# "{name}"{said}']
        for (here, port), (there, far) in both:
            if here != name:
                continue
            at = "" if switch else f"({guid[name] + int(port):x})"
            own = "" if switch else f"lid {lid[name, port]} lmc 0 "
            peer = lid.get((there, far), lid.get((there, "0")))
            lines += [f'[{port}]{at}\t"{key(there)}"[{far}]\t\t# {own}"{there}" lid {peer} 4xEDR']
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("engine", ["balanced", "updn", "minhop", "dfsssp", "lash", "nue"])
def test_a_loop_of_second_ports_is_a_loop(ring, engine):
    found = route_fabric(ring, engine=engine, samples=10)
    assert found.after.deadlock_free is not has_circle(ring, found.forwarding)
    assert found.after.deadlock_free is (engine not in ("updn", "minhop"))
    assert found.before.deadlock_free is False
    one = check_fabric(ring, routing=found.forwarding, samples=0)
    assert (one.figures.circle == ()) is found.after.deadlock_free


def test_one_lane_is_free_of_loops_between_all_ports(ring):
    found = route_fabric(ring, lanes=1, samples=10)
    assert found.after.lanes == 1
    assert not has_circle(ring, found.forwarding)


def made(net, name):
    """Return the table of an engine, or None if it is refused there."""
    try:
        return balanced(net, tries=2).table if name == "balanced" else ENGINES[name](net)
    except InputError:
        return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(ALL_ENGINES))
def test_a_circle_is_found_exactly_where_any_two_ports_make_one(folder, seed, name):
    net = scanned(two_ports(np.random.default_rng(seed)), folder)
    table = made(net, name)
    if table is None:
        return
    circle = has_circle(net, table)
    assert bool(lane_circle(net, table)) is circle
    assert bool(find_deadlock(net, table)) is circle
    assert not (circle and name in ("balanced", "dfsssp", "lash", "nue"))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["dfsssp", "lash", "balanced"]))
def test_levels_of_all_ports_come_back(folder, seed, name):
    net = scanned(two_ports(np.random.default_rng(seed)), folder)
    table = made(net, name)
    write_lfts(net, table, folder / "tables")
    write_levels(net, table, folder / "levels")
    (folder / "lanes").write_text(as_sl2vl(net, lambda _switch, _into, _out, level: level % 8))
    files = f"{folder}/tables,sl2vl:{folder}/lanes,psl:{folder}/levels"
    found = read_lfts(net, files)
    for source, router in enumerate(net.injection_router.tolist()):
        for target in set(range(net.num_ports)) - {source}:
            level = 0 if table.lanes is None else table.lanes.level[target, router]
            assert found.lanes.level[target, router] == level, (source, target)
    assert not lane_circle(net, found)
    assert not has_circle(net, found)


def test_levels_under_the_guid_of_an_adapter_are_those_of_all_its_ports(ring, tmp_path):
    table = ENGINES["dfsssp"](ring)
    write_lfts(ring, table, tmp_path / "tables")
    write_levels(ring, table, tmp_path / "levels")
    text = (tmp_path / "levels").read_text()
    host = (
        ring.num_hosts
        - 1
        - [ring.name_of(each) for each in range(ring.num_hosts)][::-1].index("node2")
    )
    adapter = int(ring.cabling.host_guid[host])
    for port in (1, 2):
        assert text.count(f"0x{adapter + port:016x} ") == ring.num_ports - 1
    assert f"0x{adapter:016x} " not in text
