"""Plan files: verified, and run."""

import json

import pytest

from netloom import compile_phases, run_plan, verify_plan
from netloom.base.errors import InputError
from netloom.phases import InvalidPlanError


@pytest.fixture(scope="module")
def compiled():
    return compile_phases("all-to-all:8", "torus:2x4", words=6, channels=4, seed=2)


@pytest.fixture
def plan(compiled, tmp_path):
    """Return a plan file, after a change of its data."""

    def write(change=lambda data: None):
        path = tmp_path / "plan.json"
        compiled.write(path)
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))
        return path

    return write


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
    found = run_plan(plan(lambda data: programs or data.pop("programs")))
    assert found.delivered
    assert found.to_dict()["words"] == 56 * 6
    assert found.verdict.lines["run in"].endswith("s")


def test_a_program_that_sends_too_little_is_told(plan):
    def less(data):
        action = data["programs"][3]["phases"][0]["streams"][0][0]
        action["words"] -= 1

    found = run_plan(plan(less))
    assert not found.delivered
    assert "5 words on connection" in found.faults[0]
    assert found.to_dict()["faults"]


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
        run_plan(path)
    assert str(error.value).startswith(f"{path}: programs: {said}")
