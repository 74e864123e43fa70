"""Shahrabi, Ould-Khaoua & Mackenzie 2002, equation by equation, in plain floats; 2 dimensions.

``mended`` is a set of the names of ``published_torus.Corrections``. The fixed point is approached
by repeating eq. 21 from S = M, which never passes the least one.
"""

from math import comb, floor

ALL = (
    *("replicas", "escape_channel", "broadcast_hop", "broadcast_blocking"),
    *("other_nodes", "source_weights"),
)


def distances(k, mended):
    """k̄, d̄ and the factor from all destinations to the other nodes (eqs. 5 and 6)."""
    along = k / 4 if k % 2 == 0 else (k - 1 / k) / 4
    others = k * k / (k * k - 1) if "other_nodes" in mended else 1
    return along, 2 * along * others, others


def replication(k):
    """N_r^i (eq. 2)."""
    return [2 * k, k * k - 3 * k, 2, k - 3]


def rates(k, beta, lg, mended):
    """λ_su, λ_sb, λ_sr, λ_cu, λ_cb, λ_cr (eqs. 3 and 7 to 11)."""
    n_r = replication(k)
    replicated = sum(i * n_r[i] for i in range(4))
    omega = replicated / (k * k - 1)
    lsu, lsb, lsr = (1 - beta) * lg, beta * lg, sum(n_r[1:]) * beta * lg
    lcu = (1 - beta) * lg * distances(k, mended)[1] / 4
    lcr = replicated * beta * lg / 4 if "replicas" in mended else omega / 4 * lsr
    return lsu, lsb, lsr, lcu, lsb, lcr


def busy(lc, service, vcs):
    """P_v (eqs. 29 and 30)."""
    q = [1.0]
    for _ in range(1, vcs):
        q.append(q[-1] * lc * service)
    q.append(q[-1] * lc / (1 / service - lc))
    return [each / sum(q) for each in q]


def wait(rate, service, flits):
    """M/G/1 (eqs. 18 to 23, and 28)."""
    variance = (service - flits) ** 2
    rho = rate * service
    return rho * service * (1 + variance / service**2) / (2 * (1 - rho))


def again(service, k, flits, vcs, beta, lg, mended):
    """All of eqs. 12 to 31 from a guess of S̄; the next guess is ``service``."""
    along, d, others = distances(k, mended)
    lsu, lsb, lsr, lcu, lcb, lcr = rates(k, beta, lg, mended)
    lc = lcu + lcb + lcr
    p = busy(lc, service, vcs)
    p_a = p[vcs] + 2 * p[vcs - 1] / comb(vcs, vcs - 1) + p[vcs - 2] / comb(vcs, vcs - 2)
    ways = 1 if "escape_channel" in mended else 2
    p_d = p[vcs] + ways * p[vcs - 1] / comb(vcs, vcs - 1)
    w_c = wait(lc, service, flits)
    blocking = 0
    for j in range(1, floor(2 * along) + 1):
        p_c = 2 / (2 * along - j + 2) if j > along else 0
        blocking += ((1 - p_c) * p_a * p_d + p_c * p_d) * w_c
    s_u = flits + d + others * blocking
    hop = 1 if "broadcast_hop" in mended else 0
    s_b = flits + hop + (p_d if "broadcast_blocking" in mended else p[vcs]) * w_c
    ls = lsu / 4 + lsb + lcr
    if "source_weights" in mended:
        s_s = (lsb + lcr) / ls * s_b + lsu / 4 / ls * s_u
    else:
        s_s = ((lsb + lsr) * s_b + lsu * s_u) / (lsu + lsb + lsr)
    w_s = wait(ls, s_s, flits)
    degree = sum(i * i * p[i] for i in range(1, vcs + 1)) / sum(i * p[i] for i in range(1, vcs + 1))
    return {
        "latency": (s_u + w_s) * degree,
        "network_latency": s_u,
        "broadcast_service": s_b,
        "service_time": (lcb + lcr) / lc * s_b + lcu / lc * s_u,
        "channel_wait": w_c,
        "source_wait": w_s,
        "vc_multiplexing": degree,
        "channel_rate": lc,
        "unicast_channel_rate": lcu,
        "broadcast_channel_rate": lcb + lcr,
        "blocked": p_d,
        "held_vcs": p,
    }


def published_torus(k, flits, vcs, beta, lg, mended):
    """Every quantity at a rate above 0, or None if repeating eq. 21 leads nowhere."""
    *_, lcu, lcb, lcr = rates(k, beta, lg, mended)
    service = float(flits)
    while (lcu + lcb + lcr) * service < 1:
        found = again(service, k, flits, vcs, beta, lg, mended)
        if found["service_time"] - service <= 1e-13 * service:
            return found
        service = found["service_time"]
    return None
