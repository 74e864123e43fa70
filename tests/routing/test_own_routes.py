"""Routes by a Python function, by a file, and dimension orders by the names of the axes."""

import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.routing import parse_routing, routes_by, virtual_channel_routing
from netloom.topology import mesh, without


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


def test_other_verbs_say_how_and_take_the_routes():
    with pytest.raises(InputError, match=r"Python function; expected netloom\.routing\.routes_by"):
        nl.simulate("mesh:4x4", routing=rows_last, traffic="uniform", load=0.1)
    routes = routes_by(mesh(4, 4), rows_last)
    found = virtual_channel_routing(mesh(4, 4), routes, num_vcs=1)
    assert found.routes is routes


def test_a_route_that_does_not_arrive_is_refused():
    with pytest.raises(InputError, match="a route from 0 to 1 that visits"):
        nl.analyze("ring:4", "mesh:2x2", routing=lambda network, source, target: [source])
    broken = without(mesh(2, 2), nodes="3")
    assert len(routes_by(broken, lambda _, a, b: [a, 0, b] if a and b else [a, b]).routes) == 6


def test_a_file_of_routes_may_be_named_alone(tmp_path):
    file = tmp_path / "routes.txt"
    file.write_text("0 2 3\n")
    for spec in (f"routes:{file}", str(file)):
        found = parse_routing(spec, mesh(2, 2))
        assert found.name == f"routes:{file}"
        assert virtual_channel_routing(mesh(2, 2), spec, num_vcs=2).routes is not None
