"""What replayed traces and flows come to: sentences, marks, causes and next commands."""

import pytest

import netloom as nl
from netloom import replay
from tests.questions.shared import file_of

ALONE = "id,after,source,target,flits\na,,0,1,8\nb,a,1,2,8\n"
MEETING = "id,after,source,target,flits\na,,0,3,40\nb,,1,2,40\n"


def replayed(folder, text, on="mesh:4", **options):
    found = nl.replay(on, trace=file_of(folder, text), **options)
    return found, found.verdict


def test_flows_that_meet_take_twice_as_long(tmp_path):
    flow = {"engine": "flow", "bandwidth": "1GB/s", "latency": 0, "flit_bytes": 1000}
    one, verdict = replayed(tmp_path, ALONE, **flow)
    assert one.finish == pytest.approx(16e-6)
    assert verdict.sentence == "Takes 16 µs, no longer than if no message met another."
    other, verdict = replayed(tmp_path, MEETING, **flow)
    assert other.finish == pytest.approx(80e-6) == 2 * other.of_flows.alone
    assert verdict.sentence == "Takes 80 µs: 1→2 is busy 100\u00a0% of the time."


FAST = {"engine": "flow", "bandwidth": "25GB/s", "latency": "500ns"}
MODEL = "layers=4,hidden=256,seq=128"


def split(program, on="leaf-spine:2x2x4", **options):
    """The critical path by parallelism, in seconds, and the answer."""
    found = replay(on, trace=program, **(FAST | options))
    return {name: time for name, time in found.parallelism.items() if time}, found


@pytest.mark.parametrize(
    ("parallel", "kinds"),
    [
        ("tp=4", {"tensor"}), ("tp=4,sp=1", {"tensor"}), ("dp=4", {"data"}),
        ("cp=4", {"context", "data"}),
        ("pp=4", {"pipeline"}), ("dp=4,ep=4,experts=4", {"experts", "data"}),
        ("tp=2,pp=2,dp=2", {"tensor", "pipeline", "data"}),
    ],
)  # fmt: skip
def test_the_path_is_split_by_parallelism(parallel, kinds):
    parts, found = split(f"llm:{parallel},{MODEL}")
    assert set(parts) == kinds
    assert sum(parts.values()) == pytest.approx(found.finish)
    said = found.verdict.lines["split"]
    assert all(kind in said for kind in kinds)
