"""Rates of InfiniBand are those of data, in whatever spelling a tool prints them."""

import re

import pytest

from netloom.topology.subnets.infiniband import gbps_of, lane_rate
from tests.topology.subnets.fabric_files import read_text_as_fabric, text_of, unpacked

DATA = {
    "SDR": 8, "DDR": 16, "QDR": 32, "FDR10": 40, "FDR": 600 / 11, "EDR": 100, "HDR": 200,
    "NDR": 400, "XDR": 800,
}  # fmt: skip
"""Gb/s of data over four lanes, as printed of the generations of InfiniBand."""

PRINTED = {
    "SDR": ("2.5",), "DDR": ("5.0", "5"), "QDR": ("10.0", "10"), "FDR10": ("FDR10",),
    "FDR": ("14.0625", "14"), "EDR": ("25.78125", "25"), "HDR": ("53.125", "50"),
    "NDR": ("106.25", "100"), "XDR": ("212.5", "200"),
}  # fmt: skip
"""Speeds of a lane as iblinkinfo and OpenSM print them: those of the wire, exact or rounded."""


@pytest.mark.parametrize("width", [1, 2, 4, 8, 12])
@pytest.mark.parametrize("speed", DATA)
def test_a_rate_is_what_is_left_for_data(speed, width):
    wanted = pytest.approx(DATA[speed] * width / 4, rel=1e-12)
    assert gbps_of([f"{width}x{speed}"]) == wanted
    for said in (speed, *PRINTED[speed]):
        assert lane_rate(f"{width}X", said) == wanted


HOSTS = text_of("speeds.ibnetdiscover")


def test_speeds_of_one_fabric_have_the_ratio_of_their_data():
    net = read_text_as_fabric(HOSTS)
    assert net.reference_gbps == 200
    assert net.channel_bandwidth[: net.num_network_channels].tolist() == [0.16, 0.16]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("multi-plain.txt", r"4xSDR", "4xEDR"),
        ("multi-ports.txt", r"4x SDR", "4x EDR"),
        ("multi-linkinfo.txt", r"4X +2\.5 Gbps", "4X 25.78125 Gbps"),
        ("multi-linkinfo-p.txt", r"4X +2\.5 Gbps", "4X 25.78125 Gbps"),
        ("multi-opensm-subnet.lst", r"PHY=4x LOG=ACT SPD=2\.5", "PHY=4x LOG=ACT SPD=25"),
    ],
)
def test_every_reader_takes_data_rates(name, old, new):
    text, many = re.subn(old, new, unpacked(name))
    assert many
    assert read_text_as_fabric(text).reference_gbps == 100
