"""Plan files: verified, and run."""

import json

import pytest

from netloom import compile_phases, run_plan, verify_plan
from netloom.base.errors import InputError
from netloom.phases import InvalidPlanError
from netloom_papers.processes.runtime import run_programs


@pytest.fixture
def plan(tmp_path):
    """Return a plan file, after a change of its data."""

    def write(change=lambda data: None):
        path = tmp_path / "plan.json"
        compile_phases("all-to-all:8", "torus:2x4", words=6, channels=4, seed=2).write(path)
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))
        return path

    return write


def test_what_was_compiled_verifies(plan):
    path = plan()
    found = verify_plan(path)
    compiled = compile_phases("all-to-all:8", "torus:2x4", words=6, channels=4, seed=2)
    assert found.to_dict() == {
        "verdict": found.verdict.to_dict(),
        "plan": str(path),
        "verified": True,
        "violation": None,
        "topology": "torus:2x4",
        "connections": 56,
        "phases": compiled.plan.num_phases,
        "lower_bound_phases": compiled.lower_bound_phases,
        "max_channels_used": compiled.max_channels_used,
        "schedule": "streaming",
    }
    phases = f"{compiled.plan.num_phases} phases"
    assert found.verdict.sentence == f"Verified: 56 connections in {phases} break no rule."
    assert found.verdict.lines["limits"] == f"{phases}, and no plan has fewer"
    assert found.verdict.next == f"netloom compile run {path}"
    assert found.verdict.marked in repr(found)
    assert found.file.provenance["configuration"]["app"] == "all-to-all:8"


def test_the_bound_is_not_believed(plan):
    claimed = plan(lambda data: data.update(lower_bound_phases=1))
    assert verify_plan(claimed).lower_bound_phases > 1


def test_a_plan_that_breaks_a_rule_is_refused_by_both(plan):
    path = plan(lambda data: data["capacity"].update(virtual_channels=1))
    for ask in (verify_plan, run_plan):
        with pytest.raises(InvalidPlanError, match=r"phase 0, node .* expected at most 1"):
            ask(path)


@pytest.mark.parametrize("programs", [True, False])
def test_every_word_arrives_with_programs_or_without(plan, programs):
    found = run_plan(plan(lambda data: programs or data.pop("programs")), workers=1)
    assert found.delivered
    assert found.to_dict()["words"] == 56 * 6
    assert "All 336 words of 56 connections arrived, in order and in their " in repr(found)
    assert found.verdict.lines["run by"].startswith("1 worker in ")


def test_a_program_that_sends_too_little_is_told(plan):
    def less(data):
        action = data["programs"][3]["phases"][0]["streams"][0][0]
        action["words"] -= 1

    found = run_plan(plan(less), workers=1)
    assert not found.delivered
    assert "5 words on connection" in found.faults[0]
    verdict = found.verdict
    faults = len(found.faults)
    assert (verdict.mark, verdict.sentence) == (
        "act", f"Not delivered: {faults} faults in 56 connections.",
    )  # fmt: skip
    assert verdict.lines["first"] == found.faults[0]
    assert found.to_dict()["faults"]


def test_workers_are_handed_on(plan, monkeypatch):
    asked = []

    def run(programs, held, *, workers):
        asked.append((len(programs), workers))
        return run_programs(programs, held, workers=1)

    monkeypatch.setattr("netloom_papers.processes.plans.run_programs", run)
    run_plan(plan())
    run_plan(plan(), workers=7)
    assert asked == [(8, None), (8, 7)]


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ("none", "found str; expected a list"),
        ([{"node": 0}], "found no 'phases'; expected what NodeProgram.to_dict writes"),
        ([1], "found a field of another kind; expected what"),
        ([{"node": "x", "phases": []}], "found invalid literal for int() with base 10: 'x'"),
    ],
)
def test_programs_that_are_none(plan, programs, said):
    path = plan(lambda data: data.update(programs=programs))
    with pytest.raises(InputError) as error:
        run_plan(path, workers=1)
    assert str(error.value).startswith(f"{path}: programs: {said}")


def test_no_file():
    with pytest.raises(InputError, match="no such file"):
        verify_plan("nowhere.json")
