"""All-to-all on tori in rounds: at the bound, executed on data, one message a channel and round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.all_to_all import exchange
from netloom.phases.collectives.rotated import rotated
from netloom.topology import torus
from netloom.workload.programs.collectives.checked import check
from tests.phases.collectives.boxes import plain
from tests.phases.collectives.test_translates import busiest


@pytest.mark.parametrize(
    ("sides", "rounds"),
    [((4, 4), 32), ((8, 8), 256), ((16, 16), 2048), ((4, 4, 4), 192), ((8, 8, 8), 3072)],
)
def test_rounds_are_the_bound(sides, rounds):
    found = rotated(sides)
    assert (found.rounds, found.bound) == (rounds, rounds)


@pytest.mark.parametrize("spec", ["torus:4x4", "torus:3x4", "torus:2x3", "hypercube:3", "ring:6"])
def test_the_bound_is_that_of_the_linear_program(spec):
    net = plain(spec)
    found = rotated(net.topology.sides)
    assert found.bound == pytest.approx(found.parts / exchange(net).rate, rel=1e-6)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3).filter(lambda each: 1 < np.prod(each) < 50)
)
@settings(deadline=None, max_examples=30)
def test_any_torus(sides):
    found = rotated(sides)
    program = found.program()
    check(program)
    assert busiest(program) == 1
    net = torus(*sides)
    cables = set(zip(net.channel_source.tolist(), net.channel_target.tolist(), strict=True))
    assert set(zip(program.source.tolist(), program.target.tolist(), strict=True)) <= cables
    assert found.rounds >= found.bound


def test_what_is_refused():
    with pytest.raises(InputError, match="at least 2 vertices"):
        rotated((1, 1))
    with pytest.raises(InputError, match="fewer ranks"):
        rotated((8, 8, 8)).program()
