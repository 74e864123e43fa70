import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.combining import CombiningNetwork, critical_queue
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots


def traffics(pes, hot_spots, rate, seeds):
    for seed in seeds:
        hot = place_hot_spots(pes, hot_spots, seed=seed)
        yield HotSpotTraffic(hot, assign_hot_spots(pes, hot, 2, 0.95, seed=seed), rate)


def test_it_grows_with_the_rate():
    found = [
        critical_queue(
            CombiningNetwork(64), list(traffics(64, 4, rate, range(8))), 600, seeds=range(8)
        )
        for rate in (0.02, 0.1, 0.3)
    ]
    sizes = [each.size for each in found]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    for each in found:
        tried = {one.size: one.rise for one in each.tried}
        assert tried[None] == 0
        assert tried[each.size] > 0.1
        assert tried[each.size + 1] <= 0.1
        assert [one.size for one in each.tried[1:]] == sorted(list(tried)[1:], reverse=True)


def test_a_hot_spot_alone_needs_two_places_at_most():
    # A forward simulation lets a packet come in before the one ahead of it leaves.
    alone = HotSpotTraffic(np.array([3]), np.full((32, 1), 3), 0.3)
    found = critical_queue(CombiningNetwork(32), [alone] * 2, 500, seeds=(1, 2), rise=0.02)
    assert found.size == 1 or all(each.size is None or each.size > 2 for each in found.tried)


def test_where_requests_pile_up_there_is_none():
    alone = HotSpotTraffic(np.array([3]), np.full((32, 1), 3), 0.3)
    network = CombiningNetwork(32, combining="none")
    found = critical_queue(network, [alone] * 2, 1000, seeds=(1, 2))
    assert (found.size, found.stable, found.tried) == (None, 0, ())


def test_runs_too_short_to_tell_are_refused():
    """They do not pile up: nobody knows."""
    calm = list(traffics(16, 2, 0.1, range(3)))
    with pytest.raises(InputError, match="steps: found 127; expected at least 128"):
        critical_queue(CombiningNetwork(16), calm, 127, seeds=range(3))
    assert critical_queue(CombiningNetwork(16), calm, 128, seeds=range(3)).stable == 3
