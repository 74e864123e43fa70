import pytest
from scipy.special import stdtrit

from netloom.base.student import student_t


def test_quantiles_are_those_of_scipy():
    for degrees in [*range(1, 200), 999, 10_000]:
        assert student_t(degrees) == pytest.approx(stdtrit(degrees, 0.975), rel=1e-12)
