"""Student's t: how many standard errors wide an interval of a mean is."""

from functools import cache
from math import atan, cos, pi, sin, sqrt, tan


@cache
def student_t(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t with so many degrees of freedom, at least 1.

    By Newton's method from the distribution's finite sums (M. Abramowitz and I. A. Stegun,
    "Handbook of Mathematical Functions", 26.7.3 and 26.7.4), because importing SciPy's ``stdtrit``
    takes longer than a short simulation.

    Examples
    --------
    >>> [round(student_t(degrees), 3) for degrees in (1, 2, 29, 999)]
    [12.706, 4.303, 2.045, 1.962]
    """
    odd = degrees % 2
    part = 2 / pi if odd else 1.0
    angle = atan(1.9 / sqrt(degrees))  # below the quantile of any number of degrees
    for _ in range(8):  # each doubles the digits that are right
        near = cos(angle)
        term, total = near**odd, 0.0
        for power in range(odd, degrees - 1, 2):
            total += term
            term *= (power + 1) / (power + 2) * near * near
        covered = part * (odd * angle + sin(angle) * total)
        angle += (0.95 - covered) * near / (part * degrees * term)
    return sqrt(degrees) * tan(angle)
