"""What rate a message gets between two nodes, without contention and when the network is saturated.

Chittor 1991, sections 2.1, 2.3 and 3.6. ``wiring.speedup`` is the ratio of two effective bandwidths
where channels may be as wide and as fast as equal wiring lets them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.models.wiring import Delay, Form, channel_bandwidth_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def effective_bandwidth(
    hops: ArrayLike, message_bytes: ArrayLike, *, bandwidth: float, header_bytes: float = 1
) -> NDArray[np.float64]:
    """Return E, the rate at which a message comes to its target when nothing is in its way.

    L / τ_n with τ_n = (D H + L) / B (Chittor 1991, definition 10 and eq. 2.19): in the unit of the
    channel bandwidth B, which it tends to for long messages. The ratio of two of them is the
    speedup R_e (eqs. 2.16 and 2.20).

    Parameters
    ----------
    hops
        Path length D, at least 0, scalar or array.
    message_bytes
        Message length L without its header, more than 0, scalar or array; the two broadcast.
    bandwidth
        B, of one channel, more than 0, in any unit.
    header_bytes
        Header length H, at least 0.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> effective_bandwidth([1, 10], 30, bandwidth=20.0).round(2)  # Mbytes/s
    array([19.35, 15.  ])
    """
    path, length = np.asarray(hops, np.float64), np.asarray(message_bytes, np.float64)
    _in_range("hops", path, path >= 0, "at least 0")
    _in_range("message_bytes", length, length > 0, "more than 0")
    _in_range("bandwidth", bandwidth, np.asarray(bandwidth) > 0, "more than 0")
    _in_range("header_bytes", header_bytes, np.asarray(header_bytes) >= 0, "at least 0")
    return np.asarray(bandwidth * length / (path * header_bytes + length))


def saturated_bandwidth(saturation: ArrayLike, *, bandwidth: float) -> NDArray[np.float64]:
    """Return E of a program that does nothing but communicate, on a saturated network.

    λ_sat B (Chittor 1991, lemma 8 and eq. 3.35): a loop of computation and communication of which
    only the latter is left takes L / (λ_sat B).

    Parameters
    ----------
    saturation
        λ_sat, saturation node traffic, from 0 to 1, scalar or array: of a mapped program, such as
        ``contention.saturation`` finds or ``channel_saturation`` predicts.
    bandwidth
        B, of one channel, more than 0, in any unit.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> float(saturated_bandwidth(2 / 16, bandwidth=20.0))  # 256 nodes, lemma 6
    2.5
    """
    traffic = np.asarray(saturation, np.float64)
    _in_range("saturation", traffic, (traffic >= 0) & (traffic <= 1), "from 0 to 1")
    _in_range("bandwidth", bandwidth, np.asarray(bandwidth) > 0, "more than 0")
    return np.asarray(traffic * bandwidth)


def saturated_speedup(
    num_nodes: ArrayLike,
    saturation: ArrayLike,
    *,
    delay: Delay = "constant",
    form: Form = "exact",
) -> NDArray[np.float64]:
    """Return R_e of a saturated mesh over a hypercube that does not contend: λ_sat R_b.

    Chittor 1991, section 3.6. Of a random mapping, with λ_sat = 2/√N (lemma 6) and R_b = 2√N/3
    (Table 2.1), 4/3 is left, whatever the size: contention takes what the wider channels gave.

    Parameters
    ----------
    num_nodes
        int, powers of two from 4, scalar or array.
    saturation
        λ_sat of the mesh, from 0 to 1, scalar or array; the two broadcast.
    delay, form
        As for ``channel_bandwidth_ratio``.

    Raises
    ------
    InputError
        If an argument is out of range or not known.

    Examples
    --------
    >>> saturated_speedup([64, 1024], [2 / 8, 2 / 32], form="chittor-1991").round(3)
    array([1.333, 1.333])
    """
    ratio = channel_bandwidth_ratio(num_nodes, delay, form=form)
    return np.asarray(ratio * saturated_bandwidth(saturation, bandwidth=1.0))


def _in_range(field: str, value: ArrayLike, good: ArrayLike, wanted: str) -> None:
    found = np.asarray(value)[~np.asarray(good)]
    if found.size:
        raise InputError(field, str(found.flat[0]), wanted)
