"""What replayed traces and flows come to: sentences, marks, causes and next commands."""

import pytest

import netloom as nl
from netloom.questions.register import kind_of
from tests.questions.said import numbers

HALO = {"on": "torus:4x4x4", "trace": "examples/halo.csv"}
FLOW = {"engine": "flow", "bandwidth": "1GB/s", "latency": 0}

ALONE = "id,after,source,target,flits\na,,0,1,8\nb,a,1,2,8\n"
MEETING = "id,after,source,target,flits\na,,0,3,40\nb,,1,2,40\n"
QUEUE = "id,after,source,target,flits\na,,0,1,90\nb,,0,2,90\n"
BUSY = "id,after,compute,source,target,flits\na,,90,0,1,1\nb,,90,0,2,1\n"
LONG = "id,after,compute,source,target,flits\na,,2000,0,3,40\nb,,2010,1,2,40\n"


def file_of(folder, text, name="some.csv"):
    path = folder / name
    path.write_text(text)
    return path


def replayed(folder, text, on="mesh:4", **options):
    found = nl.replay(on, trace=file_of(folder, text), **options)
    return found, found.verdict


def test_a_program_that_never_waits_is_fine(tmp_path):
    found, verdict = replayed(tmp_path, ALONE)
    assert (verdict.mark, verdict.next) == ("fine", "")
    assert verdict.sentence.endswith(", no longer than if nothing waited.")
    assert numbers(verdict.sentence) == [found.finish]
    assert verdict.of == "some on mesh:4, rank order"
    assert "where" not in verdict.lines


def test_what_contention_costs_in_the_network(tmp_path):
    found, verdict = replayed(tmp_path, MEETING, engine="worm")
    assert numbers(verdict.sentence)[:2] == [found.finish, found.ideal_finish]
    less = 100 * (1 - found.ideal_finish / found.finish)
    assert numbers(verdict.sentence)[2] == pytest.approx(less, rel=5e-3)
    assert verdict.mark == "act"
    lost = found.to_dict()["critical_path"]["contention_cycles"]
    assert verdict.lines["where"] == f"a waits {lost} cycles for other messages, 0→3"
    assert "contention in the network" in verdict.lines["why"]
    assert verdict.next.endswith("--engine worm --save-messages times.csv")


def test_messages_that_queue_for_their_own_node(tmp_path):
    found, verdict = replayed(tmp_path, QUEUE)
    wait = found.to_dict()["longest_wait"]
    assert wait["part"] == "source_wait"
    said = f"{wait['id']} waits {wait['cycles']} cycles for 0's own channel into the network"
    assert verdict.lines["where"] == said
    assert "waiting for the node's own channel" in verdict.lines["why"]


def test_messages_that_wait_for_a_processor(tmp_path):
    found, verdict = replayed(tmp_path, BUSY)
    wait = found.to_dict()["longest_wait"]
    assert (wait["part"], wait["cycles"], wait["source"]) == ("processor_wait", 90, "0")
    assert verdict.lines["where"].endswith(" waits 90 cycles for a processor, at 0")


def test_little_contention_is_fine_and_is_said(tmp_path):
    found, verdict = replayed(tmp_path, LONG, engine="worm")
    assert found.finish > found.ideal_finish
    assert (verdict.mark, verdict.next) == ("fine", "")
    assert numbers(verdict.sentence)[:2] == [found.finish, found.ideal_finish]


def test_with_a_clock_times_are_seconds(tmp_path):
    found, verdict = replayed(tmp_path, MEETING, engine="worm", bandwidth="1GB/s", flit_bytes=1000)
    assert found.to_dict()["cycle_us"] == 1
    assert verdict.sentence.startswith(f"Takes {found.finish} µs; ")


def test_the_halo_waits_and_another_path_would_be_critical():
    found = nl.replay(**HALO)
    path, verdict = found.to_dict()["critical_path"], found.verdict
    waits = path["source_wait_cycles"] + path["contention_cycles"]
    assert waits > found.finish - found.ideal_finish > 0
    assert verdict.note == "* if nothing waited, another path would be critical"
    assert verdict.mark == "limited"


def test_a_run_that_is_too_short_is_unknown_and_the_next_is_longer():
    found = nl.replay(**HALO, engine="worm", most_cycles=3000)
    verdict = found.verdict
    assert verdict.mark == "unknown"
    assert numbers(verdict.sentence) == [3000, found.rows_complete, found.num_rows]
    assert 0 < found.rows_complete < found.num_rows
    assert verdict.next.endswith("--most-cycles 30000")


def test_an_interrupted_run_is_unknown(tmp_path):
    found, _ = replayed(tmp_path, ALONE)
    figures = found.to_dict() | {"interrupted": True, "finish": None, "rows_complete": 1}
    verdict = kind_of("simulate.trace").read(figures).verdict
    assert (verdict.mark, verdict.sentence) == (
        "unknown",
        "Interrupted: 1 of 2 rows were complete.",
    )
    assert verdict.next.startswith("netloom simulate trace ")


def test_a_program_without_messages_or_time(tmp_path):
    found, verdict = replayed(
        tmp_path, "id,after,source,target,flits\na,,0,0,8\n", **FLOW, flit_bytes=1
    )
    assert found.finish == 0
    assert (verdict.mark, verdict.sentence) == ("fine", "Takes 0 s: nothing computes or moves.")


def test_flows_that_meet_and_flows_that_do_not(tmp_path):
    one, verdict = replayed(tmp_path, ALONE, **FLOW, flit_bytes=1000)
    assert (verdict.mark, verdict.next) == ("fine", "")
    assert verdict.sentence == "Takes 16 µs, no longer than if no message met another."
    assert one.finish == pytest.approx(16e-6)
    other, verdict = replayed(tmp_path, MEETING, **FLOW, flit_bytes=1000)
    assert other.finish == pytest.approx(80e-6) == 2 * other.of_flows.alone
    assert verdict.sentence == "Takes 80 µs: 1→2 is busy 100\u00a0% of the time."
    assert verdict.mark == "limited"
    assert verdict.note.startswith("* estimate: sent in order, flits take 80 µs ± 6.5\u00a0%")


def test_flows_of_which_the_order_decides():
    found = nl.replay(**HALO, engine="flow").to_dict()
    ends = {"in_order_finish": 9000.0, "shared_finish": 1200.0}
    unsure = {"within": None, "why": "The order decides."}
    verdict = kind_of("simulate.trace").read(found | ends | {"expected_error": unsure}).verdict
    assert verdict.mark == "unknown"
    assert verdict.sentence.startswith("Takes 1,200 cycles to 9,000 cycles: the order in which ")


def test_training_by_name_can_be_mapped():
    trace = "llm:dp=2,tp=4,layers=2,hidden=256"
    verdict = nl.replay("mesh:8", trace=trace, engine="flow", bandwidth="1GB/s").verdict
    assert verdict.mark != "fine"
    assert verdict.next == f"netloom map {trace} --on mesh:8 --rankfile ranks.txt"


def flows(on, app, **options):
    asked = {"flow_bytes": "1MB", "bandwidth": "1GB/s", "latency": 0} | options
    found = nl.simulate_flows(on, app=app, **asked)
    return found, found.verdict


def test_flows_that_never_meet_are_fine():
    found, verdict = flows("torus:4", "shift:1")
    assert found.finish_seconds == pytest.approx(1e-3)
    assert (verdict.mark, verdict.sentence) == ("fine", "Takes 1 ms; no flow is slower than alone.")


def test_flows_as_fast_as_the_fullest_channel():
    found, verdict = flows("mesh:4", "shift:2", injection="shared")
    assert found.finish_seconds == found.bound_seconds == pytest.approx(2e-3)
    assert verdict.mark == "limited"
    busiest = found.busiest[0].name.replace(" -> ", "→")
    assert verdict.sentence == f"Takes 2 ms, as fast as {busiest} can carry its flows."


def test_flows_that_wait_longer_than_the_fullest_channel_needs():
    found, verdict = flows("leaf-spine:4x2x4", "all-to-all:16")
    over = 100 * (found.finish_over_bound - 1)
    assert numbers(verdict.sentence)[1] == pytest.approx(over, rel=5e-3)
    assert " more than all 16 channels between routers need (" in verdict.sentence
    shared = found.ends.shared
    assert verdict.lines["order"].startswith(f"{1e3 * shared:.3g} ms if each host")
    assert "netloom map" not in verdict.next  # no mapping helps an all-to-all
    assert verdict.next.endswith("--save-flows flows.csv")


def test_a_mapping_is_searched_for_where_a_channel_between_routers_is_full():
    found, verdict = flows("mesh:3x3", "transpose:3", injection="shared")
    assert found.busiest[0].between == "routers"
    assert verdict.next == "netloom map transpose:3 --on mesh:3x3 --rankfile ranks.txt"
    placed = flows("mesh:3x3", "transpose:3", injection="shared", mapping="random")[1]
    assert "netloom map" not in placed.next


def test_no_mapping_is_searched_for_where_a_host_is_the_limit(tmp_path):
    star = file_of(tmp_path, "source,target,bytes\n1,0,1e6\n2,0,1e6\n3,0,1e6\n")
    found, verdict = flows("leaf-spine:2x2x2", str(star), flow_bytes=None)
    assert found.busiest[0].between == "hosts"
    assert verdict.sentence.endswith("can carry its flows.")
    assert verdict.next.endswith("--save-flows flows.csv")


def test_interrupted_flows_are_unknown():
    found, _ = flows("mesh:3x3", "transpose:3")
    figures = found.to_dict() | {"finish_seconds": None, "ended_flows": 2, "interrupted": True}
    verdict = kind_of("simulate.flows").read(figures).verdict
    assert (verdict.mark, verdict.sentence) == ("unknown", "Interrupted: 2 of 6 flows had ended.")


def test_flows_of_which_the_order_is_all():
    found, _ = flows("mesh:3x3", "transpose:3")
    ends = {"in_order_finish_seconds": 9e-3, "shared_finish_seconds": 1e-3}
    unsure = {"within": None, "why": "The order decides."}
    figures = found.to_dict() | ends | {"expected_error": unsure}
    verdict = kind_of("simulate.flows").read(figures).verdict
    assert verdict.mark == "unknown"
    assert verdict.sentence.startswith("Takes 1 ms to 9 ms: ")


def test_marks_follow_how_much_longer_flows_take():
    found, _ = flows("leaf-spine:4x2x4", "all-to-all:16")
    figures = found.to_dict()
    marks = [
        kind_of("simulate.flows")
        .read(figures | {"finish_seconds": over * found.bound_seconds})
        .verdict.mark
        for over in (1.04, 1.2, 1.6)
    ]
    assert marks == ["limited", "limited", "act"]


def test_channels_that_flows_use_alike_are_named_together():
    found, verdict = flows("torus:8x4", "all-to-all:32")
    many = "all + channels of 4 columns"
    own = flows("torus:4x4", "all-to-all:16")[1]
    assert "more than 32 of the nodes' own channels need (" in own.sentence
    assert f"more than {many} need (" in verdict.sentence
    first = found.busiest[0].name.replace(" -> ", "→")
    assert verdict.lines["where"].startswith(f"{many} are used alike: {first} carries ")
