"""Which links hold flows back: the engine against the readable twin."""

from collections import defaultdict
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from tests.properties.flow_runs import cases, close, columns, crowds, played, readable
from tests.reference.flow import FlowNetwork


class Watched(FlowNetwork):
    """Flows that note for how long they are slowed down, and which full links may do it."""

    def __init__(self, *args):
        super().__init__(*args)
        self.slow, self.full, self.tied = (defaultdict(float) for _ in range(3))

    def move(self, time):
        for flow, rate in self.rates.items():
            alone = min(self.capacity[link] / part for link, part in flow.use.items())
            if rate < alone:
                self.slow[flow.row] += float(time)
            for link in flow.use:
                users = {one: mine for one, mine in self.rates.items() if link in one.use}
                used = sum(mine * one.use[link] for one, mine in users.items())
                most = max(mine / one.weight for one, mine in users.items())
                if used == self.capacity[link] and rate / flow.weight == most:
                    self.full[flow.row, link] += float(time)
                    if rate == alone and len(users) > 1:
                        self.tied[flow.row] += float(time)
        super().move(time)


@settings(max_examples=60, deadline=None)
@given(st.one_of(cases(), crowds(40)))
def test_a_flow_is_held_by_full_links_for_as_long_as_it_is_slowed_down(case):
    table = case.messages  # flows between the same hosts have the same weight
    weights = 1 + (7 * table.source + table.target) % 4
    case = replace(case, weights=weights if np.any(case.weights > 1) else 1)
    network, rows = readable(case, kind=Watched)
    found, wanted = played(case, noting=True), columns(rows)
    if not close(found.rows, wanted, 1e-9):
        return  # it hangs on a tie, which is what test_flow looks at
    weight = np.broadcast_to(case.weights, len(rows))
    offsets, slack = found.ways.offsets, 1e-6 * (found.finish + 1) * max(weight.sum(), 1)
    for way in range(len(found.ways)):
        members = np.flatnonzero(found.way == way)
        hops = slice(offsets[way], offsets[way + 1])
        slow, tied = (
            sum(times[row] * weight[row] for row in members)
            for times in (network.slow, network.tied)
        )
        assert slow - slack <= found.held[hops].sum() <= slow + tied + slack
        for link, held in zip(found.ways.links[hops].tolist(), found.held[hops], strict=True):
            full = sum(network.full[row, link] * weight[row] for row in members)
            assert held <= full + slack
