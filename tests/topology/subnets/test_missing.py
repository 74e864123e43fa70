"""What is missing is said, and of what is whole nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import topology, without
from netloom.topology.core import way_back
from netloom.topology.subnets.files import read_fabric
from netloom.topology.subnets.shapes import missing_parts, shape_of
from tests.reference.ibsim import ibsim_text
from tests.topology.subnets.fabric_files import (
    GOLDEN,
    read_text_as_fabric,
    unpacked,
    written_and_read,
)

WHOLE = (
    "mesh:8x8", "mesh:4x4/4", "mesh:16x16", "torus:4x4x4", "torus:8x8/2", "torus:5x3",
    "torus:6x4x2", "line:16", "ring:16", "hypercube:5", "cube:8wx4", "twisted-torus:4x4x8",
    "fat-tree:4x3", "fat-tree:k=8", "xgft:4x4x4/1x2x4", "xgft:4x4/1x2/1x2", "xgft:2x2x2x2/1x2x2x2",
    "leaf-spine:8x4x8/2", "leaf-spine:1x1x4", "rail:2x4x8x4/2", "dragonfly:2x4x2",
    "dragonfly:2x4x2/9/palmtree", "dragonfly:4x8x4/9/circulant", "dragonfly+:4x4x4x4/9",
    "hyperx:4x4/4/2", "hyperx:5x3/1", "hyperx:6/2", "slim-fly:5/4", "jellyfish:32x5x3/1",
)  # fmt: skip


@pytest.mark.parametrize("spec", WHOLE)
def test_of_a_network_that_is_whole_its_shape_is_said_and_no_more(spec):
    net = written_and_read(spec)
    more = ", rail-optimised, 8 rails" if spec.startswith("rail") else ""
    assert shape_of(net).words == shape_of(topology(spec)).words + more
    assert missing_parts(net) == missing_parts(topology(spec)) == ()


@pytest.mark.parametrize("name", GOLDEN)
def test_of_the_fabrics_whose_tables_are_compared_nothing_is_missing(name):
    net = read_text_as_fabric(unpacked(f"{name}.ibsim"))
    assert missing_parts(net) == ()
    assert not shape_of(net).words.startswith("no known")


CUT = (
    "leaf-spine:8x4x8/2", "leaf-spine:8x4x8", "fat-tree:4x3", "xgft:4x4x4/1x2x4", "torus:8x8",
    "torus:5x5x5", "torus:4x4x4", "hypercube:5", "dragonfly:2x4x2", "dragonfly:2x6x3",
    "hyperx:8x8/1", "rail:2x4x8x4/2", "dragonfly+:4x4x4x4/9", "slim-fly:5/4",
)  # fmt: skip


@cache
def _cables(spec):
    net = topology(spec)
    first = net.num_network_channels
    once = np.flatnonzero(net.source_end[:first] < net.target_end[:first])
    return net, once.tolist(), way_back(net)


def _broken(spec, data, most):
    net, cables, back = _cables(spec)
    cut = data.draw(st.lists(st.sampled_from(cables), min_size=1, max_size=most, unique=True))
    try:
        return cut, without(net, channels=[each for c in cut for each in (c, int(back[c]))])
    except InputError:  # no longer in one piece
        return cut, None


@settings(max_examples=60)
@given(st.sampled_from(CUT), st.data())
def test_a_cable_that_is_cut_is_said_with_an_end_of_it(spec, data):
    cut, net = _broken(spec, data, 3)
    if net is None:
        return
    found = written_and_read(net)
    said = missing_parts(found)
    whole = topology(spec)
    for channel in cut:
        ends = [whole.name_of(int(v[channel])) for v in (whole.source_end, whole.target_end)]
        assert any(each in line for line in said for each in ends), (ends, said)
    kind = shape_of(whole).words.split(" of ")[0]
    if len(cut) == 1 or "tree" in kind:
        assert shape_of(found).words.startswith(kind)


@settings(max_examples=40)
@given(st.sampled_from([each for each in CUT if not each.startswith(("slim", "dragonfly+"))]),
       st.data())  # fmt: skip
def test_a_switch_that_is_gone_is_said(spec, data):
    whole = topology(spec)
    router = data.draw(st.integers(0, whole.num_routers - 1))
    name = whole.name_of(whole.router_vertex(router))
    try:
        net = without(whole, nodes=[router] if whole.direct else name)
    except InputError:
        return
    said = missing_parts(written_and_read(net))
    last = name in {"leaf0", "leaf7", "spine0", "spine3"}  # which leaves a smaller tree
    assert said or last
    if spec.startswith(("torus:5x5x5", "dragonfly:2x6")) and not set(name) & set("05(r)") - {"("}:
        assert any(f" {name} absent" in f" {each}" for each in said), (name, said)


def test_what_the_fabric_of_dgx_computers_lacks():
    net = read_fabric("examples/dgx-40.ibnetdiscover")
    assert (
        shape_of(net).words == "two-level tree of 31 leaves and 9 spines, rail-optimised, 4 rails"
    )
    assert net.cabling.rail_names == (
        "HCA-1, mlx5_0", "HCA-2, mlx5_1", "HCA-5, mlx5_4", "HCA-6, mlx5_5"
    )  # fmt: skip
    assert np.bincount(net.cabling.rail).tolist() == [140, 140, 122, 140]  # a leaf's 18 are gone
    said = missing_parts(net)
    assert said[0] == "leaf A09-P1-IBLEAF-03-01 absent"
    assert said[1] == (
        "leaf A09-P1-IBLEAF-01-01 has 17 of 18 uplinks: 1 of 2 to spine A10-P1-IBSPINE-04"
    )
    up = [each for each in said if "uplinks" in each]
    down = [each for each in said if "downlinks" in each]

    def lost(lines):
        numbers = [line.split(" has ")[1].split()[:3] for line in lines]
        return sum(int(of) - int(has) for has, _, of in numbers)

    assert lost(up) == lost(down) == 31 * 18 - net.num_network_channels // 2 == 26
    assert said[-3:] == (
        "adapter b08-p1-dgx-08-c01/HCA-5 hangs on a leaf of HCA-6, mlx5_5",
        "adapter b08-p1-dgx-08-c01/HCA-6 hangs on a leaf of HCA-5, mlx5_4",
        "74 adapters do not say their computer",
    )
    assert any(each.startswith("10 computers have no adapter HCA-5, mlx5_4: ") for each in said)


def test_slow_cables_unplugged_adapters_and_gaps_in_numbers():
    text = ibsim_text(topology("leaf-spine:4x4x2"))
    text = text.replace("]\n", "] # 4xNDR\n")
    text = text.replace(
        '[1]\t"S-0000000002000004"[1] # 4xNDR', '[1]\t"S-0000000002000004"[1] # 4xHDR'
    )
    text += 'Ca 1 "H-9" # "node9 HCA-1"\n\nSwitch 8 "S-a" # "leaf6"\n'
    assert missing_parts(read_text_as_fabric(text)) == (
        "switch leaf6 has no cable to another switch",
        "cable between leaf0 port 1 and spine0 port 1 runs at 200 of 400 Gb/s",
        "1 adapter without a cable: node9/HCA-1",
    )


def test_slow_cables_of_routers_that_are_hosts_are_said_too(tmp_path):
    file = tmp_path / "square.txt"
    file.write_text("a b 100Gb/s\nb c 100Gb/s\nc d 100Gb/s\nd a 40Gb/s\na c 100Gb/s\nb d 100Gb/s\n")
    assert missing_parts(topology(f"graph:{file}")) == (
        "cable between a and d runs at 40 of 100 Gb/s",
    )


def test_leaves_without_hosts_and_spines_with_one_do_not_hide_a_tree():
    net = topology("leaf-spine:6x3x4")
    text = ibsim_text(net)
    alone = "\n\n".join(
        block for block in text.split("\n\n") if not any(f'"h{n}"' in block for n in range(4))
    )
    for port in range(4, 8):
        alone = alone.replace(f'[{port}]\t"H-{0x100000000 + 2 * (port - 4):016x}"[1]\n', "", 1)
    found = read_text_as_fabric(alone)
    assert found.num_hosts == 20
    assert shape_of(found).words == "two-level tree of 6 leaves and 3 spines"
    assert missing_parts(found) == ()
    manager = text.replace('Switch\t6 "S-0000000002000006"', 'Switch\t7 "S-0000000002000006"')
    said = '# "spine0" base port 0 lid 0 lmc 0\n'
    manager = manager.replace(said, said + '[7] "H-00000000000000ff"[1]\n')
    manager += '\nCa 1 "H-00000000000000ff" # "manager"\n[1] "S-0000000002000006"[7]\n'
    assert shape_of(read_text_as_fabric(manager)).words == "two-level tree of 6 leaves and 3 spines"


def test_leaves_of_another_name_may_have_fewer_uplinks():
    text = ibsim_text(topology("leaf-spine:8x4x4"))
    for leaf in (1, 4, 6):
        text = text.replace(f'# "leaf{leaf}"', f'# "storage{leaf}"')
        guid = f"{0x2000000 + leaf:016x}"
        for spine in (2, 3):
            text = text.replace(f'[{spine + 1}]\t"S-{0x2000008 + spine:016x}"[{leaf + 1}]\n', "")
            text = text.replace(f'[{leaf + 1}]\t"S-{guid}"[{spine + 1}]\n', "")
    net = read_text_as_fabric(text)
    assert net.num_network_channels == 2 * (32 - 6)
    assert [each for each in missing_parts(net) if "uplinks" in each] == []
    leaf = text.replace("storage", "leaf")
    up = [each for each in missing_parts(read_text_as_fabric(leaf)) if "uplinks" in each]
    assert up[0] == "leaf1 has 2 of 4 uplinks: 0 of 1 to spine2, 0 of 1 to spine3"
    assert len(up) == 3
