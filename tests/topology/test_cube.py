from netloom.topology import cube, mesh, torus


def test_channels_of_a_line_lie_in_the_order_in_which_they_are_crossed():
    line = mesh(4)
    assert list(zip(line.channel_source.tolist(), line.channel_target.tolist(), strict=True)) == [
        (0, 1), (1, 2), (2, 3),
        (3, 2), (2, 1), (1, 0),
    ]  # fmt: skip


def test_a_ring_closes_in_both_directions():
    ring = torus(3)
    assert ring.channel_source.tolist() == [0, 1, 2, 2, 1, 0]
    assert ring.channel_target.tolist() == [1, 2, 0, 1, 0, 2]


def test_the_last_coordinate_varies_fastest():
    assert mesh(2, 3).coordinates(4) == (1, 1)
    assert mesh(2, 3).name_of(5) == "(1,2)"


def test_grouped_channels_leave_and_enter_their_node():
    net = cube([3, 4], [True, False])
    for offsets, channels, end in (
        (*net.outgoing(), net.source_end),
        (*net.incoming(), net.target_end),
    ):
        for node in range(net.num_nodes):
            assert set(end[channels[offsets[node] : offsets[node + 1]]]) == {node}
