"""Routes written to a file come back."""

import numpy as np
import pytest

from netloom.errors import InputError
from netloom.routing import DimensionOrder, all_routes, parse_routing, source_routes, write_routes
from netloom.topology import torus


def test_routes_come_back_from_their_file(tmp_path):
    net, file = torus(4, 3), tmp_path / "routes.txt"
    routes = all_routes(net, DimensionOrder())
    write_routes(net, routes, file)
    again = parse_routing(f"routes:{file}", net)
    assert again.pairs.tolist() == routes.pairs.tolist()
    assert np.array_equal(again.routes.offsets, routes.routes.offsets)
    assert np.array_equal(again.routes.channels, routes.routes.channels)
    assert file.read_text().splitlines()[1] == "0 1"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    net = torus(4, 3)
    with pytest.raises(InputError, match="found a folder"):
        write_routes(net, source_routes(net, [[0, 1]]), tmp_path)
