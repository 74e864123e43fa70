"""Networks that simulators and models refuse, in one line."""

from __future__ import annotations

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import Topology, mesh, topology
from netloom.topology.measures import check_alike, check_direct


def test_a_direct_network_of_equal_channels_is_taken() -> None:
    check_direct(mesh(4, 4), "anything")
    check_alike(mesh(4, 4), "anything")


def test_hosts_that_hang_on_routers_are_refused_with_what_takes_them() -> None:
    with pytest.raises(InputError, match=r"for x; for this one, use analyze or map$"):
        check_direct(topology("leaf-spine:4x2x4"), "x")


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
