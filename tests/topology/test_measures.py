import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import InputError
from netloom.topology import (
    Topology,
    average_distance,
    diameter,
    graph_topology,
    mesh,
    num_links,
    to_networkx,
)
from netloom.topology.measures import check_alike
from tests.properties.strategies import cubes


@given(cubes(most_nodes=60))
def test_closed_forms_agree_with_a_search(network):
    searched = graph_topology(to_networkx(network))
    assert diameter(network) == diameter(searched)
    assert average_distance(network) == pytest.approx(average_distance(searched))
    assert num_links(network) == network.num_channels // 2


def test_a_lone_node_has_no_distance():
    assert average_distance(mesh(1)) == 0


@pytest.mark.parametrize("field", ["channel_bandwidth", "channel_cycles"])
@pytest.mark.parametrize("channel", [0, 5])
def test_the_first_channel_that_differs_is_named(field: str, channel: int) -> None:
    line = mesh(4)
    values = np.array(getattr(line, field))
    values[channel:] *= 2
    changed = Topology("slow", 4, line.channel_source, line.channel_target, **{field: values})
    name = changed.channel_name(channel)
    with pytest.raises(InputError, match=f"channel {name} of bandwidth"):
        check_alike(changed, "compiled phases")
