"""The commands of ``netloom simulate`` with which programs drive the network."""

import json
import sys

import polars as pl
import pytest

from netloom.cli import main


@pytest.fixture
def simulate(monkeypatch, capsys):
    def run(*arguments):
        words = [word for argument in arguments for word in str(argument).split()]
        monkeypatch.setattr(sys, "argv", ["netloom", "simulate", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def simulated(simulate):
    def run(*arguments):
        code, out, err = simulate(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


def test_a_closed_loop(simulated):
    data = simulated(
        "loop --engine worm --on mesh:6x6 --app transpose:6 --message-flits 50",
        "--applied 0.1:0.9:0.4 --arbitration timestamp --loops 20",
    )
    assert [point["applied"] for point in data["points"]] == [0.1, 0.5, 0.9]
    last = data["points"][-1]
    assert last["actual"]["worst_node"] < 1 / 5 < last["actual"]["average_node"] + 0.05
    assert last["loop_cycles"]["max"] > last["loop_cycles"]["mean"]
    assert data["router"]["arbitration"] == "timestamp"
    one = simulated("loop --on mesh:4x4 --app hypercube:4 --mapping random --applied 0.2 --loops 5")
    assert {"applied", "actual", "loop_cycles"} <= one.keys()
    assert one["engine"] == "network"


def test_transactions(simulated):
    data = simulated(
        "transactions --on torus:4x4 --contexts 2 --run-cycles 16 --app torus:4x4 "
        "--mapping identity"
    )
    assert {"message_rate", "message_latency", "inter_transaction_cycles"} <= data.keys()
    assert data["contexts"] == 2


def test_broadcasts(simulated):
    data = simulated(
        "broadcast --on torus:4x4 --traffic uniform --broadcast 0.04 --packet-flits 32 --vcs 3 "
        "--routing adaptive --rate 0.002 --cycles 20000"
    )
    assert data["rate"] == 0.002
    assert data["stable"]
    assert data["broadcast_latency"]["mean"] > data["unicast_latency"]["mean"] > 32


def test_a_trace_and_its_messages(simulated, simulate, tmp_path):
    data = simulated("trace examples/halo.csv --on torus:4x4x4")
    assert data["critical_path"]["finish_cycles"] == data["finish_cycles"]
    assert data["finish_cycles"] >= data["ideal_finish_cycles"] > 0
    times = tmp_path / "times.csv"
    code, out, _ = simulate(
        "trace examples/halo.csv --on torus:4x4x4 --engine worm --routing up-down",
        f"--save-messages {times}",
    )
    assert code == 0
    assert f"Messages: {times}" in out
    assert pl.read_csv(times).height == data["messages"]


def test_a_goal_file(simulated):
    data = simulated("trace examples/allreduce.goal --on ring:8 --flit-bytes 8")
    assert data["finish_cycles"] > 0


def test_a_machine_s_experiment(simulated):
    data = simulated("pattern aa-1nn --on symult2010:4x4 --message-bytes 1,4099 --think-us 0")
    for point in data["points"]:
        assert point["loop_us_mean"] == pytest.approx(2 * point["message_us"], rel=0.05)


def test_programs_side_by_side_around_a_broken_link(simulated):
    data = simulated(
        "--on mesh:4x4 --app ring:8@0-7 --app hypercube:3@8-15 --failed-channels 5-6 --load 0.1 "
        "--cycles 5000"
    )
    assert [program["name"] for program in data["programs"]] == [
        "ring:8@0-7",
        "hypercube:3@8-15",
    ]
    assert all(program["slowdown"]["packet_latency"] > 0.9 for program in data["programs"])
    assert data["failures"]["channels"]
    loops = simulated(
        "loop --on mesh:4x4 --engine worm --app ring:8@0-7 --app hypercube:3@4-11 --shared "
        "--applied 0.3 --loops 20"
    )
    assert all(program["slowdown"] > 0.9 for program in loops["programs"])


@pytest.mark.parametrize(
    ("options", "head"),
    [
        ("--on mesh:4x4 --app ring:8@0-7 --app ring:8@8-15 --load 0.1 --cycles 2000", "ring:8"),
        ("loop --on mesh:4x4 --app ring:8@0-7 --app ring:8@8-15 --applied 0.1 --loops 5", "alone"),
        (
            "loop --on mesh:4x4 --app uniform --applied 0.1,0.6 --engine worm --loops 5",
            "of their sending rate",
        ),
        ("transactions --on torus:4x4 --app torus:4x4", "of the time and wait"),
        ("trace examples/halo.csv --on torus:4x4x4", "critical path"),
        ("broadcast --on torus:4x4 --rate 0.001 --broadcast 0.1 --cycles 5000", "to the last"),
        ("pattern transpose --on symult2010:4x4", "a message"),
    ],
)
def test_figures_and_pictures_for_people(simulate, options, head, tmp_path):
    picture = tmp_path / "picture.svg"
    code, out, err = simulate(options, f"--plot {picture}")
    assert (code, err) == (0, "")
    assert head in out
    assert f"Picture: {picture}" in out
    assert picture.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--on mesh:4x4 --app ring:8@0-7 --app ring:8@7-14 --load 0.1", "host 7"),
        ("--on mesh:4x4 --app ring:8 --app ring:8 --load 0.1", "@"),
        ("--on line:4 --failed-channels 1-2 --load 0.1", "1"),
        ("loop --on mesh:4x4 --app transpose:4 --applied 1", "applied: found 1"),
        ("loop --on mesh:4x4 --app transpose:4 --applied 0", "applied: found 0"),
        ("loop --on mesh:4x4 --app transpose:4 --applied nan", "applied"),
        ("loop --on mesh:4x4 --applied 0.1", "app: found no program"),
        ("--on mesh:4x4 --load 0.1 --contexts 2", "--contexts: found no such option"),
        ("--on mesh:4x4 --load 0.1 --save-messages t.csv", "--save-messages: found no such option"),
        ("--on mesh:4x4 --load 0.1 --engine worm", "--engine: found no such option"),
        ("loop --on mesh:4x4 --app transpose:4 --applied 0.1 --engine worm --vcs 2", "vcs"),
        ("loop --on mesh:4x4 --app transpose:4 --applied 0.1 --arbitration fifo", "engine worm"),
        ("pattern ring --on mesh:4x4", "pattern"),
        ("broadcast --on torus:4x4 --rate 0 --broadcast 0.1", "rate"),
        ("broadcast --on torus:4x4 --rate 0.001 --broadcast 1.5", "broadcast"),
        ("trace no-such.csv --on mesh:4x4", "no-such.csv"),
    ],
)
def test_mistakes_are_one_line(simulate, options, said):
    code, out, err = simulate(options)
    assert code == 2
    assert out == ""
    assert err.startswith("netloom: ")
    assert err.count("\n") == 1
    assert said in err


TRACES = {
    "id,after,source,target,flits\na,,0,1,5\nb,c,1,2,5\n": "c",
    "id,after,source,target,flits\na,b,0,1,5\nb,a,1,2,5\n": "a → b → a",
    "id,after,source,target,flits\na,,0,99,5\n": "100 tasks",
    "id,after,source,target,flits\na,,0,1,-5\n": "-5",
}


@pytest.mark.parametrize("text", list(TRACES))
def test_mistakes_in_a_trace_are_one_line(simulate, text, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(text)
    code, _, err = simulate(f"trace {path} --on mesh:4x4")
    assert code == 2
    assert err.count("\n") == 1
    assert TRACES[text] in err


def test_what_makes_no_traffic_is_counted_in_words(simulate, tmp_path):
    path = tmp_path / "lonely.csv"
    path.write_text("source,target,bytes\n0,1,10\n1,0,10\n1,3,10\n3,1,10\n")
    for how in ("loop --applied 0.1 --loops 5", "transactions"):
        code, out, _ = simulate(f"{how} --on mesh:4x4 --app {path}")
        assert code == 0
        assert "left out: 1 task that sends nothing over the network" in out
    code, out, _ = simulate(
        f"loop --on mesh:2x2 --app {path} --applied 0.1 --loops 5 --tasks-per-node 2"
    )
    assert code == 0
    left = "left out: 2 edges between tasks of one node, which need no network, and 2 tasks"
    assert left in " ".join(out.split())
