"""Where packets of forwarding tables end, against following each."""

import numpy as np
from hypothesis import given, strategies as st

from netloom.routing.kernels.forwarding import outcomes
from tests.reference import outcomes as slow


@st.composite
def broken_tables(draw):
    """Return any table, of any graph, with last routers and whether they deliver."""
    routers, rows = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    links = draw(st.lists(st.tuples(*[st.integers(0, routers - 1)] * 2), max_size=14))
    table = np.full((rows, routers), -1, np.int32)
    for row in range(rows):
        for router in range(routers):
            leaving = [c for c, (source, _) in enumerate(links) if source == router]
            table[row, router] = draw(st.sampled_from([-1, *leaving, *leaving]))
    last = draw(st.lists(st.integers(0, routers - 1), min_size=rows, max_size=rows))
    lost = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    target = np.array([target for _, target in links], np.int32)
    return table, np.array(last, np.int32), np.array(lost), target


@given(broken_tables())
def test_packets_end_where_following_them_ends(broken):
    assert outcomes(*broken).tolist() == slow.outcomes(*(each.tolist() for each in broken))
