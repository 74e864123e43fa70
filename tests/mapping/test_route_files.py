import numpy as np
import pytest

from netloom.errors import InputError
from netloom.mapping.files.route_files import write_routes
from netloom.routing import DimensionOrder, all_routes, read_routes
from netloom.topology import torus


def test_routes_come_back_as_they_were(tmp_path):
    net = torus(3, 4)
    routes = all_routes(net, DimensionOrder())
    write_routes(tmp_path / "routes.txt", net, routes)
    again = read_routes(net, tmp_path / "routes.txt")
    assert np.array_equal(again.pairs, routes.pairs)
    assert np.array_equal(again.routes.offsets, routes.routes.offsets)
    assert np.array_equal(again.routes.channels, routes.routes.channels)
    with pytest.raises(InputError, match="found a folder"):
        write_routes(tmp_path, net, routes)
