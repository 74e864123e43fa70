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
"""Gb/s of a lane, on the wire (InfiniBand Architecture Specification; rdma-core)."""

_TOKEN = re.compile(r"^(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)$", re.IGNORECASE)


def gbps_of(words: Iterable[str]) -> float:
    """Return the Gb/s that the first of some words says that is a rate; 0 where none is.

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
