"""Rates of InfiniBand cables, from their width and speed.

A rate is what is left for data. The wire is faster by its coding: 10 bits for 8 up to QDR, 66 for
64 up to EDR, and 17 for 16 with forward error correction from HDR on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WIRE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3125, "FDR": 14.0625, "EDR": 25.78125,
    "HDR": 53.125, "NDR": 106.25, "XDR": 212.5,
}  # fmt: skip
"""Gb/s of a lane on the wire, as tools print it (InfiniBand Architecture Specification)."""

_CODES = (("SDR DDR QDR", 8, 10), ("FDR10 FDR EDR", 64, 66), ("HDR NDR XDR", 16, 17))
"""Of how many bits on the wire how many are data."""

LANE_GBPS = {
    name: WIRE_GBPS[name] * data / of for names, data, of in _CODES for name in names.split()
}
"""Gb/s of data of a lane: EDR 25, HDR 50, NDR 100."""

_TOKEN = re.compile(r"^(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)$", re.IGNORECASE)


def gbps_of(words: Iterable[str]) -> float:
    """Return the Gb/s of data that the first of some words says that is a rate, or 0 if none is.

    Examples
    --------
    >>> gbps_of(["lid", "4", "4xNDR"]), gbps_of(["4", "x"])
    (400.0, 0.0)
    """
    for word in words:
        token = _TOKEN.match(word)
        if token:
            return int(token[1]) * LANE_GBPS[token[2].upper()]
    return 0.0


_WIDTHS, _SPEEDS = {1: 1, 2: 4, 4: 8, 8: 12}, {1: "SDR", 2: "DDR", 4: "QDR"}


def simulated_gbps(here: tuple[int, int], there: tuple[int, int]) -> float:
    """Return the Gb/s of data at which ibsim joins two ports: the best that both allow.

    Each end says its widths and speeds as sums of 1, 2, 4, 8 (1x, 4x, 8x, 12x) and of 1, 2, 4
    (SDR, DDR, QDR), or 0 if the two share none (ibsim, ``sim_net.c``).

    Examples
    --------
    >>> simulated_gbps((2, 1), (2, 1)), simulated_gbps((12, 7), (8, 3))
    (8.0, 48.0)
    >>> simulated_gbps((1, 1), (2, 1))
    0.0
    """
    width = max((lanes for bit, lanes in _WIDTHS.items() if bit & here[0] & there[0]), default=0)
    both = (LANE_GBPS[name] for bit, name in _SPEEDS.items() if bit & here[1] & there[1])
    return width * max(both, default=0.0)


def lane_rate(lanes: str, gbps: str) -> float:
    """Return the Gb/s of data of lanes such as ``4X`` at a speed such as ``25.78125`` or ``FDR10``.

    A number is the speed of a lane on the wire. One that OpenSM rounds (``SPD=25``, ``14``) stands
    for the next standard speed. The rate is 0 if none is near.

    Examples
    --------
    >>> lane_rate("4X", "25.78125"), lane_rate("4x", "25"), lane_rate("4x", "FDR10")
    (100.0, 100.0, 40.0)
    >>> lane_rate("4x", "???")
    0.0
    """
    width = int(lanes.rstrip("xX")) if re.fullmatch(r"\d{1,2}[xX]?", lanes, re.ASCII) else 0
    if gbps.upper() in LANE_GBPS:
        return width * LANE_GBPS[gbps.upper()]
    try:
        said = float(gbps)
    except ValueError:
        return 0.0
    speeds = [name for name in WIRE_GBPS if name != "FDR10"]
    nearest = min(speeds, key=lambda name: abs(WIRE_GBPS[name] - said))
    far = abs(WIRE_GBPS[nearest] - said) > 0.07 * WIRE_GBPS[nearest]
    return 0.0 if far else width * LANE_GBPS[nearest]
