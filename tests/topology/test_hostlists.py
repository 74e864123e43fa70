from hypothesis import example, given, strategies as st

from netloom.topology.names import folded, unfolded, words_of


def read(text):
    return [name for word in words_of(text) for name in unfolded(word)]


names = st.from_regex(r"\A[A-Za-z0-9_.:-]{1,14}\Z")
runs = st.builds(
    lambda head, first, count, width, tail: [
        f"{head}{number:0{width}}{tail}" for number in range(first, first + count)
    ],
    st.sampled_from(["", "n", "rack1-n", "07-"]),
    st.integers(0, 1200),
    st.integers(1, 30),
    st.integers(1, 5),
    st.sampled_from(["", "x", "-ib"]),
)


@given(st.lists(names | runs, min_size=1, max_size=20))
@example(["n9", "n010", "n10", "n11"])
@example(["9999999999", "99999999999"])
def test_what_is_folded_unfolds_again(parts):
    given_names = [name for part in parts for name in ([part] if isinstance(part, str) else part)]
    assert read(folded(given_names)) == given_names
