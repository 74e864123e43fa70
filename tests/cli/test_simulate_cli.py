import json
import sys

import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.base.words import number
from netloom.cli import main

QUICK = ["--cycles", "1500"]


@pytest.fixture
def simulate(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["netloom", "simulate", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_one_load_as_json(simulate):
    code, out, err = simulate(
        "--on", "mesh:8x8", "--traffic", "uniform", "--load", "0.2", "--packet-flits", "5",
        "--vcs", "4", "--buffer-flits", "8", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    data = json.loads(out)
    promised = {
        "offered", "accepted", "accepted_worst_node", "packet_latency", "network_latency", "hops",
        "stable", "cycles", "flit_hops", "cpu_seconds", "seed",
    }  # fmt: skip
    assert promised <= data.keys()
    assert {"mean", "ci95", "p50", "p99", "max"} <= data["packet_latency"].keys()
    assert None not in data["packet_latency"].values()


def test_a_range_of_loads_as_a_table_and_a_curve(simulate, tmp_path):
    curve = tmp_path / "curve.svg"
    code, out, _ = simulate(
        "--on", "torus:4x4", "--traffic", "tornado", "--routing", "adaptive",
        "--load", "0.1:0.3:0.1", "--plot", str(curve), *QUICK,
    )  # fmt: skip
    assert code == 0
    assert "latency" in out
    assert "0.3" in out
    assert f"Picture: {curve}" in out
    assert curve.read_text().startswith("<svg")


def test_a_program_under_a_mapping(simulate):
    code, out, _ = simulate(
        "--on", "mesh:8x8", "--app", "examples/lammps-64.mtx", "--mapping", "random",
        "--seed", "1", "--load", "0.1", "--json", *QUICK,
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["stable"]


def test_saturation_as_json_and_as_a_table(simulate):
    arguments = ["saturation", "--on", "mesh:4x4", "--vcs", "2", "--most-cycles", "3000"]
    code, out, _ = simulate(*arguments, "--json")
    assert code == 0
    data = json.loads(out)
    assert 0.4 < data["saturation_throughput"] < data["throughput_bound"]["load"]
    code, out, _ = simulate(*arguments)
    assert "saturates at" in out
    assert "the 4 links from row 1 to row 2" in " ".join(out.split())
    assert out.startswith("? Saturates near 0.6")
    assert "in short runs of 3,000 cycles." in " ".join(out.split())


def test_one_load_is_told_to_a_person(simulate):
    code, out, _ = simulate("--on", "symult2010", "--load", "0.05", *QUICK)
    assert code == 0
    said = " ".join(out.split())
    assert "symult2010, wormhole, 1 VC of 4 flits" in said
    assert "0.05 µs per cycle" in said
    assert said.startswith("✓ Carries 0.05 at 2")


def test_techniques_side_by_side(simulate):
    code, out, _ = simulate(
        "--on", "mesh:4x4", "--load", "0.1", "--switching", "all", "--packet-flits", "9", *QUICK
    )
    assert code == 0
    for technique in ("wormhole", "virtual-cut-through", "store-and-forward", "circuit"):
        assert f"\n{technique.capitalize()}:\n" in out
    assert "buffers of 9 flits a VC instead of 8" in out
    assert "reserved is not possible: reserved VCs: found" in out


def test_advice_is_one_line_before_the_run(simulate):
    code, out, err = simulate("--on", "mesh:4x4", "--load", "1", "--json", *QUICK)
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith("netloom: load 1 is above 0.9375")
    data = json.loads(out)
    assert data["packet_latency"]["mean"] is None
    assert "past saturation" in data["note"]
    code, out, _ = simulate("--on", "mesh:4x4", "--load", "1", *QUICK)
    assert out.startswith("✗ Overloaded: 1 asked, ")
    assert "p99" not in out  # nor any latency


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--load", "1.5"], "load: found 1.5"),
        (["--load", "nan"], "load: found 'nan'"),
        ([], "--load: found nothing"),
        (["--load", "0.1", "--vcs", "0"], "vcs: found 0"),
        (["--load", "0.1", "--packet-flits", "9", "--switching", "virtual-cut-through"],
         "packets of up to 9 flits for buffers of 8"),
        (["--load", "0.1", "--traffic", "bit-reverse"], "a power of two"),
        (["--load", "0.1", "--plot", "curve.gif"], "curve.gif: found suffix"),
        (["--load", "none"], "load: found 'none'"),
        (["--load", "0.1", "--tarffic", "uniform"], "--tarffic: found no such option"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(simulate, arguments, wrong):
    code, out, err = simulate("--on", "mesh:6x6", *arguments)
    assert code == 2
    assert wrong in err
    assert err.count("\n") == 1
    assert out == ""


def test_a_search_for_saturation_takes_no_load(simulate):
    code, out, err = simulate("saturation", "--on", "mesh:6x6", "--load", "0.1")
    assert (code, out) == (2, "")
    assert "--load: found no such option" in err
    assert err.count("\n") == 1


def test_there_is_no_such_simulation(simulate):
    code, out, err = simulate("saturated", "--on", "mesh:6x6")
    assert (code, out) == (2, "")
    assert "saturated" in err


def test_a_curve_on_which_no_load_is_stable_is_drawn(simulate, tmp_path):
    curve = tmp_path / "x.svg"
    code, out, _ = simulate("--on", "mesh:4x4", "--load", "0.9,0.95", "--plot", str(curve), *QUICK)
    assert code == 0
    assert out.startswith("✗ Overloaded from the lowest load on: 0.9 asked, ")
    assert out.count("  overloaded\n") == 1  # the run that ends the curve
    assert curve.read_text().startswith("<svg")


def test_what_a_user_names_is_no_markup(simulate, tmp_path):
    network, curve = tmp_path / "n[" / "x].csv", tmp_path / "x[" / "foo].svg"
    network.parent.mkdir()
    network.write_text("n[/0] b\n")
    code, out, _ = simulate("--on", f"graph:{network}", "--traffic", "pairs:0-1", "--load", "0.1",
                            "--plot", str(curve), *QUICK)  # fmt: skip
    assert code == 0
    assert "worst node n[/0]" in out
    assert f"Picture: {curve}" in out
    assert "x].csv" in out


def test_a_doubtful_answer_is_not_green(simulate):
    code, out, _ = simulate("--on", "mesh:4x4", "--load", "0.1", "--precision", "1e-4",
                            "--most-cycles", "3000")  # fmt: skip
    assert code == 0
    assert out.startswith("? Too short to be sure: about 2")
    found = nl.simulate("mesh:4x4", load=0.1, precision=1e-4, most_cycles=3000)
    assert found.to_dict()["verdict"]["mark"] == "unknown"
    assert nl.simulate("mesh:4x4", load=0.1).to_dict()["verdict"]["mark"] == "fine"


def test_the_figures_are_shown_even_if_drawing_fails(simulate, monkeypatch, tmp_path):
    def fail(*_):
        raise InputError("x.svg", "a full disk")

    monkeypatch.setattr("netloom.questions.outputs.save_chart", fail)
    asked = ["--on", "mesh:4x4", "--load", "0.1", "--plot", str(tmp_path / "x.svg"), *QUICK]
    code, out, err = simulate(*asked)
    assert (code, err) == (2, "netloom: x.svg: found a full disk\n")
    assert "Carries 0.1" in out
    code, out, _ = simulate(*asked, "--json")
    assert code == 2
    assert json.loads(out)["stable"]


def test_a_picture_that_cannot_be_written_is_refused_before_the_run(simulate, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = simulate(
        "--on", "mesh:4x4", "--load", "0.1", "--plot", str(tmp_path / "file" / "x.svg")
    )
    assert (code, out) == (2, "")
    assert "a place that cannot be written" in err


def test_a_network_of_one_node(simulate):
    code, out, _ = simulate("--on", "line:1", "--traffic", "uniform-self", "--load", "0.1", *QUICK)
    assert code == 0
    assert "1 node, 0 channels" in " ".join(out.split())
    assert "busiest link" not in out
    assert "None" not in out


def test_the_limit_of_compared_techniques_is_the_largest(simulate):
    code, out, _ = simulate("--on", "mesh:4x4", "--load", "0.1", "--switching", "all", *QUICK)
    assert code == 0
    said = " ".join(out.split())
    assert "no router can carry more than 0.938 with this routing" in said


def test_numbers_that_are_none_are_dashes():
    assert number(float("nan")) == number(None) == "–"


@pytest.mark.parametrize("what", [["--load", "0.1"], ["--load", "0.1,0.2"], ["saturation"]])
def test_ctrl_c_prints_what_is_known(simulate, what, ctrl_c_after):
    endless = ["--on", "mesh:8x8", "--precision", "1e-6", "--most-cycles", "5000000", "--json"]
    ctrl_c_after(40)
    code, out, _ = simulate(*what, *endless)
    assert code == 130
    assert json.loads(out)["interrupted"]


def test_several_values_of_an_option_are_asked_for_in_an_experiment(simulate):
    code, out, err = simulate("--on", "mesh:4x4", "--load", "0.1", "--vcs", "1,2,4")
    assert (code, out) == (2, "")
    assert "'--vcs': expected one whole number" in err
    assert "experiment file" in err
