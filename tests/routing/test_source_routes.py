"""Routes written to a file come back."""

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.routing import (
    DimensionOrder,
    DModK,
    all_routes,
    find_deadlock,
    parse_routing,
    paths,
    read_routes,
    routes_by,
    source_routes,
    virtual_channel_routing,
    write_routes,
)
from netloom.routing.source_routing import words_of
from netloom.topology import Topology, mesh, topology, torus, without
from netloom.topology.core import attach_hosts


def test_routes_come_back_from_their_file(tmp_path):
    net, file = torus(4, 3), tmp_path / "routes.txt"
    routes = all_routes(net, DimensionOrder())
    write_routes(net, routes, file)
    again = parse_routing(f"routes:{file}", net)
    assert again.pairs.tolist() == routes.pairs.tolist()
    assert np.array_equal(again.routes.offsets, routes.routes.offsets)
    assert np.array_equal(again.routes.channels, routes.routes.channels)
    assert file.read_text().splitlines()[1] == "0 1"


def same_routes(one, two):
    return (
        one.pairs.tolist() == two.pairs.tolist()
        and np.array_equal(one.routes.offsets, two.routes.offsets)
        and np.array_equal(one.routes.channels, two.routes.channels)
    )


@pytest.mark.parametrize("spec", ["leaf-spine:3x2x2/2", "fat-tree:2x3", "xgft:2x2/2x1/2x1"])
def test_routes_from_host_to_host_come_back_by_names(tmp_path, spec):
    net, file = topology(spec), tmp_path / "routes.txt"
    routes = all_routes(net, DModK())
    write_routes(net, routes, file)
    assert same_routes(read_routes(net, file), routes)
    assert file.read_text().splitlines()[1].startswith("h0 ")
    hosts = np.arange(net.num_hosts)
    sources, targets = hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))
    given, own = (paths(net, each, sources, targets) for each in (routes, DModK()))
    assert np.array_equal(given.channels, own.channels)
    assert find_deadlock(net, routes) == ()


def test_names_with_blanks_and_marks_come_back(tmp_path):
    names = ("node 0 HCA-1", 'the "other"', "->", "MF0;A09#1", "back\\slash")
    inside = Topology(
        "three", 3, np.array([0, 0, 1, 1, 2, 2], np.int32), np.array([1, 1, 0, 2, 1, 1], np.int32),
    )  # fmt: skip
    net = attach_hosts(inside, np.array([0, 2]), name="three", labels=names)
    file = tmp_path / "routes.txt"
    routes = source_routes(net, [[0, 2, 3, 4, 1], [1, "4", "MF0;A09#1#2", 2, 0]])
    assert net.channel_name(int(routes.routes[1][0])) == "back\\slash -> MF0;A09#1#2"
    write_routes(net, routes, file)
    assert same_routes(read_routes(net, file), routes)


def test_a_line_may_have_arrows_numbers_names_and_comments(tmp_path):
    net, file = topology("leaf-spine:2x2x1/2"), tmp_path / "routes.txt"
    file.write_text(
        "# from host to host\n"
        "h0 -> leaf0 -> spine1#2 -> leaf1 -> h1 # the second cable\n"
        "1 3 4 2#2 0 #back by numbers\n"
    )
    found = read_routes(net, file).routes.whole(net)
    named = [[net.channel_name(c) for c in found[route]] for route in range(2)]
    assert named == [
        ["h0 -> leaf0", "leaf0 -> spine1#2", "spine1 -> leaf1#1", "leaf1 -> h1"],
        ["h1 -> leaf1", "leaf1 -> spine0#1", "spine0 -> leaf0#2", "leaf0 -> h0"],
    ]
    assert words_of('0 1#2 "a b"#4 x#y z') == ["0", "1#2", '"a b"#4', "x"]
    assert words_of("#comment") == words_of("  \n") == []


def test_functions_route_from_host_to_host_by_vertices_or_names():
    net = topology("leaf-spine:4x2x2")

    def by_source(network, source, target):
        ends = (f"leaf{host // 2}" for host in (source, target))
        first, last = ends
        between = [] if first == last else [f"spine{source % 2}", last]
        return [source, first, *between, f"h{target}"]

    routes = routes_by(net, by_source)
    hosts = np.arange(8)
    load = np.bincount(paths(net, routes, hosts, (hosts + 2) % 8).channels)
    assert load.max() == 1
    broken = without(net, nodes="h3")
    assert len(routes_by(broken, by_source).routes) == 7 * 6
    with pytest.raises(InputError, match="a route from 0 to 1 that visits"):
        routes_by(net, lambda network, source, target: [source, "leaf0", "h7"])


def rows_last(network, source, target):
    """Down the column, then along the row, on a mesh of rows of four."""
    del network
    row, column = divmod(source, 4)
    nodes = [source]
    while nodes[-1] != target:
        goal = divmod(target, 4)
        row += (goal[0] > row) - (goal[0] < row)
        column += 0 if nodes[-1] // 4 != goal[0] else (goal[1] > column) - (goal[1] < column)
        nodes.append(4 * row + column)
    return nodes


def test_a_function_routes_as_the_routing_that_it_describes():
    options = {"random_mappings": 0, "mapping": "random"}
    by_name = nl.analyze("transpose:4", "mesh:4x4", routing="yx", **options)
    by_function = nl.analyze("transpose:4", "mesh:4x4", routing=rows_last, **options)
    assert by_function.routing == "rows_last"
    load = [each.to_dict()["channel_load"] for each in (by_name, by_function)]
    assert load[0] == load[1]
    assert by_function.provenance.configuration["routing"] is not None
    assert "0x" not in str(by_function.provenance.configuration["routing"])


def test_a_file_of_routes_may_be_named_alone(tmp_path):
    file = tmp_path / "routes.txt"
    file.write_text("0 2 3\n")
    for spec in (f"routes:{file}", str(file)):
        found = parse_routing(spec, mesh(2, 2))
        assert found.name == f"routes:{file}"
        assert virtual_channel_routing(mesh(2, 2), spec, num_vcs=2).routes is not None
