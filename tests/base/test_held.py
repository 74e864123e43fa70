"""Tuples that are handed on by their address, and what is known of them."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from netloom.base.compilation import inlined
from netloom.base.held import held


class Case(NamedTuple):
    wide: int
    factor: int
    numbers: np.ndarray


@inlined
def only_narrow(case):
    return case.what_no_case_has


@inlined
def result(case):
    if case.wide:
        case.numbers[1] += 1
        return case.factor * case.numbers[0]
    return only_narrow(case)


WIDE = "wide=1 other=2"


@numba.njit
def run(case):
    return result(held(case, ""))


@numba.njit
def run_wide(case):
    return result(held(case, WIDE))


def test_fields_are_read_from_where_the_tuple_is_and_arrays_are_its_own():
    numbers = np.array([3, 5])
    assert run_wide(Case(1, 7, numbers)) == 21
    assert numbers.tolist() == [3, 6]


def test_what_is_known_leaves_out_branches_that_are_never_taken():
    with pytest.raises(TypingError, match="what_no_case_has"):
        run(Case(1, 7, np.array([3, 5])))


def test_what_is_known_is_what_is_said():
    assert run_wide(Case(0, 7, np.array([3, 5]))) == 21
