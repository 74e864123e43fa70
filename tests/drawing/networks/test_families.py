"""Where each family's picture has its channels."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.drawing.networks.chart import scene_of
from netloom.drawing.networks.curves import HOT, in_columns
from netloom.drawing.networks.squares import gray_order
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import topology


def placed(net, width=700):
    """Return the parts of a scene by what they are: curves, then squares."""
    time = np.random.default_rng(3).permutation(net.num_network_channels) + 1.0
    scene = scene_of(Traffic(net, time, "bytes"), width)
    return scene, time


def test_a_tree_has_its_levels_up_and_down_and_its_pods_together():
    laid = in_columns(topology("fat-tree:4x3"))
    assert [len(column.routers) for column in laid.columns] == [16] * 5
    pods = [column.group for column in laid.columns]
    for column in (0, 1, 3, 4):
        assert np.bincount(pods[column]).tolist() == [4] * 4
        assert (np.diff(pods[column]) >= 0).all()
    routers = topology("fat-tree:4x3").routers
    lower = dict(zip(laid.columns[0].routers, pods[0], strict=True))
    upper = dict(zip(laid.columns[1].routers, pods[1], strict=True))
    first = (laid.leaves == 0) & (laid.enters == 1)
    ends = zip(routers.channel_source[first], routers.channel_target[first], strict=True)
    assert all(lower[a] == upper[b] for a, b in ends)  # a pod's cables stay in the pod
    assert ((laid.enters - laid.leaves) == 1).all()


def test_a_tree_whose_family_nobody_said_has_the_same_columns():
    net = topology("fat-tree:4x3")
    named, unnamed = in_columns(net), in_columns(replace(net, family=None))
    assert np.array_equal(named.leaves, unnamed.leaves)
    assert np.array_equal(named.enters, unnamed.enters)
    for one, other in zip(named.columns, unnamed.columns, strict=True):
        assert set(one.routers) == set(other.routers)


@pytest.mark.parametrize("spec", ["fat-tree:k=16", "leaf-spine:128x32x8"])
def test_of_large_trees_only_the_hottest_cables_stand_by_themselves(spec):
    net = topology(spec)
    time = np.full(net.num_network_channels, 10.0)
    time[:20] = np.linspace(20, 40, 20)
    scene = scene_of(Traffic(net, time, "bytes"), 700)
    part = scene.channels[0]
    assert set(part.channel) == set(np.flatnonzero(time > HOT * 40))
    (bundles,) = scene.bundles
    cables = [int(said.split(" cables")[0].replace(",", "")) for said in bundles.words]
    assert sum(cables) == len(time)
    assert len(cables) < len(time) / 4


def test_any_graph_is_layered_by_distance_from_hosts():
    net = replace(topology("dragonfly+:2x2x2x2"), family=None)
    laid = in_columns(net)
    spines = {net.routers.name_of(r) for r in laid.columns[1].routers}
    assert len(laid.columns) == 4  # spines are joined: they stand there as senders and receivers
    assert all("spine" in name for name in spines)
    assert set(laid.columns[2].routers) == set(laid.columns[1].routers)
    assert np.bincount(3 * laid.leaves + laid.enters - 1).tolist() == [20, 0, 0, 0, 20, 0, 0, 0, 20]


def test_global_cables_end_in_their_groups_arcs_and_at_their_routers():
    net = topology("dragonfly:4x8x4")
    scene, _ = placed(net)
    chords = scene.channels[0]
    routers = net.routers
    size, groups = 8, 33
    middle = chords.points[:, [0, 3]].reshape(-1, 2)
    centre = (middle.min(axis=0) + middle.max(axis=0)) / 2
    for end, of in ((0, routers.channel_source), (3, routers.channel_target)):
        router = of[chords.channel]
        away = chords.points[:, end] - centre
        turn = (np.arctan2(away[:, 1], away[:, 0]) + np.pi / 2) / (2 * np.pi) * groups
        nearest = np.round(turn)
        assert np.array_equal(nearest % groups, router // size)
        order = np.lexsort((turn - nearest, router // size))
        assert (np.diff(router[order]) >= 0).all()  # in an arc, router by router
    far = routers.channel_source // size != routers.channel_target // size
    assert set(chords.channel) == set(np.flatnonzero(far))


@pytest.mark.parametrize("width", [328, 700])
def test_the_matrix_of_groups_has_the_busiest_channel_of_each_pair(width):
    net = topology("dragonfly:2x4x2/5")  # two links between any two groups
    scene, time = placed(net, width)
    matrix = scene.channels[-1]
    group = net.routers.channel_source // 4, net.routers.channel_target // 4
    left, top, side = matrix.squares.T
    row = np.round((top - top.min()) / (side + 0.6)).astype(int)
    column = np.round((left - left.min()) / (side + 0.6)).astype(int)
    for each, one, other in zip(matrix.channel, row, column, strict=True):
        between = (group[0] == one) & (group[1] == other)
        assert time[each] == time[between].max()
        assert between[each]
    assert len(matrix.channel) == 5 * 4


def test_a_square_of_a_cube_is_the_channel_that_leaves_its_node():
    net = topology("mesh:2x3x4")
    scene, _ = placed(net)
    key, part = scene.channels  # the key has the busiest once more
    assert key.channel.tolist() == part.channel[-1:].tolist()
    boxes = np.array([box[:4] for box in scene.boxes])
    assert len(boxes) == 2 * 6
    cell = boxes[0, 2] / 4
    left, top, _ = part.squares.T
    for channel, x, y in zip(part.channel, left, top, strict=True):
        inside = (boxes[:, 0] <= x) & (x < boxes[:, 0] + boxes[:, 2])
        inside &= (boxes[:, 1] <= y) & (y < boxes[:, 1] + boxes[:, 3])
        (panel,) = np.flatnonzero(inside)
        plane, direction = divmod(int(panel), 6)
        column, row = round((x - boxes[panel, 0]) / cell), round((y - boxes[panel, 1]) / cell)
        assert net.coordinates(net.source_end[channel]) == (plane, row, column)
        step = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0)][direction]
        end = tuple(np.add((plane, row, column), step))
        assert net.coordinates(net.target_end[channel]) == end
    texts = [word.text for word in scene.words]
    assert [text for text in texts if text[1:2] in set("+−")] == [
        "x+ →",
        "x− ←",
        "y+ ↓",
        "y− ↑",
        "z+",
        "z−",
    ]
    assert {"z = 0", "z = 1"} <= set(texts)


def test_a_matrix_of_a_hyperx_has_senders_down_and_receivers_across():
    net = topology("hyperx:3x4/1")
    scene, _ = placed(net)
    (part,) = scene.channels
    labels = [word.text for word in scene.words if "·" in word.text]
    assert labels == ["(0,·)", "(1,·)", "(2,·)", "(·,0)", "(·,1)", "(·,2)", "(·,3)"]
    left, top, side = part.squares.T
    for channel, x, y in zip(part.channel, left, top, strict=True):
        (box,) = [
            at
            for at, box in enumerate(scene.boxes)
            if box.x <= x < box.x + box.width and box.y <= y < box.y + box.height
        ]
        many = 4 if box < 3 else 3
        cell = scene.boxes[box].width / many
        row = round((y - scene.boxes[box].y) / cell)
        column = round((x - scene.boxes[box].x) / cell)
        names = [labels[box].replace("·", str(at)) for at in (row, column)]
        assert net.channel_name(channel) == " -> ".join(names)
    assert (side > 2).all()


def test_of_several_lanes_the_busiest_is_shown():
    net = topology("hyperx:4x4/1/2")
    scene, time = placed(net)
    (part,) = scene.channels
    ends = net.source_end * 1000 + net.target_end
    for channel in part.channel:
        assert time[channel] == time[ends[: len(time)] == ends[channel]].max()
    assert len(part.channel) == net.num_network_channels / 2


@pytest.mark.parametrize("spec", ["hypercube:5", "mesh:3x2x4x2", "torus:3x3x2x3"])
def test_a_square_of_a_large_cube_is_at_its_node_and_dimension(spec):
    net = topology(spec)
    scene, time = placed(net)
    (part,) = scene.channels
    assert set(part.channel) == set(range(net.num_channels))
    left, top, _ = part.squares.T
    order = gray_order(net.routers.sides).tolist()
    for channel, x, y in zip(part.channel, left, top, strict=True):
        box = next(b for b in scene.boxes if b.x <= x < b.x + b.width and b.y <= y < b.y + b.height)
        lines = sorted({b.y for b in scene.boxes})
        many = len(order) // len(lines)
        cell = box.width / many
        node = order[lines.index(box.y) * many + round((x - box.x) / cell)]
        assert net.source_end[channel] == node
        names = [word for word in scene.words if word.text.startswith("dimension")]
        (name,) = {word.text for word in names if abs(word.y - (y + cell / 2)) < 0.3 * cell} or {
            None
        }
        if name is not None:
            axis = int(name.split()[1].rstrip("+−"))
            ends = [net.coordinates(of[channel]) for of in (net.source_end, net.target_end)]
            assert [at for at in range(len(ends[0])) if ends[0][at] != ends[1][at]] == [axis]
    assert max(np.nanmax(cells.time) for cells in scene.cells) == time.max()


def test_neighbors_in_gray_order_are_neighbors_in_the_network():
    net = topology("mesh:3x2x4x2")
    order = gray_order(net.routers.sides)
    steps = np.diff([net.coordinates(node) for node in order.tolist()], axis=0)
    assert (np.abs(steps).sum(axis=1) == 1).all()
    assert sorted(order) == list(range(net.num_nodes))


@pytest.mark.parametrize("spec", ["leaf-spine:8x4x8", "leaf-spine:4x2x2/3", "fat-tree:4x3"])
@pytest.mark.parametrize("width", [328, 700])
def test_a_tree_has_the_busiest_channel_of_each_leaf_or_pod_and_top_router(spec, width):
    net = topology(spec)
    scene, time = placed(net, width)
    shown = next(part.channel for part in scene.channels if part.again)
    laid = in_columns(net)
    at = len(laid.columns) // 2
    below = laid.columns[at - 1]
    pod = np.zeros(net.num_routers, int)
    pod[below.routers] = below.group if below.group.any() else np.arange(len(below.routers))
    source, target = net.routers.channel_source, net.routers.channel_target
    wanted = []
    for up, low, high in ((laid.enters == at, source, target), (laid.leaves == at, target, source)):
        pairs = {(int(pod[low[each]]), int(high[each])) for each in np.flatnonzero(up)}
        for row, top in pairs:
            mine = np.flatnonzero(up & (pod[low] == row) & (high == top))
            wanted.append(int(mine[np.argmax(time[mine])]))
    assert sorted(shown) == sorted(wanted)
