"""Offered traffic of a program, and what contention makes of it on one path.

All traffic is a fraction of one channel's bandwidth. Called *applied* and *actual* node or path
traffic in Chittor 1991.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def path_slowdown(path_traffic: ArrayLike, path_contention: ArrayLike) -> NDArray[np.float64]:
    """Return θ, by what factor contention lengthens communication on a path (eq. 3.11).

    θ = 1 / (1 - (ν + 1) λ_p), the delay of one M/M/1 queue shared by ν + 1 equal paths; infinite
    from λ_p = 1/(ν + 1) on. (The thesis's example, θ = 4 for λ_p = 0.15 and ν = 5, leaves the
    + 1 out; the equation gives 10.)

    Parameters
    ----------
    path_traffic
        λ_p, accepted traffic of the path.
    path_contention
        ν, number of other paths it meets.

    Examples
    --------
    >>> float(path_slowdown(0.15, 5).round(6))
    10.0
    """
    free = 1 - (np.asarray(path_contention, np.float64) + 1) * np.asarray(path_traffic, np.float64)
    slowdown = np.divide(1.0, free, out=np.full(free.shape, np.inf), where=free > 1e-15)
    return np.asarray(slowdown)


def accepted_path_traffic(offered: ArrayLike, path_contention: ArrayLike) -> NDArray[np.float64]:
    """Return λ_p, what a path carries of the traffic λ_pa that it is offered (eq. 3.12).

    Contention lengthens each message by θ, the program waits, and so offers less: λ_p is the
    smaller root of λ_p² (1 - λ_pa) - λ_p (λ_pa + λ_sat) + λ_pa λ_sat = 0, λ_sat = 1/(ν + 1).

    Parameters
    ----------
    offered
        λ_pa in [0, 1], traffic of the path without contention.
    path_contention
        ν, number of other paths it meets.

    Examples
    --------
    >>> float(accepted_path_traffic(0.5, 2).round(4))
    0.2324
    """
    wanted = np.asarray(offered, np.float64)
    limit = 1 / (np.asarray(path_contention, np.float64) + 1)
    half = wanted + limit
    root = np.sqrt(half**2 - 4 * (1 - wanted) * wanted * limit)
    return np.asarray(2 * wanted * limit / np.maximum(half + root, 1e-300))


def accepted_path_traffic_threshold(
    offered: ArrayLike, path_contention: ArrayLike
) -> NDArray[np.float64]:
    """Return λ_p by the threshold approximation: all that is offered, up to λ_sat (eq. 3.13).

    Examples
    --------
    >>> float(accepted_path_traffic_threshold(0.5, 2).round(4))
    0.3333
    """
    return np.minimum(offered, 1 / (np.asarray(path_contention, np.float64) + 1))


def capacity_fraction(
    node_traffic: ArrayLike, mean_path_length: ArrayLike, channels_per_node: float = 4.0
) -> NDArray[np.float64]:
    """Return node traffic as a fraction of network capacity, λ_t = D_avg λ_n / channels (eq. 3.32).

    A node's share of the capacity is the bandwidth of its outgoing channels divided by the hops
    that a message makes. On a square mesh under uniform traffic that is √N λ_n / 6 (eq. 3.33), so
    that the saturation of uniform traffic, 2/√N, is a third (eq. 3.34).

    Parameters
    ----------
    node_traffic
        λ_n, flits/node/cycle.
    mean_path_length
        D_avg, hops.
    channels_per_node
        Outgoing network channels of a node; the thesis takes 4 for every node of a mesh.

    Examples
    --------
    >>> from math import sqrt
    >>> float(capacity_fraction(2 / sqrt(256), 2 * sqrt(256) / 3).round(4))
    0.3333
    """
    hops_each = np.asarray(mean_path_length, np.float64) / channels_per_node
    return np.asarray(np.asarray(node_traffic, np.float64) * hops_each)


def node_traffic_of_capacity(
    fraction: ArrayLike, mean_path_length: ArrayLike, channels_per_node: float = 4.0
) -> NDArray[np.float64]:
    """Return the node traffic that is this fraction of network capacity (eq. 3.32, solved for λ_n).

    Examples
    --------
    >>> float(node_traffic_of_capacity(1 / 3, 2 * 16 / 3).round(4))
    0.125
    """
    hops_each = np.asarray(mean_path_length, np.float64) / channels_per_node
    return np.asarray(np.asarray(fraction, np.float64) / hops_each)


def offered_by_program(
    message_bytes: float,
    compute_us: float,
    message_us: float,
    bandwidth_bytes_per_us: float,
    *,
    messages_waited_for: int = 1,
) -> float:
    """Return the traffic a node offers when it computes, then communicates, over and over.

    λ_a = (L/B) / (t + n τ') (definition 24 with section 3.7's estimate, eq. 4.3): a loop sends one
    message of L bytes, and lasts as long as the computation and the n contention-free message
    times the node waits for. The thesis's section 3.7 prints βL for L/B in the numerator; the
    definition has the channel's own bandwidth, as here. (For the printed form, give 1/β as the
    bandwidth.)

    Parameters
    ----------
    message_bytes
        L.
    compute_us
        t, µs between two messages: instructions / (million instructions per second).
    message_us
        τ' = α + βL, µs of one contention-free message.
    bandwidth_bytes_per_us
        B, of one channel.
    messages_waited_for
        n: 1 for a send; 2 for a message and its answer.

    Examples
    --------
    Symult 2010, 4096-byte messages, 1 ms of computation (section 4.3; prints 7.64 %):

    >>> round(offered_by_program(4096, 1000, 210.2 + 0.1536 * 4096, 20, messages_waited_for=2), 6)
    0.076455
    """
    _positive(message_bytes=message_bytes, bandwidth_bytes_per_us=bandwidth_bytes_per_us)
    loop_us = compute_us + messages_waited_for * message_us
    _positive(loop_us=loop_us)
    return message_bytes / bandwidth_bytes_per_us / loop_us


def offered_by_run(sent_bytes: float, run_us: float, bandwidth_bytes_per_us: float) -> float:
    """Return the traffic a node offered in a run without contention: its bytes over what fits.

    λ_a = (L'/B) / T (section 3.7, second way), with the channel's bandwidth B.

    Parameters
    ----------
    sent_bytes
        L', bytes that a node sent, on average, in the whole run.
    run_us
        T, length of the run in µs.
    bandwidth_bytes_per_us
        B, of one channel.

    Examples
    --------
    >>> offered_by_run(sent_bytes=2e6, run_us=1e6, bandwidth_bytes_per_us=20)
    0.1
    """
    _positive(run_us=run_us, bandwidth_bytes_per_us=bandwidth_bytes_per_us)
    return sent_bytes / bandwidth_bytes_per_us / run_us


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(name, f"{value}", "a number above 0")
