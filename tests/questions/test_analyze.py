import pytest

from netloom import analyze
from netloom.contention import accepted_path_traffic, path_slowdown
from netloom.topology import mesh
from netloom.workload import process_graph
from tests.questions.shared import quick


def test_the_identity_layout_of_a_hypercube():
    data = quick("hypercube:10", "mesh:32x32").to_dict()
    assert data["channel_load"]["max"] == 21
    assert data["path_contention"]["max"] == 55
    assert data["path_contention"]["mean"] == pytest.approx(28)
    assert data["tasks"] == data["nodes"] == 1024
    assert data["paths"] == 10240


def test_the_matrix_transpose():
    data = quick("transpose:12", "mesh:12x12").to_dict()
    assert data["path_contention"]["max"] == 10
    assert data["saturation"]["worst_node"] == pytest.approx(1 / 11)
    assert data["saturation"]["upper_bound"] == pytest.approx(1 / 11)


def test_figures_of_channels_are_over_all_of_them():
    data = quick(process_graph(2, [0], [1], bytes=[10], messages=[4]), mesh(1, 3)).to_dict()
    assert data["channel_load"] == {"mean": 1 / 4, "max": 1}
    assert data["weighted_channel_load"] == {"mean": 10 / 4, "max": 10}
    assert data["hop_bytes"] == 10
    assert data["dilation"] == 1


def test_weights_decide_whose_traffic_counts():
    graph = process_graph(3, [0, 1], [2, 2], bytes=[30, 10], messages=[1, 3])
    loads = {
        weight: quick(graph, "mesh:3", weight=weight).to_dict()["weighted_channel_load"]["max"]
        for weight in ("bytes", "messages", "uniform")
    }
    assert loads == {"bytes": 40, "messages": 4, "uniform": 2}


def test_random_mappings_are_seeded_and_leave_out_the_mapping_itself():
    one = analyze("ring:16", "mesh:4x4", mapping="random", seed=3, random_mappings=5)
    same = analyze("ring:16", "mesh:4x4", mapping="random", seed=3, random_mappings=5)
    assert one.to_dict() == same.to_dict()
    assert [row.seed for row in one.random] == [4, 5, 6, 7, 8]
    assert one.random_path_contention.sum() == 5 * 32
    most = one.random_table()["path_contention_max"]
    beaten = (most > one.own.path_contention.max).sum()
    assert one.random_mapping.figures.path_contention_max.beaten == beaten


def test_offered_traffic_three_ways():
    graph = process_graph(4, [0, 1], [3, 3], bytes=[4e6, 4e6], messages=[1000, 1000])
    told = quick(graph, "mesh:2x2", offered=0.25)
    run = quick(graph, "symult2010:2x2", run_seconds=0.8)
    program = quick(graph, "symult2010:2x2", instructions_per_message=5000, mips=5)
    assert told.offered == 0.25
    assert run.offered == pytest.approx(4e6 / 20 / 0.8e6)
    assert program.offered == pytest.approx((4000 / 20) / (1000 + 210.2 + 0.1536 * 4000))
    assert told.standing.margin == pytest.approx(told.mapped.limit.worst_node / 0.25)


def test_slowdown_is_the_thesiss_for_equal_paths():
    found = quick("transpose:4", "mesh:4x4", offered=0.2)
    nu = found.mapped.contention.path_contention
    expected = path_slowdown(accepted_path_traffic(0.2, nu), nu)
    expected[nu == 0] = 1
    assert found.slowdowns == pytest.approx(expected)
    summary = found.to_dict()["slowdown"]
    assert summary["max"] == pytest.approx(expected.max())
    assert found.paths()["slowdown"].max() == pytest.approx(expected.max())


def test_mappings_that_cannot_differ_are_not_tried():
    """Each task sends the same to every other, on all places: any permutation is the same."""
    found = analyze("all-to-all", "leaf-spine:4x2x3", routing="ecmp")
    data = found.to_dict()
    assert data["random_mapping"] == {"mappings": 0, "limited_by_work": False, "alike": True}
    some = analyze("all-to-all", "leaf-spine:4x2x3", nodes="0-10")
    assert some.to_dict()["random_mapping"]["mappings"] == 0
    asked = analyze("all-to-all", "leaf-spine:4x2x3", random_mappings=2)
    assert asked.to_dict()["random_mapping"]["mappings"] == 2


@pytest.mark.parametrize(
    "other",
    [
        {"on": "leaf-spine:5x2x3"},  # places are left
        {"mapping": [0, 0, *range(2, 12)], "tasks_per_node": 2},  # and here, one is free
        {"app": "all-to-all:11", "on": "leaf-spine:4x2x3"},
        {"app": "ring:12"},
    ],
)
def test_mappings_that_can_differ_are_tried(other):
    asked = {"app": "all-to-all:12", "on": "leaf-spine:4x2x3"} | other
    found = analyze(**asked).to_dict()["random_mapping"]
    assert found["mappings"] > 0
    assert "alike" not in found


def test_given_routes_fit_one_mapping_and_are_compared_with_no_other(tmp_path):
    file = tmp_path / "routes.txt"
    file.write_text("0 1 3\n3 2 0\n")
    graph = process_graph(4, [0, 3], [3, 0])
    found = analyze(graph, "mesh:2x2", routing=f"routes:{file}")
    assert found.to_dict()["random_mapping"] == {"mappings": 0, "limited_by_work": False}
    assert found.standing.level == "contention-free"


def test_a_light_path_among_heavy_ones_is_as_slow_as_they():
    graph = process_graph(3, [0, 1], [2, 2], bytes=[1, 1000])
    slow = quick(graph, "mesh:3", offered=0.8).slowdowns
    assert slow[0] == pytest.approx(slow[1])
    assert 1 < slow[0] < 10


def test_uniform_traffic_saturates_at_a_third_of_capacity_by_the_thesiss_estimate():
    data = quick("all-to-all:256", "mesh:16x16").to_dict()
    estimate = data["random_mapping"]["table_3_1"]["saturation_average_node"]
    assert estimate == pytest.approx(0.125)
    of_capacity = data["saturation"]["of_capacity"]
    assert of_capacity["average_node"] == pytest.approx(1 / 3, rel=0.15)
    ratio = data["saturation"]["upper_bound"] / data["saturation"]["average_node"]
    assert of_capacity["upper_bound"] / of_capacity["average_node"] == pytest.approx(ratio)
    assert "table_3_1" not in quick("ring:9", "torus:3x3").to_dict()["random_mapping"]
