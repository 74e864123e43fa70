"""What the tests of all pictures of networks share."""

import numpy as np
import pytest

from netloom.drawing.networks.chart import drawn
from netloom.drawing.networks.traffic import Traffic


@pytest.fixture
def traffic_on():
    """Return loads on a network: some random ones, and one that is clearly the busiest."""

    def made(net, *, busiest=7, seed=1):
        many = net.num_network_channels
        loads = np.random.default_rng(seed).integers(1, 10, many).astype(float)
        loads[busiest % many] = 40.0
        return Traffic(net, loads, "bytes")

    return made


@pytest.fixture
def rows_of():
    """Return the rows of a scene's channels, as its chart has them."""

    def found(scene, of):
        tables = drawn(scene, of).to_dict()["datasets"].values()
        return max((table for table in tables if "heat" in table[0]), key=len)

    return found
