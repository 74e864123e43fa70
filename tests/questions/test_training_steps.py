"""Training steps that netloom makes: what they leave unsaid is said, and their time is split."""

import pytest

from netloom import analyze, replay
from netloom.questions.register import by_verb

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


def test_computing_is_a_part_of_the_split_if_its_speed_is_said():
    parts, found = split(f"llm:tp=2,dp=2,{MODEL},tflops=1")
    assert parts["computing"] == pytest.approx(found.critical_path.compute)
    assert parts["computing"] > 0
    silent = split(f"llm:tp=2,dp=2,{MODEL}")[1]
    assert "omputing takes no time: add tflops=N" in silent.verdict.note
    assert "omputing takes no time" not in found.verdict.note
    assert found.finish > silent.finish


def test_cycles_are_split_too():
    found = replay(
        "leaf-spine:2x2x2", trace=f"llm:tp=2,dp=2,{MODEL}", engine="network", flit_bytes=4096,
        bandwidth="25GB/s",
    )  # fmt: skip
    assert sum(found.parallelism.values()) == pytest.approx(found.finish)
    assert set(found.to_dict()["parallelism_cycles"]) >= {"tensor", "data"}


def test_defaults_stand_in_every_heading():
    program = f"llm:tp=2,pp=2,dp=2,{MODEL}"
    said = "(batch=1, micro_batches=2, dtype=bf16) on leaf-spine:2x2x4"
    assert said in split(program)[1].verdict.of
    counted = analyze(program, "leaf-spine:2x2x4", random_mappings=0).to_dict()
    assert said in by_verb("analyze").read(counted).verdict.of
    every = f"{program},batch=1,micro_batches=2,dtype=bf16"
    assert "(batch" not in split(every)[1].verdict.of


def test_other_traces_have_no_such_split(tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("id,time_seconds,source,target,bytes\na,0,0,1,100\n")
    found = replay("mesh:2x2", trace=file, **FAST)
    assert found.parallelism is None
    assert "split" not in found.verdict.lines


def test_both_sets_of_busy_channels_are_named(tmp_path):
    file = tmp_path / "three.csv"
    file.write_text("id,time_seconds,source,target,bytes\na,0,0,2,1000\nb,0,0,1,100000\n")
    found = replay("leaf-spine:2x1x2", trace=file, **FAST)
    data = found.to_dict()
    assert data["utilisation"]["max"] < data["busiest"][0]["utilisation"]
    assert found.busiest[0].between == "hosts"
    assert data["verdict"]["lines"]["busiest"].startswith("between routers ")
