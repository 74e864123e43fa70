"""The command ``netloom compile``."""

import json
import sys
from importlib import import_module

import pytest

from netloom import phases
from netloom.cli import main
from netloom.phases import execution
from netloom_papers.processes.runtime import run_programs

SMALL = "compile all-to-all:16 --on torus:4x4 --words 32"


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


def test_the_all_to_all_of_the_issue(netloom):
    code, out, err = netloom(
        "compile all-to-all:64 --on torus:8x8 --channels 12 --words 256 --json"
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["phases"] == data["lower_bound_phases"] == 27
    assert "at most 768 per phase" in data["lower_bound_why"]
    assert data["max_channels_used"] <= 12
    assert data["predicted"]["conset"] >= 27 * 528 + 2 * 63 * 256
    assert data["predicted"]["message_passing"] == 63 * (800 + 2 * 256)
    assert data["simulated"] is None
    schedule = data["schedule"]
    assert len(schedule["makespan"]) == len(schedule["lower_bound"]) == 27
    assert schedule["clocks"] == 27 * 528 + sum(schedule["makespan"])
    assert schedule["clocks"] >= data["lower_bound_clocks"] == 27 * 528 + 128 * 256
    assert data["seconds"] > 0
    assert data["provenance"]["verb"] == "compile_phases"


def test_the_table_shows_what_the_json_has(netloom):
    code, out, err = netloom(SMALL, "--execute")
    assert (code, err) == (0, "")
    _, plain, _ = netloom(SMALL, "--execute --json")
    data = json.loads(plain)
    said = " ".join(out.split())
    assert out.startswith(f"✓ {data['verdict']['sentence']}")
    assert "all-to-all:16 on torus:4x4, rank order" in said
    assert "16 tasks, 240 connections, 7,680 words; 16 nodes, 64 channels" in said
    assert "4 phases, and no plan has fewer" in said
    assert data["verdict"]["sentence"] in said
    assert data["lower_bound_why"] in said
    for clocks in (
        data["schedule"]["clocks"],
        data["lower_bound_clocks"],
        data["predicted"]["conset"],
        data["predicted"]["message_passing"],
        data["simulated"]["conset"],
        data["simulated"]["message_passing"],
    ):
        assert f"{clocks:,.0f}" in said
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["0"], ["3"])]
    for row in rows:
        assert float(row[-3]) == data["schedule"]["makespan"][int(row[0])]
        assert float(row[-1]) == data["simulated"]["phases"][int(row[0])]
    assert len(rows) == 2


def test_of_many_phases_the_longest_are_shown(netloom):
    _, out, _ = netloom(SMALL, "--channels 3")
    lines = out.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("phase "))
    lasting = [float(line.split()[-2]) for line in lines[head + 1 : head + 13]]
    assert lasting == sorted(lasting, reverse=True)
    assert lines[head + 13].startswith("The longest 12; ")


def test_a_gray_hypercube(netloom):
    code, out, _ = netloom("compile hypercube:4 --on torus:4x4 --mapping gray --execute --json")
    data = json.loads(out)
    assert (code, data["phases"]) == (0, 1)
    assert data["simulated"]["conset"] < data["simulated"]["message_passing"]


def test_everything_that_can_be_written(netloom, tmp_path):
    code, out, err = netloom(
        SMALL, "--schedule shared --one-way",
        f"--out {tmp_path}/with/plan.json --programs {tmp_path}/with/programs",
        f"--gantt {tmp_path}/new/gantt.svg --map {tmp_path}/map.svg",
    )  # fmt: skip
    assert (code, err) == (0, "")
    for line in ("Plan", "Programs", "Gantt chart", "Map"):
        assert f"{line}: {tmp_path}/" in out
    assert "phase 3" in (tmp_path / "map.svg").read_text()
    assert (tmp_path / "new" / "gantt.svg").read_text().startswith("<svg")
    texts = sorted(file.name for file in (tmp_path / "with" / "programs").iterdir())
    assert texts == [f"node-{node:02}.txt" for node in range(16)]
    text = (tmp_path / "with" / "programs" / "node-07.txt").read_text()
    assert text.startswith("node 7\n  instantiate_phase(0)\n")
    assert text.count("send_element") == text.count("receive_element") == 15
    plan = tmp_path / "with" / "plan.json"
    code, out, err = netloom(f"compile verify {plan}")
    assert (code, err) == (0, "")
    assert out.startswith("✓ Verified: 240 connections in 4 phases break no rule.")
    assert "all-to-all:16 on torus:4x4\n" in out
    assert f"next netloom compile run {plan}" in " ".join(out.replace("\\\n", " ").split())


def test_programs_as_json_are_those_in_the_plan(netloom, tmp_path):
    netloom(SMALL, f"--out {tmp_path}/plan.json --programs {tmp_path}/programs.json --json")
    programs = json.loads((tmp_path / "programs.json").read_text())
    assert [each["node"] for each in programs] == list(range(16))
    assert json.loads((tmp_path / "plan.json").read_text())["programs"] == programs


def test_a_plan_runs_in_processes(netloom, tmp_path):
    netloom(SMALL, f"--out {tmp_path}/plan.json")
    code, out, err = netloom(f"compile run {tmp_path}/plan.json")
    assert (code, err) == (0, "")
    assert out.startswith("✓ All 7,680 words of 240 connections arrived, in order and in their ")


def change(path, what):
    data = json.loads(path.read_text())
    what(data)
    path.write_text(json.dumps(data))


def test_a_wrong_plan_is_one_line_and_exit_code_1(netloom, tmp_path):
    path = tmp_path / "plan.json"
    netloom(SMALL, f"--out {path}")
    change(path, lambda data: data["phases"][1]["connections"][0].update(end=-1))
    for what in ("verify", "run"):
        code, out, err = netloom(f"compile {what} {path}")
        assert (code, out) == (1, "✗ Not verified: plan.json breaks a rule.\n")
        assert err.startswith("netloom: phase 1, connection ")
        assert err.count("\n") == 1
    change(path, lambda data: data["phases"].append({**data["phases"][0], "connections": []}))
    for what in ("verify", "run"):
        code, out, err = netloom(f"compile {what} {path} --json")
        assert (code, err.count("\n")) == (1, 1)
        assert f"{path}, phase 4: found no connections" in err
        said = err.removeprefix("netloom: ").strip()
        verdict = {
            "mark": "act", "sentence": "Not verified: plan.json breaks a rule.", "lines": {},
            "next": "", "note": "",
        }  # fmt: skip
        assert json.loads(out) == {
            "plan": str(path), "verified": False, "violation": said, "verdict": verdict,
        }  # fmt: skip


def test_programs_that_do_not_deliver_are_exit_code_1(netloom, tmp_path, monkeypatch):
    path = tmp_path / "plan.json"
    netloom(SMALL, f"--out {path}")
    change(path, lambda data: data["programs"][5]["phases"][0]["streams"][0][0].update(words=7))
    plans = import_module("netloom_papers.processes.plans")
    monkeypatch.setattr(
        plans, "run_programs", lambda programs, plan, **_: run_programs(programs, plan, workers=1)
    )
    code, out, _ = netloom(f"compile run {path}")
    assert code == 1
    assert out.startswith("✗ Not delivered: 3 faults in 240 connections.")
    assert "\n  first   phase 0, node 5: " in out
    code, out, _ = netloom(f"compile run {path} --json")
    assert (code, json.loads(out)["delivered"]) == (1, False)


def test_a_plan_of_the_compiler_that_does_not_verify_is_exit_code_1(netloom, monkeypatch):
    whole = phases.partition

    def wrong(given, network, capacity, **options):
        plan = whole(given, network, capacity, **options)
        plan.phase[plan.phase == 3] = 2
        return plan

    monkeypatch.setattr(phases, "partition", wrong)
    code, out, err = netloom(SMALL)
    assert (code, out) == (1, "")
    assert err.startswith("netloom: phase 2, node ")
    assert "too many" in err


def test_interrupted_simulation(netloom, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "execute", stopped)
    code, out, _ = netloom(SMALL, "--execute")
    assert code == 130
    assert "interrupted: what was finished by then" in out
    assert "4 phases, and no plan has fewer" in out


def test_nothing_to_connect(netloom, tmp_path):
    code, out, _ = netloom(
        f"compile ring:4 --on torus:2 --tasks-per-node 4 --gantt {tmp_path}/g.svg "
        f"--map {tmp_path}/m.svg --out {tmp_path}/plan.json"
    )
    assert code == 0
    assert "Nothing to connect" in out
    assert netloom(f"compile verify {tmp_path}/plan.json")[0] == 0


def test_an_order(netloom, tmp_path):
    (tmp_path / "order").write_text("0 1 < 1 2\n")
    asked = f"compile ring:4 --on torus:4 --words 8 --order {tmp_path}/order"
    code, out, _ = netloom(asked)
    assert code == 0
    assert "1 in order" in out
    (tmp_path / "order").write_text("0 1 < 1 2\n1 2 < 0 1\n")
    code, _, err = netloom(asked)
    assert (code, err.count("\n")) == (2, 1)
    assert "a circle of constraints; expected constraints without a circle" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ring:4", "--on: found nothing"),
        ("ring:4 --on torus:4 --channels 0", "channels: found 0"),
        ("ring:4 --on torus:4 --words -1", "words: found -1"),
        ("ring:4 --on torus:4 --method best", "method: found 'best'"),
        ("ring:4 --on torus:4 --send-clocks -1", "send_clocks: found -1"),
        ("ring:4 --on torus:4 --order nowhere", "nowhere: found no such file"),
        ("ring:4 --on torus:4 --gantt gantt.gif", "gantt.gif: found suffix '.gif'"),
        ("ring:4 --on torus:4 --map README.md/m.svg", "README.md/m.svg: found"),
        ("ring:4 --on torus:4 --out README.md/p.json", "README.md/p.json: found a place that"),
        ("ring:4 --on torus:4 --out docs", "docs: found a folder; expected a file"),
        ("ring:4 --on torus:4 --programs p.txt", "p.txt: found suffix '.txt'"),
        ("ring:4 --on torus:4 --programs README.md/p", "README.md/p: found a place that cannot"),
        ("nowhere.mtx --on torus:4", "nowhere.mtx: found no such file"),
        ("ring:4 plan.json --on torus:4", "netloom compile: found one word too many, 'plan.json'"),
        ("verify", "Missing argument 'plan'"),
        ("verify nowhere.json", "nowhere.json: found no such file"),
        ("verify README.md", "README.md: found no JSON"),
        ("run nowhere.json --words 3", "No such option: --words"),
        ("ring:4 --on torus:4 --channels many", "Invalid value for '--channels'"),
    ],
)
def test_mistakes_are_one_line(netloom, words, said):
    code, out, err = netloom("compile", words)
    assert (code, out) == (2, "")
    assert err.startswith(f"netloom: {said}")
    assert err.count("\n") == 1
