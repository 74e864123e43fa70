"""Units of bytes, rates and times: spelled, refused, shown, and read again."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from netloom.base import units
from netloom.base.errors import InputError

SECONDS = {"ps": 1e12, "ns": 1e9, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e3, "s": 1}
DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
PREFIXES = DECIMAL | BINARY
NUMBERS = st.decimals(min_value="0.001", max_value="999999", places=3)


@given(NUMBERS, st.sampled_from(list(SECONDS)), st.sampled_from(["", " "]))
def test_a_time_is_the_float_next_to_what_is_written(number, unit, space):
    exact = Fraction(number) / Fraction(SECONDS[unit])
    assert units.parse_seconds(f"{number}{space}{unit}", where="latency") == float(exact)


@given(NUMBERS, st.sampled_from(list(PREFIXES)))
def test_bytes_are_the_float_next_to_what_is_written(number, prefix):
    exact = Fraction(number) * PREFIXES[prefix]
    assume(exact <= 10**18)
    assert units.parse_bytes(f"{number}{prefix}B", where="size") == float(exact)


@given(
    NUMBERS,
    st.sampled_from(list(PREFIXES)),
    st.sampled_from([("b", 8), ("bit", 8), ("B", 1)]),
    st.sampled_from(["/s", "ps", ""]),
)
def test_a_rate_is_the_float_next_to_what_is_written(number, prefix, part, per):
    unit, parts = part
    exact = Fraction(number) * PREFIXES[prefix] / parts
    assume(exact <= 10**18)
    assert units.parse_rate(f"{number}{prefix}{unit}{per}", where="bandwidth") == float(exact)


@given(st.floats(1e-12, 1e9), st.integers(2, 9))
def test_a_time_shown_is_read_again(value, digits):
    shown = units.seconds(value, digits)
    again = units.parse_seconds(shown.replace(",", ""), where="shown")
    assert again == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@given(st.floats(1, 9e17), st.integers(2, 9))
def test_bytes_and_rates_shown_are_read_again(value, digits):
    near = pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    shown = units.size(value, digits).replace(",", "")
    assert units.parse_bytes(shown, where="shown") == near
    assert units.parse_rate(f"{shown}/s", where="shown") == near
    assert units.rate(value, digits).replace(",", "") == f"{shown}/s"


@given(st.floats(1e-12, 1e3, exclude_max=True))
def test_three_digits_never_take_more_than_three_before_the_point(value):
    number, _ = units.seconds(value).split(" ")
    assert "e" not in number
    assert value >= 999.5 or 1 <= float(number) < 1000


@given(st.floats(1e-9, 1e9))
def test_numbers_are_in_base_units_already(value):
    assert units.parse_bytes(value, where="size") == value
    assert units.parse_rate(value, where="bandwidth") == value
    assert units.parse_seconds(value, where="latency") == value


def test_plain_numbers():
    assert units.parse_bytes("1024", where="size") == 1024
    assert units.parse_bytes("0", where="size") == 0
    assert units.parse_seconds("0", where="latency") == 0
    assert units.parse_seconds("0s", where="latency") == 0
    assert units.parse_seconds(0, where="latency") == 0


@pytest.mark.parametrize(
    ("parse", "text", "found"),
    [
        (units.parse_rate, "200", "'200' without a unit; expected a rate with its unit"),
        (units.parse_rate, "0", "'0' without a unit"),
        (units.parse_rate, "-1Gb/s", "'-1Gb/s'; expected .*: above 0"),
        (units.parse_rate, "200gb/s", "'200gb/s', whose unit is not known here"),
        (units.parse_rate, "200G", "'200G', whose unit is not known here"),
        (units.parse_rate, "nan", "'nan'; expected a rate"),
        (units.parse_rate, "1e999GB/s", "'1e999GB/s'; expected .* at most"),
        (units.parse_rate, "", "nothing; expected a rate"),
        (units.parse_rate, 0, "0; expected .*: above 0"),
        (units.parse_rate, float("nan"), "nan; expected .*: above 0"),
        (units.parse_rate, True, "True; expected"),
        (units.parse_bytes, 10**400, "1000.*0; expected"),
        (units.parse_seconds, "600", "'600' without a unit; expected a time with its unit"),
        (units.parse_seconds, "-600ns", "'-600ns'; expected .*: of at least 0"),
        (units.parse_seconds, "6e9s", "'6e9s'; expected .*at most 1,000,000,000 s"),
        (units.parse_seconds, float("nan"), "nan; expected .*: of at least 0"),
        (units.parse_bytes, "1Gb", "'1Gb', whose unit is not known here"),
        (units.parse_bytes, "-8B", "'-8B'; expected .*: of at least 0"),
        (units.parse_bytes, "8 8", "'8 8'"),
        (units.parse_bytes, "\u0664\u0662B", "'\u0664\u0662B'"),
        (units.parse_bytes, "8" * 100, "expected bytes such as 8, 64KiB or 1GB"),
    ],
)  # fmt: skip
def test_what_is_refused(parse, text, found):
    with pytest.raises(InputError, match=f"^here: found .*{found}") as refused:
        parse(text, where="here")
    assert "\n" not in str(refused.value)


def test_shown_at_the_edges():
    assert [units.seconds(each) for each in (0, 1e-15, 999.4e-9, 999.6e-9, 59.99, -2e-6)] == [
        "0 s", "0.001 ps", "999 ns", "1 µs", "60 s", "−2 µs",
    ]  # fmt: skip
    assert units.seconds(float("nan")) == units.seconds(None) == units.size(None) == "–"
    assert units.seconds(float("inf")) == "∞"
    assert units.seconds(1234567) == "1,230,000 s"
    assert units.size(0) == "0 B"
    assert units.size(1e9) == "1 GB"
    assert units.rate(12.5e9) == "12.5 GB/s"
    assert units.rate(0.5) == "0.5 B/s"
