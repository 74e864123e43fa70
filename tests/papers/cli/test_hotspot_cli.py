"""The command ``netloom hotspot``, and the figures of ``netloom validate``."""

import json
import sys

import pytest

from netloom.cli import main

SMALL = "--pes 64 --hot-spots 4 --steps 300"


@pytest.fixture
def netloom(monkeypatch, capsys):
    def run(*arguments):
        words = [word for argument in arguments for word in str(argument).split()]
        monkeypatch.setattr(sys, "argv", ["netloom", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_the_command_of_the_issue(netloom):
    code, out, err = netloom(
        "hotspot --pes 512 --hot-spots 8 --per-pe 2 --assign 0.95 --rate 0.15 --policy no-wait "
        "--queue unbounded --steps 1000 --seed 1 --json"
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["requests"]["mean_per_pe"] == pytest.approx(149.4, abs=1.5)  # G Z (1 − 0.05²)
    assert data["steps"]["min"] == 20 <= data["steps"]["mean"] < data["steps"]["max"]
    for part in ("queue", "wait_buffer"):
        assert 0 < data[part]["mean"] < data[part]["max"]
    assert [stage["stage"] for stage in data["stages"]] == list(range(9))
    for stage in data["stages"]:
        assert stage["requests"]["mean"] > stage["replies"]["mean"] > 0
    assert data["finalisation_steps"] >= 20
    assert data["cpu_seconds"] > 0
    assert data["seed"] == 1
    assert data["capacity"] == {"queue": None, "wait_buffer": None}


def test_replications_and_their_picture(netloom, tmp_path):
    picture = tmp_path / "new" / "stages.svg"
    code, out, err = netloom(
        f"hotspot {SMALL} --per-pe 2 --assign 0.95 --rate 0.15 --queue 3 --replications 4",
        f"--plot {picture}",
    )
    assert (code, err) == (0, "")
    assert "4 replications" in out
    assert "queue 3" in out
    assert f"Picture: {picture}" in out
    assert picture.read_text().startswith("<svg")
    lines = out.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("stage"))
    assert [line.split()[0] for line in lines[first + 1 : first + 7]] == list("012345")
    assert "queues of PEs: " in out
    assert "queues of modules: " in out


def test_the_table_shows_what_the_json_has(netloom):
    code, out, _ = netloom(f"hotspot {SMALL} --policy wait --seed 3")
    _, plain, _ = netloom(f"hotspot {SMALL} --policy wait --seed 3 --json")
    data = json.loads(plain)
    assert code == 0
    row = next(line.split() for line in out.splitlines() if line.startswith("    4  "))
    stage = data["stages"][4]
    assert float(row[1]) == float(f"{stage['requests']['mean']:.3g}")
    assert row[2] == str(stage["requests"]["max"])
    assert float(row[3]) == float(f"{stage['wait']['mean']:.3g}")
    assert float(row[-2]) == float(f"{stage['replies']['mean']:.3g}")
    waited = f"{100 * data['discarded']['waiting_share']:.3g}"
    assert f"requests that had to wait  {waited}\u00a0%" in out
    assert data["verdict"]["sentence"] in " ".join(out.split())
    assert out.startswith(f"✓ {data['verdict']['sentence'][:60]}")


def test_without_combining_requests_pile_up_and_what_was_asked_is_said(netloom):
    _, out, _ = netloom(f"hotspot {SMALL} --combining none --rate 0.05:0.2:0.05")
    assert out.startswith("! Keeps up to rate 0.")
    assert "a wait buffer" not in out
    _, out, _ = netloom(
        f"hotspot {SMALL} --combining none --unlimited --hot-fraction 0.1 --service-steps 2"
    )
    said = " ".join(out.split())
    for other in ("hot fraction 0.1", "combining none", "unlimited", "service steps 2"):
        assert other in said


def test_requests_that_wait_and_places_are_said(netloom):
    asked = f"hotspot {SMALL} --policy wait --spacing 9 --deviation 1 --new 0.01 --remove 0.02"
    _, out, _ = netloom(asked, "--rate 0.1,0.9")
    assert "policy wait, spacing 9, deviation 1, new 0.01, remove 0.02" in " ".join(out.split())
    _, plain, _ = netloom(asked, "--rate 0.1,0.9 --json")
    shares = [point["discarded"]["waiting_share"] for point in json.loads(plain)["points"]]
    assert shares[1] > 0.5
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["0.1"], ["0.9"])]
    assert [float(row[-1]) for row in rows[-2:]] == [float(f"{100 * each:.3g}") for each in shares]


def test_what_was_interrupted_is_said(netloom, monkeypatch):
    monkeypatch.setattr("netloom_papers.questions.hotspot.run_all", cut_short)
    code, out, _ = netloom(f"hotspot {SMALL}")
    assert code == 130
    assert "interrupted: what was finished by then" in out


def cut_short(jobs, *, tell=None):
    """Run one job, and stop it at the first look after its first steps."""
    looks = iter([False])
    return [jobs[0](lambda: next(looks, True))]


def test_the_command_alone_is_the_system_of_the_report(netloom):
    code, out, _ = netloom("hotspot")
    assert code == 0
    assert "8 hot spots of 512 memory modules" in out
    assert out.startswith("✓ Keeps up at rate 0.15: ")


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
        ("--wait-buffer some", "wait_buffer: found 'some'; expected a number of packets, or unb"),
        ("--queue 0", "queue: found 0; expected at least 1 packet, or unbounded"),
        ("--wait-buffer 0", "wait_buffer: found 0"),
        ("--steps 0", "steps: found 0"),
        ("--replications 0", "replications: found 0"),
        ("--plot stages.gif", "stages.gif: found suffix '.gif'"),
        ("--plot README.md/x.svg", "README.md/x.svg: found"),
        ("critical-queue --queue 3", "--queue: found no such option"),
        ("critical-queue --wait-buffer 3", "--wait-buffer: found no such option"),
        ("--rise 0.2", "--rise: found no such option"),
        ("saturation", "Got unexpected extra argument(s) (saturation)"),
        ("--pes many", "Invalid value for '--pes'"),
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
