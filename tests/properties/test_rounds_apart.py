"""Rounds of messages that never meet: the kernel, and that what repeats does so for ever."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.simulation.flow.engine import ROUNDING
from netloom.simulation.flow.kernels.flows import follow
from tests.reference import rounds as twin


@st.composite
def cases(draw):
    hosts = draw(st.integers(1, 6))
    host = st.integers(0, hosts - 1)
    costs = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 1 / 3, 1e-6]), st.floats(0.5, 2))
    messages = draw(st.lists(st.tuples(host, host, costs), min_size=1, max_size=8))
    ready = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=hosts, max_size=hosts))
    return ready, messages, draw(st.integers(1, 60))


@settings(deadline=None)
@given(cases())
def test_the_kernel_does_as_its_twin_and_repeats_for_ever(case):
    ready, messages, count = case
    source, target, cost = (np.array(column) for column in zip(*messages, strict=True))
    hosts = np.union1d(source, target)
    first = min(ready[host] for host in hosts)
    state = np.array(ready) - first
    ended, elapsed = np.zeros(count), np.zeros(2)
    done, period = follow(
        state, np.empty_like(state), np.empty_like(state), hosts, source, target,
        cost.astype(float), ROUNDING, ended, elapsed,
    )  # fmt: skip
    times, after = twin.follow(list(ready), [messages] * (count + 1))
    assert ended[:done] + first == pytest.approx(np.array(times[:done]), rel=1e-12, abs=1e-12)
    assert done == count or period > 0
    if period:
        later = np.array(times[done:]) - np.array(times[done - period : count + 1 - period])
        assert later == pytest.approx(np.full_like(later, elapsed[1]), rel=1e-11)
    if done == count:
        _, after = twin.follow(list(ready), [messages] * count)
        assert state[hosts] + elapsed[0] + first == pytest.approx(np.array(after)[hosts], rel=1e-12)
