"""The command ``netloom predict`` and its four questions."""

import json
import sys
from dataclasses import replace

import pytest

from netloom import simulate_broadcast
from netloom.cli import main


@pytest.fixture
def netloom(monkeypatch, capsys):
    def run(*arguments):
        words = [word for argument in arguments for word in str(argument).split()]
        monkeypatch.setattr(sys, "argv", ["netloom", "predict", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def row(out, first):
    """The words of the line that begins with a word."""
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [first])


def test_torus_broadcast_of_the_issue(netloom):
    asked = "torus-broadcast --k 8 --message-flits 32 --vcs 3 --broadcast 0.02 --rate 0.002"
    code, out, err = netloom(asked, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["saturated"] is False
    assert 36 < data["network_latency"] <= data["latency"] < 45
    assert 0 <= data["source_wait"] < 1
    assert 1 < data["vc_multiplexing"] < 2
    assert data["channel_rate"] == pytest.approx(  # 0.98 · 4.06 hops / 4, and 63 copies / 4
        0.002 * (0.98 * 256 / 63 + 0.02 * 63) / 4
    )
    assert 0.01 < data["saturation_rate"] < 0.016
    code, out, err = netloom(asked)
    assert (code, err) == (0, "")
    assert out.startswith(f"✓ About {data['latency']:.3g} cycles at rate 0.002 (")
    assert float(row(out, "0.002")[1]) == float(f"{data['latency']:.3g}")
    assert f"Saturates near {data['saturation_rate']:.3g}" in " ".join(out.split())
    assert "model error 0.7\u00a0%" in out


def test_the_other_commands_of_the_issue(netloom):
    code, out, _ = netloom(
        "locality --nodes 1000 --dimensions 2 --contexts 1 --network-speed 2 --json"
    )
    data = json.loads(out)
    assert code == 0
    assert data["gain"] == pytest.approx(2.06, abs=0.005)
    for name in ("message_rate", "message_latency", "per_hop_latency", "channel_utilisation"):
        assert data[name] > 0
    assert sum(data["breakdown"].values()) == pytest.approx(data["inter_transaction_cycles"])

    code, out, err = netloom(
        "latency --on mesh:8x8 --app examples/lammps-64.mtx --mapping random --seed 1",
        "--offered 0.05:0.5:0.05",
    )
    assert (code, err) == (0, "")
    assert row(out, "0.05")[2] == "31.9"
    assert row(out, "0.3")[1:3] == ["knee:", "simulate"]
    assert "channel (4,4)→(4,3) saturates first, busy" in out
    assert row(out, "0.35")[1] == "saturated"
    assert "nothing beyond 0.308 (channel (4,4)→(4,3))" in " ".join(out.split())

    code, out, err = netloom("wiring --nodes 64,256,1024,4096")
    assert (code, err) == (0, "")
    assert row(out, "256")[:5] == ["256", "10", "2.65", "constant", "1"]


def test_a_simulated_curve_and_its_picture(netloom, tmp_path):
    picture = tmp_path / "new" / "curve.svg"
    asked = (
        "torus-broadcast --k 4 --message-flits 16 --vcs 3 --broadcast 0.05 --rate 0:auto:4 "
        "--simulate --cycles 4000 --seed 5"
    )
    code, out, err = netloom(asked, f"--plot {picture}")
    assert (code, err) == (0, "")
    assert f"Picture: {picture}" in out
    assert picture.read_text().startswith("<svg")
    _, plain, _ = netloom(asked, "--json")
    data = json.loads(plain)
    assert len(data["points"]) == 5
    second = row(out, f"{data['points'][1]['rate']:.3g}")
    assert float(second[1]) == float(f"{data['points'][1]['latency']:.3g}")
    measured = data["points"][1]["simulated"]
    value, sign, half, error = next(
        cells[1:] for cells in map(str.split, out.splitlines()) if cells[2:3] == ["±"]
    )
    assert (sign, float(half)) == ("±", float(f"{measured['ci95']:.2g}"))
    assert float(value) == round(measured["latency"], len(half.partition(".")[2]))
    assert float(error) == float(f"{100 * measured['error']:.3g}")
    assert "less the 3 cycles on the channels at the ends" in " ".join(out.split())
    assert data["simulated_network"]["cycles_at_ends_taken_off"] == 3


def test_a_program_on_a_torus(netloom, tmp_path):
    picture = tmp_path / "parts.svg"
    asked = "locality --on torus:8x8 --app examples/lammps-64.mtx --contexts 4 --mapping distance:3"
    code, out, _ = netloom(asked, f"--plot {picture}")
    _, plain, _ = netloom(asked, "--json")
    data = json.loads(plain)
    assert code == 0
    assert "Distance:3 mapping " in out.splitlines()[0]
    assert "4 contexts per processor" in " ".join(out.split())
    shown = [float(line.split()[2]) for line in out.splitlines() if line.startswith("   64  ")][:3]
    assert shown == pytest.approx([1, data["random"]["distance"], data["distance"]], rel=5e-3)
    assert data["distance"] == pytest.approx(3, rel=0.1)  # weighted by bytes
    assert "useful work" in picture.read_text()
    code, out, _ = netloom("locality --nodes 10:1000:x10 --distance 2 --contexts 1")
    assert row(out, "1,000")[0] == "1,000"
    assert "1 context per processor" in " ".join(out.split())


def test_processors_that_hide_all_latency_are_named(netloom):
    _, out, _ = netloom(
        "locality --nodes 64 --contexts 16 --critical-messages 2 --fixed-processor-cycles 20 "
        "--message-flits 4"
    )
    assert "processors hide all latency: ideal and random" in out


def test_past_saturation(netloom):
    for rate, known in ((0.002, True), (0.05, False)):
        _, out, _ = netloom(f"torus-broadcast --rate {rate}")
        assert all((word in out) is known for word in ("are held", "multiplexing"))
        assert out.startswith("✗ Overloaded at rate 0.05") is not known
    for offered, known in ((0.2, True), (0.95, False)):
        _, out, _ = netloom(f"latency --on mesh:4x4 --offered {offered}")
        assert all((word in out) is known for word in ("in network", "least to spare"))
        assert row(out, str(offered))[1] == ("steady" if known else "saturated")
    _, out, _ = netloom("latency --on mesh:4x4 --vcs 1 --offered 0.1")
    assert "care    one VC: " in out


def test_the_parts_of_a_latency_add_up(netloom):
    asked = "torus-broadcast --k 4 --broadcast 0.1 --rate 0.002 --startup-cycles 20"
    _, out, _ = netloom(asked)
    assert "that take 20 cycles to start up" in " ".join(out.split())
    assert "Latency: of the messages that are not broadcast." in " ".join(out.split())
    _, plain, _ = netloom(asked, "--json")
    data = json.loads(plain)
    added = sum(data[part] for part in ("network_latency", "source_wait", "startup_cycles"))
    assert added == pytest.approx(data["latency"])
    _, out, _ = netloom("torus-broadcast --k 4 --rate 0.002")
    assert "to start up" not in out
    assert "not broadcast" not in out


def test_what_was_interrupted_ends_with_130(netloom, monkeypatch):
    from netloom_papers.questions.predict import torus_broadcast

    def interrupted(*asked, **fields):
        return replace(simulate_broadcast(*asked, **fields), interrupted=True)

    monkeypatch.setattr(torus_broadcast, "simulate_broadcast", interrupted)
    code, out, _ = netloom("torus-broadcast --k 4 --rate 0.001 --simulate --cycles 2000")
    assert code == 130
    assert "interrupted: what was simulated by then" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("torus-broadcast --vcs 2", "vcs: found 2; expected 3 to 32"),
        ("torus-broadcast --k 1", "k: found 1; expected"),
        ("torus-broadcast --rate=-0.1", "rate: found -0.1; expected numbers of at least 0"),
        ("torus-broadcast --on mesh:8x8", "on: found mesh:8x8; expected a torus"),
        ("torus-broadcast --plot curve.gif", "curve.gif: found suffix '.gif'"),
        ("torus-broadcast --contexts 2", "--contexts: found no such option"),
        ("locality --nodes 1", "nodes: found 1; expected at least 4"),
        ("locality --contexts 9", "contexts: found 9; expected at most the 4"),
        (
            "latency --on mesh:8x8 --routing adaptive",
            "routing: found 'adaptive', whose",
        ),
        ("latency", "--on: found nothing"),
        ("wiring --nodes 100", "nodes: found 100; expected powers of two"),
        ("hypercube", "No such command 'hypercube'"),
    ],
)
def test_mistakes_are_one_line(netloom, options, said):
    code, out, err = netloom(options)
    assert (code, out) == (2, "")
    assert err.startswith(f"netloom: {said}")
    assert err.count("\n") == 1
