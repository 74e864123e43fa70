"""Rates of InfiniBand cables, from their width and speed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3125, "FDR": 14.0625, "EDR": 25.78125,
    "HDR": 53.125, "NDR": 106.25, "XDR": 212.5,
}  # fmt: skip
"""Gb/s of a lane, on the wire (InfiniBand Architecture Specification, rdma-core)."""

_TOKEN = re.compile(r"^(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)$", re.IGNORECASE)


def gbps_of(words: Iterable[str]) -> float:
    """Return the Gb/s that the first of some words says that is a rate, or 0 if none is.

    Examples
    --------
    >>> gbps_of(["lid", "4", "4xNDR"]), gbps_of(["4", "x"])
    (425.0, 0.0)
    """
    for word in words:
        token = _TOKEN.match(word)
        if token:
            return int(token[1]) * LANE_GBPS[token[2].upper()]
    return 0.0


_WIDTHS, _SPEEDS = {1: 1, 2: 4, 4: 8, 8: 12}, {1: 2.5, 2: 5.0, 4: 10.0}


def simulated_gbps(here: tuple[int, int], there: tuple[int, int]) -> float:
    """Return the Gb/s at which ibsim joins two ports: the best width and speed that both allow.

    Each end says its widths and speeds as sums of 1, 2, 4, 8 (1x, 4x, 8x, 12x) and of 1, 2, 4
    (2.5, 5, 10 Gb/s a lane), or 0 if the two share none (ibsim, ``sim_net.c``).

    Examples
    --------
    >>> simulated_gbps((2, 1), (2, 1)), simulated_gbps((12, 7), (8, 3))
    (10.0, 60.0)
    >>> simulated_gbps((1, 1), (2, 1))
    0.0
    """
    width = max((lanes for bit, lanes in _WIDTHS.items() if bit & here[0] & there[0]), default=0)
    speed = max((gbps for bit, gbps in _SPEEDS.items() if bit & here[1] & there[1]), default=0.0)
    return width * speed


def lane_rate(lanes: str, gbps: str) -> float:
    """Return the Gb/s of lanes such as ``4X`` at a speed such as ``25.78125`` or ``FDR10``.

    A speed as OpenSM rounds it (``SPD=25``, ``14``) stands for the next standard speed, or 0 if
    none is near.

    Examples
    --------
    >>> lane_rate("4X", "25.78125"), lane_rate("4x", "25"), lane_rate("4x", "FDR10")
    (103.125, 103.125, 41.25)
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
    near = [each for name, each in LANE_GBPS.items() if name != "FDR10"]
    nearest = min(near, key=lambda each: abs(each - said))
    return width * nearest if abs(nearest - said) <= 0.07 * nearest else 0.0
