"""Rates of flows where links share by turns and what waits blocks, written for the reader.

A link lets its inputs have turns, one after the other. An input is a link that flows come from; the
flows that come by it share its turn as they share that link. On its first link each flow is an
input of its own. The flows that could have the least for their weight now get it. One that waits
for a link fills the buffers of the links before it: nobody has longer turns there than it has, but
on links of a circle. Then the others are looked at again.
"""

from collections import defaultdict
from math import inf, isclose

TIE = 1e-9


class Flow:
    """The links of a flow, and which part of it each carries; it counts ``weight`` times."""

    def __init__(self, use, weight=1):
        self.use, self.weight = use, weight

    def before(self, link, ends):
        """The link of its own by which it comes to a link; None for the first.

        Of several, the one that carries most of it.
        """
        into = [other for other in self.use if ends[other][1] == ends[link][0] is not None]
        return min(into, key=lambda other: (-self.use[other], other), default=None)


def turns_of(flows, ends):
    """Return {(flow, link): turns}, how many turns of a link each flow has."""
    comes = {(flow, link): flow.before(link, ends) for flow in flows for link in flow.use}
    turns = {
        (flow, link): 1.0 if before is not None else flow.weight * flow.use[link]
        for (flow, link), before in comes.items()
    }
    for _ in range(64):
        brings, by_input = {}, defaultdict(float)
        for (flow, link), before in comes.items():
            if before is not None:
                goes_on = min(1, flow.use[link] / flow.use[before])
                brings[flow, link] = turns[flow, before] * goes_on
                by_input[before, link] += brings[flow, link]
        new = {key: some / by_input[comes[key], key[1]] for key, some in brings.items()}
        settled = all(isclose(new[key], turns[key], rel_tol=TIE) for key in new)
        turns |= new
        if settled:
            break
    return turns


def lossless_rates(capacity, ends, flows, circles=()):
    """Return {flow: rate}.

    ``capacity``: of each link; ``ends``: from where to where each leads (None: a host, which
    nothing comes through); ``circles``: links that pass no blocking on.
    """
    turns, rates = turns_of(flows, ends), {}
    left = dict(enumerate(capacity))
    longest = defaultdict(lambda: inf)  # what a turn of a link may be, where flows wait behind it

    def could_have(flow):
        """The rate per weight that a flow could have now, and the links that allow no more."""
        allowed = {}
        for link, part in flow.use.items():
            waiting = sum(turns[other, link] for other in growing if link in other.use)
            turn = min(left[link] / waiting, longest[link])
            allowed[link] = turn * turns[flow, link] / part / flow.weight
        least = min(allowed.values())
        return least, [link for link in allowed if allowed[link] <= least * (1 + TIE)]

    growing = list(flows)
    while growing:
        tried = {flow: could_have(flow) for flow in growing}
        least = min(rate for rate, _ in tried.values())
        now = [flow for flow in growing if tried[flow][0] <= least * (1 + TIE)]
        growing = [flow for flow in growing if flow not in now]
        for flow in now:
            rates[flow] = tried[flow][0] * flow.weight
            for link, part in flow.use.items():
                left[link] = max(left[link] - rates[flow] * part, 0.0)
        for flow in now:
            waits_for = max(tried[flow][1], key=lambda link: hops_behind(flow, link, ends))
            link = flow.before(waits_for, ends)
            while link is not None:
                if link not in circles:
                    turn = rates[flow] * flow.use[link] / turns[flow, link]
                    longest[link] = min(longest[link], turn)
                link = flow.before(link, ends)
    return rates


def hops_behind(flow, link, ends):
    """How many links a flow crosses before a link; of as many, the later number is further."""
    hops, at = 0, link
    while (at := flow.before(at, ends)) is not None:
        hops += 1
    return hops, link
