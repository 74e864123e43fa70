"""The command ``netloom hotspot``, and the figures of ``netloom validate``."""

import json

import pytest

SMALL = "--pes 64 --hot-spots 4 --steps 300"


def test_the_command_of_the_issue(netloom):
    code, out, err = netloom(
        "hotspot --pes 512 --hot-spots 8 --per-pe 2 --assign 0.95 --rate 0.15 --policy no-wait "
        "--queue unbounded --steps 1000 --seed 1 --json"
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["requests"]["mean_per_pe"] == pytest.approx(149.4, abs=1.5)  # G Z (1 − 0.05²)
    assert data["steps"]["min"] == 20 <= data["finalisation_steps"]
    assert data["capacity"] == {"queue": None, "wait_buffer": None}


def test_what_was_interrupted_is_said(netloom, monkeypatch):
    monkeypatch.setattr("netloom_papers.questions.hotspot.run_all", cut_short)
    code, out, _ = netloom(f"hotspot {SMALL}")
    assert code == 130
    assert "interrupted: what was finished by then" in out


def cut_short(jobs, *, tell=None):
    """Run one job, and stop it at the first look after its first steps."""
    looks = iter([False])
    return [jobs[0](lambda: next(looks, True))]


def test_critical_queues(netloom, tmp_path):
    asked = f"hotspot critical-queue {SMALL} --rate 0.05,0.2 --replications 4"
    picture = tmp_path / "critical.svg"
    code, out, err = netloom(asked, f"--plot {picture}")
    assert (code, err) == (0, "")
    _, plain, _ = netloom(asked, "--json")
    data = json.loads(plain)
    assert [each["rate"] for each in data["rates"]] == [0.05, 0.2]
    most = max(each["critical_queue"] for each in data["rates"])
    assert out.startswith(f"✓ Build queues of {most + 1} (")
    assert sum(line.split()[2:3] == ["–"] for line in out.splitlines()) == 2
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--pes 500", "pes: found 500"),
        ("--spacing 61 --deviation 9", "spacing: found 8 hot spots"),
        ("--hot-spots 2 --per-pe 3", "per_pe: found 3; expected 1 to 2, the hot spots"),
        ("--assign 1.5", "assign: found 1.5; expected a number from 0 to 1"),
        ("--rate nan", "rate: found 'nan'; expected a number"),
        ("--queue ²", "queue: found '²'; expected a number of packets, or unbounded"),
        ("--queue 0", "queue: found 0; expected at least 1 packet, or unbounded"),
        ("--wait-buffer 0", "wait_buffer: found 0"),
        ("--steps 0", "steps: found 0"),
        ("--replications 0", "replications: found 0"),
        ("critical-queue --queue 3", "--queue: found no such option"),
    ],
)
def test_mistakes_are_one_line(netloom, options, said):
    code, out, err = netloom("hotspot", options)
    assert (code, out) == (2, "")
    assert err.startswith(f"netloom: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("paper", ["", "router"])
def test_other_papers_have_no_figures(netloom, tmp_path, paper):
    code, _, err = netloom("validate", paper, f"--figures {tmp_path}")
    assert code == 2
    assert "figures: found figures of" in err
    assert "those of chittor, shahrabi, rosenblum-mayr" in err
