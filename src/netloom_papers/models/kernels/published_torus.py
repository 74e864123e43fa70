"""The published torus model's fixed point: a channel's mean service time and what follows from it.

Equation numbers are those of Shahrabi, Ould-Khaoua & Mackenzie 2002. ``model`` is a
``published_torus.Constants``. Rates are a node's messages per cycle, times are cycles.

Twin: ``tests/reference/published_torus.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom_papers.models.kernels import adaptive_torus as place

MOST_STEPS = 200
"""Newton's method needs about 10 steps, and about 40 if the fixed point is nearly lost."""


@njit(nogil=True)
def adaptive_busy(rho, vcs):
    """Return P_a, all adaptive virtual channels of a channel busy (eq. 15), and its derivative.

    With eq. 30, P_v = (1 − ρ) ρ^v for v < V and P_V = ρ^V: the q_v add up to 1 / (1 − ρ).
    """
    least = 2.0 / (vcs * (vcs - 1))
    middle = 2.0 / vcs - least
    most = 1.0 - 2.0 / vcs
    value = rho ** (vcs - 2) * (least + rho * (middle + rho * most))
    growth = least * (vcs - 2) + rho * (middle * (vcs - 1) + rho * most * vcs)
    slope = rho ** (vcs - 3) * growth
    return value, slope


@njit(nogil=True)
def escape_busy(rho, vcs, ways):
    """Return P_d, the adaptive and the deterministic ones busy (eq. 16), and its derivative."""
    partly = ways / vcs
    value = rho ** (vcs - 1) * (partly + rho * (1.0 - partly))
    slope = rho ** (vcs - 2) * (partly * (vcs - 1) + rho * (1.0 - partly) * vcs)
    return value, slope


@njit(nogil=True)
def queue_wait(rate, service, flits):
    """Return the M/G/1 wait with variance (S − M)² (eqs. 18–23 and 28), and its derivative."""
    free = 1.0 - rate * service
    above = service - flits
    value = rate * (service * service + above * above) / (2.0 * free)
    return value, rate * (service + above + value) / free


@njit(nogil=True)
def blocked(rate, service, model):
    """Return W_c times P_b summed over a unicast message's hops, and B_b. Derivatives for S."""
    rho = rate * service
    wait, wait_slope = queue_wait(rate, service, model.flits)
    adaptive, adaptive_slope = adaptive_busy(rho, model.vcs)
    escape, escape_slope = escape_busy(rho, model.vcs, model.escape_ways)
    choices = model.one_left + model.two_left * adaptive  # P_bj / P_d of eq. 17, over all hops
    unicast = escape * choices
    unicast_slope = escape_slope * choices + escape * model.two_left * adaptive_slope
    if model.first_hop_escapes:
        broadcast, broadcast_slope = escape, escape_slope
    else:
        broadcast = rho**model.vcs
        broadcast_slope = model.vcs * rho ** (model.vcs - 1)
    return (
        wait * unicast,
        wait * broadcast,
        wait_slope * unicast + wait * unicast_slope * rate,
        wait_slope * broadcast + wait * broadcast_slope * rate,
    )


@njit(nogil=True)
def source_service(unicast, broadcast, model):
    """Return S_s (eq. 27)."""
    share = model.source_broadcast_share
    return share * broadcast + (1.0 - share) * unicast


@njit(nogil=True)
def service_time(rate, model):
    """Return the least fixed point S of eq. 21 at a node's message rate. NaN beyond saturation.

    In x = S − M the right side of eq. 21 is a power series without negative coefficients: it grows
    and is convex. So Newton's method from S = M approaches the least fixed point from below. There
    is none if it reaches a point at which the right side is above S and rises as fast. A source
    queue that never empties is saturation as well (d < 1: rings of two and three).
    """
    channel_rate = rate * (model.unicast_rate + model.broadcast_rate)
    share = model.broadcast_rate / (model.unicast_rate + model.broadcast_rate)
    service = model.flits
    for _ in range(MOST_STEPS):
        if channel_rate * service >= 1.0:
            return np.nan
        unicast, broadcast, unicast_slope, broadcast_slope = blocked(channel_rate, service, model)
        unicast += model.flits + model.hops
        broadcast += model.broadcast_cycles
        gap = (1.0 - share) * unicast + share * broadcast - service
        if gap <= 1e-14 * service:
            at_source = source_service(unicast, broadcast, model)
            return service if rate * model.source_rate * at_source < 1.0 else np.nan
        shrinks = 1.0 - (1.0 - share) * unicast_slope - share * broadcast_slope
        if shrinks <= 0.0:
            return np.nan
        service += gap / shrinks
    return np.nan


@njit(nogil=True)
def multiplexing(rho, vcs):
    """Return V̄ (eq. 31), both sums over ρ so that it is 1 at no load."""
    total = vcs * rho ** (vcs - 1)
    squares = vcs * total
    for busy in range(1, vcs):
        probability = (1.0 - rho) * rho ** (busy - 1)
        squares += busy * busy * probability
        total += busy * probability
    return squares / total


@njit(nogil=True)
def solve(rates, model, answers):
    """Fill an answer for each rate: see the top of ``adaptive_torus``. NaN beyond saturation."""
    for at in range(len(rates)):
        answer = answers[at]
        service = service_time(rates[at], model)
        if np.isnan(service):
            answer[:] = np.nan
            continue
        channel_rate = rates[at] * (model.unicast_rate + model.broadcast_rate)
        rho = channel_rate * service
        unicast, broadcast, _, _ = blocked(channel_rate, service, model)
        unicast += model.flits + model.hops
        broadcast += model.broadcast_cycles
        at_source = source_service(unicast, broadcast, model)
        answer[place.NETWORK] = answer[place.SERVICE_UNICAST] = unicast
        answer[place.SERVICE_BROADCAST] = broadcast
        answer[place.SOURCE], _ = queue_wait(rates[at] * model.source_rate, at_source, model.flits)
        answer[place.STRETCH] = multiplexing(rho, model.vcs)
        answer[place.CHANNEL_WAIT], _ = queue_wait(channel_rate, service, model.flits)
        answer[place.BLOCKED], _ = escape_busy(rho, model.vcs, model.escape_ways)
        for number in range(model.vcs):
            answer[place.HELD_FROM + number] = (1.0 - rho) * rho**number
        answer[place.HELD_FROM + model.vcs] = rho**model.vcs
