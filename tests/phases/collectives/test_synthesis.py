"""Every collective on every kind of network: executed on data, never faster than the bound."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.phases.collectives.synthesis import SYNTHESISED, synthesised
from tests.phases.collectives.boxes import plain
from tests.reference.collectives_checked import check


@pytest.mark.parametrize("spec", ["torus:3x4", "mesh:2x3", "leaf-spine:2x1x2"])
@pytest.mark.parametrize("collective", SYNTHESISED)
def test_all_collectives(spec, collective):
    net = plain(spec)
    net = replace(net, bytes_per_second=25e9, latency=np.full(net.num_links, 1e-6))
    found = synthesised(net, collective, 10e6, root=1)
    check(found.program)
    assert found.program.collective == collective
    assert 0.8 < found.efficiency <= 1


def test_other_collectives_are_refused():
    with pytest.raises(InputError, match="'gather'; expected all-gather, reduce-scatter"):
        synthesised(plain("ring:4"), "gather", 1e6)
