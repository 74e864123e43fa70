"""Messages under Duato's routing on a torus, as a fixed point: written for the reader.

Each turn of the iteration takes what is thought of the network and finds what follows from it; what
is thought moves half-way there. With equal answers to
``netloom_papers.models.kernels.adaptive_torus``, but plain NumPy, one rate at a time.
"""

import itertools
import math

import numpy as np

LOST_POWER = 2.5


def ways(sides):
    """Mean hops by dimension and dimensions left, hops straight on, turns, and hops by target."""
    axes = len(sides)

    def from_here(offset, last):
        left = [axis for axis in range(axes) if offset[axis]]
        found = np.zeros((axes, axes)), np.zeros(2)
        for axis in left:
            closer = tuple(hops - (axis == other) for other, hops in enumerate(offset))
            choices, turns = from_here(closer, axis)
            found[0][:] += choices / len(left)
            found[1][:] += turns / len(left)
            found[0][axis, len(left) - 1] += 1 / len(left)
            if last is not None:
                found[1][int(last != axis)] += 1 / len(left)
        return found

    choices, turns, far = np.zeros((axes, axes)), np.zeros(2), []
    rings = [[min(step, side - step) for step in range(side)] for side in sides]
    for offset in itertools.product(*rings):
        more = from_here(offset, None)
        choices += more[0]
        turns += more[1]
        far.append(sum(offset))
    targets = math.prod(sides) - 1
    return choices / targets, turns / targets, np.array(far[1:])


def speed_limit(below, slower):
    """1 / E[1 / slowdown]."""
    return below[-1] / (np.diff(below, prepend=0) / slower).sum()


class Torus:
    """A torus, its messages and their VCs; ``solve`` gives latency by part, or None."""

    def __init__(self, sides, flits, vcs, same_class, copies, squares):
        self.sides, self.flits, self.vcs, self.adaptive = sides, flits, vcs, vcs - 2
        self.copies, self.squares = np.array(copies), squares
        choices, (straight, turns), far = ways(sides)
        self.hops = choices.sum(axis=1)
        self.distance = self.hops.sum()
        self.choices = choices / self.hops[:, None]
        self.left = choices.sum(axis=0) / self.distance
        axes = len(sides)
        aside = turns / self.distance / max(2 * (axes - 1), 1)
        going = straight + turns
        self.same = (straight**2 / self.distance + turns * aside) / going if going else 0
        self.behind = (far * (far - 1)).mean() / 2 / self.distance
        self.new = 1 + (self.distance - 1) * (1 - self.same)
        self.channels = np.array([1 if side == 2 else 2 for side in sides])
        # An escape VC is free for a head where none, one, or both are held.
        self.free = [np.array([1, 1 - c if side > 2 else 0.5, 0]) for c, side in same_class]

    def states(self, axis, come, escape, held):
        """How often so many adaptive and escape VCs of a channel are held."""
        size = (self.adaptive + 1, 3)
        flow = np.zeros((*size, *size))
        for taken, escaped in itertools.product(*map(range, size)):
            if taken < self.adaptive:
                flow[taken, escaped, taken + 1, escaped] = come
            elif escaped < 2:
                flow[taken, escaped, taken, escaped + 1] = escape * self.free[axis][escaped]
            if taken:
                flow[taken, escaped, taken - 1, escaped] = taken / held[taken + escaped]
            if escaped:
                flow[taken, escaped, taken, escaped - 1] = escaped / held[taken + escaped]
        flow = flow.reshape(3 * size[0], 3 * size[0])
        balance = flow.T - np.diag(flow.sum(axis=1))
        balance[-1] = 1
        return np.linalg.solve(balance, np.eye(len(flow))[-1]).reshape(size)

    def others(self, held, active):
        """How many of ``held`` − 1 others are active."""
        many = np.arange(self.vcs)
        ways = np.array([math.comb(held - 1, int(m)) for m in many])
        return ways * active**many * (1 - active) ** np.maximum(held - 1 - many, 0)

    def shares(self, path, slower, use):
        """By how much m active messages slow each other down."""
        weight, wanted = np.diff(path, prepend=0) / path[-1], [1.0]
        for count in range(1, self.vcs):
            low, high = 1 / (count + 1), 1.0
            for _ in range(60):
                rate = (low + high) / 2
                asked = rate + count * (weight * np.minimum(1 / slower, rate)).sum()
                low, high = (low, rate) if asked > 1 else (rate, high)
            wanted.append(1 / (rate * (1 - use**LOST_POWER)))
        return np.array(wanted)

    def solve(self, rate, broadcast, servers):  # one fixed point, read from top to bottom
        axes, flits = len(self.sides), self.flits
        unicast = (1 - broadcast) * rate * self.hops / self.channels
        copies = broadcast * rate * self.copies / self.channels
        flow = unicast + copies
        ports, use = self.channels.sum(), flow.max() * flits
        of_node = (1 - broadcast) * rate, broadcast * rate * self.copies.sum()
        out = sum(of_node) * flits / ports
        met = np.arange(self.vcs)
        ends = np.cumsum((met + 1) * out**met * (1 - out) ** 2)
        ends[-1] = 1
        taken, escaped = np.indices((self.adaptive + 1, 3))
        states = [(f * flits) ** (taken + escaped) for f in flow]
        states = [s / s.sum() for s in states]
        held = np.full((axes, self.vcs + 1), float(flits))
        slower, fit, active, latency, still = met + 1.0, np.ones(axes), 1.0, 0.0, 0
        share = self.hops / self.distance
        for _ in range(1200):
            blocked = sum(share[axis] * states[axis][-1].sum() for axis in range(axes))
            below, busy = [], []
            for axis in range(axes):
                one = copies[axis] / flow[axis]
                some = unicast[axis] / flow[axis] * self.choices[axis]
                come = one + sum(
                    s * sum(blocked**i for i in range(q + 1)) for q, s in enumerate(some)
                )
                escape = one + sum(s * blocked**q for q, s in enumerate(some))
                rates = fit[axis] * flow[axis] * np.array([come, escape])
                states[axis] = (states[axis] + self.states(axis, *rates, held[axis])) / 2
                full = states[axis][-1] @ self.free[axis]
                let_in = states[axis][:-1].sum() * rates[0] + full * rates[1]
                fit[axis] *= flow[axis] / let_in
                many = np.bincount((taken + escaped).ravel(), states[axis].ravel())
                busy.append(many)
                seen = sum(v * many[v] * self.others(v, active) for v in range(1, self.vcs + 1))
                below.append(np.cumsum(seen) / seen.sum())
            weight = self.channels * flow
            mean = sum(
                c * many @ np.arange(self.vcs + 1)
                for c, many in zip(self.channels, busy, strict=True)
            )
            none = sum(
                w * s[-1] @ (1 - f) for w, s, f in zip(weight, states, self.free, strict=True)
            )
            mean, none = mean / weight.sum(), none / weight.sum()
            head = sum(
                part * none * blocked**q * mean / ((q + 1) * self.adaptive + 2)
                for q, part in enumerate(self.left)
            )
            together = math.prod(b**s for b, s in zip(below, share, strict=True))
            path = [ends * together**new for new in (self.new - 1, self.new)]
            slower = (slower + self.shares(path[0], slower, use)) / 2
            for axis, v in itertools.product(range(axes), range(1, self.vcs + 1)):
                mine = np.cumsum(self.others(v, active))
                far = flits * speed_limit(mine * path[0], slower) + self.behind * head
                near = flits * speed_limit(mine * ends, slower)
                wanted = (unicast[axis] * far + copies[axis] * near) / flow[axis]
                held[axis, v] = (held[axis, v] + wanted) / 2
            far = flits * speed_limit(path[1], slower)
            near = flits * speed_limit(
                ends * sum(s * b for s, b in zip(share, below, strict=True)), slower
            )
            streaming = (unicast.sum() * far + copies.sum() * near) / flow.sum()
            active = (active + min(1, streaming / mean)) / 2
            service = far + self.distance * head, near + none * mean / (self.adaptive + 2)
            wait = self.source_wait(of_node, rate * (1 - broadcast + broadcast * self.squares),
                                    servers, service)  # fmt: skip
            before, latency = latency, service[0] + self.distance + wait
            if not latency < 1000 * (flits + self.distance):
                return None
            still = still + 1 if abs(latency - before) < 1e-8 * latency else 0
            if still == 20:  # it may swing, and stand still where it turns back
                return latency - wait, wait, far / flits, none, *service
        return None

    def source_wait(self, of_node, squares, servers, service):
        """Several servers, batches, two times of service: Allen & Cunneen."""
        both = sum(of_node)
        held = np.dot(of_node, service) / both
        spread = np.dot(of_node, np.square(service)) / both / held**2 - 1
        offered = both * held
        if offered >= servers:
            return np.nan
        terms = [offered**i / math.factorial(i) for i in range(servers + 1)]
        waits = terms[-1] / (1 - offered / servers)
        waits = waits / (sum(terms[:-1]) + waits)
        return waits * held / (servers - offered) * (squares / both + spread) / 2
