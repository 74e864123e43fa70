"""Figures of the identity mapping as another implementation measured them.

From an evaluation of mapping tools on real communication matrices: hop-bytes, largest and mean
channel load by bytes, largest load counting each pair once, average dilation. Same conventions:
dimension order, within a row first, half-way ties forward, means over all channels.
"""

import pytest

from netloom import analyze


@pytest.mark.parametrize(
    ("network", "hop_bytes", "max_load", "mean_load", "max_paths", "dilation"),
    [
        ("hypercube:6", 682849692, 3915900, 1.77825e6, 3, 1.49981),
        ("mesh:8x8", 1191803328, 10205420, 5.32055e6, 10, 2.61768),
        ("torus:4x4x4", 455443880, 1960520, 1.18605e6, 4, 1.00034),
        ("torus:8x8", 1120086340, 12299755, 4.37534e6, 12, 2.46016),
    ],
)
def test_lammps_with_ranks_in_order(network, hop_bytes, max_load, mean_load, max_paths, dilation):
    data = analyze("examples/lammps-64.mtx", network, random_mappings=0).to_dict()
    assert data["hop_bytes"] == hop_bytes
    assert data["weighted_channel_load"]["max"] == max_load
    assert data["weighted_channel_load"]["mean"] == pytest.approx(mean_load, rel=1e-5)
    assert data["channel_load"]["max"] == max_paths
    assert data["dilation"] == pytest.approx(dilation, abs=1e-5)
