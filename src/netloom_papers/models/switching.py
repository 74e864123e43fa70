"""How long one message takes to cross an idle network, by switching technique, and at what rate.

Chittor 1991, sections 1.3.1, 2.1, 2.3 and 3.6. A message that
is cut into packets before it enters a wormhole network, as on the Symult 2010, costs what
``workload.NodeCosts.message_us`` says. All times are without contention and in
microseconds. The thesis's constants a and b are ``startup_us`` and ``per_byte_us``. C₁ and C₂,
the time per hop to set up the path, are both ``hop_us``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom_papers.models.wiring import Delay, Form, channel_bandwidth_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats


def store_and_forward(
    hops: ArrayLike,
    message_bytes: ArrayLike,
    *,
    startup_us: float,
    per_byte_us: float,
    packet_bytes: float | None = None,
) -> Floats:
    """Return the time of a message that every node on its path receives before it sends it on.

    D (a + b L) (Chittor 1991, eq. 1.1). If the message is cut into packets, each costs a + b × its
    bytes at every hop, and they follow one another down the path. The last of them arrives after Σ
    (a + b Lᵢ) + (D − 1) (a + b L₁), with L₁ the longest.

    Parameters
    ----------
    hops
        Path length D, at least 0, scalar or array; 0 hops take no time.
    message_bytes
        Message length L, at least 0, scalar or array. The two broadcast.
    startup_us, per_byte_us
        Fixed cost a and cost per byte b of one hop of one message or packet.
    packet_bytes
        Most bytes of a packet. The message is one packet where it is not given.

    Returns
    -------
    time_us
        float64 of the broadcast shape.

    Raises
    ------
    InputError
        If an argument is negative.

    Examples
    --------
    >>> first_generation = {"startup_us": 1000, "per_byte_us": 1}
    >>> float(store_and_forward(4, 1024, **first_generation))
    8096.0
    >>> float(store_and_forward(4, 1024, **first_generation, packet_bytes=512))
    7560.0
    """
    path, length = _checked(hops, message_bytes, startup_us, per_byte_us, 0)
    packets, longest = np.ones_like(length), length  # an empty message is one packet
    if packet_bytes is not None:
        if not packet_bytes > 0:
            raise InputError("packet_bytes", str(packet_bytes), "more than 0")
        packets = np.maximum(np.ceil(length / packet_bytes), 1)
        longest = np.minimum(length, packet_bytes)
    all_sent = packets * startup_us + per_byte_us * length
    return np.where(path > 0, all_sent + (path - 1) * (startup_us + per_byte_us * longest), 0)


def circuit_switched(
    hops: ArrayLike,
    message_bytes: ArrayLike,
    *,
    startup_us: float,
    per_byte_us: float,
    hop_us: float,
) -> Floats:
    """Return the time of a message that reserves its whole path before its data moves.

    C₁ D + a + b L (Chittor 1991, eq. 1.2).

    Parameters
    ----------
    hops, message_bytes, startup_us, per_byte_us
        As for ``store_and_forward``, of the message as a whole.
    hop_us
        Time C₁ to reserve one channel.

    Examples
    --------
    >>> ipsc2 = {"startup_us": 660, "per_byte_us": 0.36, "hop_us": 20}
    >>> circuit_switched([1, 6], 1000, **ipsc2)
    array([1040., 1140.])
    """
    path, length = _checked(hops, message_bytes, startup_us, per_byte_us, hop_us)
    return hop_us * path + startup_us + per_byte_us * length


def wormhole(
    hops: ArrayLike,
    message_bytes: ArrayLike,
    *,
    startup_us: float,
    per_byte_us: float,
    hop_us: float,
    flit_bytes: float = 1,
) -> Floats:
    """Return the time of a message whose flits follow its header in a pipeline.

    a + C₂ D + b (L − 1 flit) (Chittor 1991, eq. 1.3).

    Parameters
    ----------
    hops, message_bytes, startup_us, per_byte_us
        As for ``store_and_forward``, of the message as a whole.
    hop_us
        Time C₂ for the header to cross one node.
    flit_bytes
        Bytes of the flit that travels with the header.

    Examples
    --------
    >>> symult = {"startup_us": 210.9, "per_byte_us": 0.0577, "hop_us": 0.1}
    >>> wormhole([1, 22], 256, **symult).round(2)
    array([225.71, 227.81])
    """
    path, length = _checked(hops, message_bytes, startup_us, per_byte_us, hop_us)
    _not_negative("flit_bytes", flit_bytes)
    return startup_us + hop_us * path + per_byte_us * np.maximum(length - flit_bytes, 0)


def virtual_cut_through(
    hops: ArrayLike,
    message_bytes: ArrayLike,
    *,
    startup_us: float,
    per_byte_us: float,
    hop_us: float = 0.0,
    header_bytes: float = 1,
) -> Floats:
    """Return the time of a message that goes on as soon as its header has come.

    a + D (C + b H) + b L: every node receives the header of H bytes before it forwards it, and the
    L bytes of data follow in a pipeline. See Kermani & Kleinrock, Computer Networks 3, 1979, and
    with a = C = 0, Chittor 1991, eq. 2.19. Without contention this is wormhole routing, too. Under
    contention, a message that cannot go on is received whole.

    Parameters
    ----------
    hops, message_bytes, startup_us, per_byte_us
        As for ``store_and_forward``, of the message as a whole without its header.
    hop_us
        Time C in which a node decides on the next channel.
    header_bytes
        Length H of the header.

    Examples
    --------
    >>> virtual_cut_through([1, 22], 256, startup_us=0, per_byte_us=0.05, header_bytes=2)
    array([12.9, 15. ])
    """
    path, length = _checked(hops, message_bytes, startup_us, per_byte_us, hop_us)
    _not_negative("header_bytes", header_bytes)
    return startup_us + path * (hop_us + per_byte_us * header_bytes) + per_byte_us * length


def _checked(
    hops: ArrayLike, message_bytes: ArrayLike, startup_us: float, per_byte_us: float, hop_us: float
) -> tuple[Floats, Floats]:
    given = {"hops": hops, "message_bytes": message_bytes}
    given |= {"startup_us": startup_us, "per_byte_us": per_byte_us, "hop_us": hop_us}
    for field, values in given.items():
        _not_negative(field, values)
    return np.asarray(hops, np.float64), np.asarray(message_bytes, np.float64)


def _not_negative(field: str, values: ArrayLike) -> None:
    given = np.asarray(values, dtype=np.float64)
    _in_range(field, given, given >= 0, "at least 0")


def effective_bandwidth(
    hops: ArrayLike, message_bytes: ArrayLike, *, bandwidth: float, header_bytes: float = 1
) -> Floats:
    """Return E, the rate at which a message comes to its target when nothing is in its way.

    L / τ_n with τ_n = (D H + L) / B (Chittor 1991, definition 10 and eq. 2.19): in the unit of the
    channel bandwidth B, which it tends to for long messages. The ratio of two of them is the
    speedup R_e (eqs. 2.16 and 2.20).

    Parameters
    ----------
    hops
        Path length D, at least 0, scalar or array.
    message_bytes
        Message length L without its header, more than 0, scalar or array. The two broadcast.
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
    _not_negative("hops", path)
    _in_range("message_bytes", length, length > 0, "more than 0")
    _in_range("bandwidth", bandwidth, np.asarray(bandwidth) > 0, "more than 0")
    _not_negative("header_bytes", header_bytes)
    return np.asarray(bandwidth * length / (path * header_bytes + length))


def saturated_bandwidth(saturation: ArrayLike, *, bandwidth: float) -> Floats:
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
) -> Floats:
    """Return R_e of a saturated mesh over a hypercube that does not contend: λ_sat R_b.

    Chittor 1991, section 3.6. Of a random mapping, with λ_sat = 2/√N (lemma 6) and R_b = 2√N/3
    (Table 2.1), 4/3 is left, whatever the size: contention takes what the wider channels gave.

    Parameters
    ----------
    num_nodes
        int, powers of two from 4, scalar or array.
    saturation
        λ_sat of the mesh, from 0 to 1, scalar or array. The two broadcast.
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
