import json
import re
from functools import cache

import numpy as np
import pytest

import netloom as nl
from netloom.base.words import number
from netloom.questions.recorded import record
from netloom.report import chart_of

SHORT = {"simulate": True, "cycles": 3000}
LAMMPS = {"app": "examples/lammps-64.mtx", "mapping": "random"}


def values(chart):
    """Every number in the data of a chart."""
    tables = chart.to_dict()["datasets"].values()
    return [value for table in tables for row in table for value in row.values()]


ASKED = {
    "torus:8x8": lambda: nl.predict_torus_broadcast(rate="0:auto:5"),
    "torus:4x4": lambda: nl.predict_torus_broadcast(4, broadcast=0.1, rate="0:auto:3", **SHORT),
    "torus:8x4": lambda: nl.predict_torus_broadcast(on="torus:8x4", rate=0.004),
    "torus:3x3": lambda: nl.predict_torus_broadcast(3, rate=[0.5, 0.6]),
    "torus:4x4x4": lambda: nl.predict_torus_broadcast(4, dimensions=3, rate=0.9),
    "mesh:8x8": lambda: nl.predict_latency("mesh:8x8", **LAMMPS, offered="0:auto:5", **SHORT),
    "mesh:4x4": lambda: nl.predict_latency("mesh:4x4", offered=0.1),
    "mesh:4x2": lambda: nl.predict_latency("mesh:4x2", offered=[0.9, 1]),
    "hypercube:5": lambda: nl.predict_latency("hypercube:5", offered="0:0.4:0.2"),
    "1,000 nodes": lambda: nl.predict_locality(1000, contexts=2),
    "1,000,000 nodes": lambda: nl.predict_locality("10:1000000:x10", distance=3),
    "lammps-64.mtx on torus:8x8": lambda: nl.predict_locality(on="torus:8x8", **LAMMPS),
    "A square mesh against a hypercube": nl.predict_wiring,
}

ANSWERS = {name: cache(ask) for name, ask in ASKED.items()}


@pytest.mark.parametrize("named", list(ANSWERS))
def test_every_answer_has_a_picture(named, tmp_path):
    chart = chart_of(ANSWERS[named]())
    shown = values(chart)
    assert len(shown) > 2
    assert all(not isinstance(value, float) or np.isfinite(value) for value in shown)
    assert named in json.dumps(chart.to_dict())  # in the footer
    path = tmp_path / "picture.svg"
    chart.save(str(path))
    assert path.read_text().startswith("<svg")


def test_the_time_of_a_message_is_the_sum_of_its_parts():
    found = nl.predict_torus_broadcast(rate=0.004, startup_cycles=20)
    tables = chart_of(found).to_dict()["datasets"].values()
    parts = [row["value"] for table in tables for row in table if "part" in row]
    assert len(parts) == 3
    assert sum(parts) == pytest.approx(found.latency)


def test_the_model_and_the_simulation_are_drawn_together():
    found = ANSWERS["torus:4x4"]()
    drawn = chart_of(found).to_dict()
    tables = drawn["datasets"].values()
    rows = [row for table in tables for row in table if "latency" in row]
    by_model = {row["rate"]: row["latency"] for row in rows if row.get("of") == "model"}
    assert by_model == dict(found.table().select("rate", "latency").rows())
    measured = {row["latency"] for row in rows if "simulated_latency" in row}
    assert measured >= set(found.table().drop_nulls("simulated_latency")["simulated_latency"])
    place = found.saturation_rate
    assert [{"rate": place, "until": place}] in tables
    said = {row["said"] for table in tables for row in table if "said" in row}
    assert {"model", "in the network", "● simulated"} <= said
    assert any(each.startswith(f"saturates* {place:.3g}") for each in said)


def test_a_curve_that_shoots_up_leaves_the_rest_to_be_seen():
    found = nl.predict_torus_broadcast(16, message_flits=64, vcs=5, broadcast=0.04)
    assert found.table()["latency"].max() > 10 * found.zero_load_latency
    text = json.dumps(chart_of(found).to_dict())
    tops = [float(top) for top in re.findall(r'"domain": \[0.0, ([\d.]+)\]', text)]
    assert any(top == pytest.approx(1.06 * 6 * found.zero_load_latency) for top in tops)


def test_channels_are_those_of_the_highest_load_that_they_carry():
    found = nl.predict_latency("mesh:8x8", **LAMMPS, offered="0.1:0.5:0.1")
    drawn = chart_of(found).to_dict()
    loads = [row["load"] for table in drawn["datasets"].values() for row in table if "load" in row]
    most = found.channels().filter(offered=0.3)["utilisation"].max()
    assert max(loads) == pytest.approx(100 * most)
    assert "channels at load 0.3" in json.dumps(drawn)


def test_the_time_between_transactions_is_the_sum_of_its_parts():
    found = nl.predict_locality(1000)
    drawn = record(found).answer.parts()["time"].to_dict()
    table = found.table()
    for bar, (mapping, cycles) in zip(
        drawn["vconcat"], table.select("mapping", "inter_transaction_cycles").rows(), strict=True
    ):
        names = {layer["data"]["name"] for layer in bar["layer"]}
        rows = [row for name in names for row in drawn["datasets"][name] if "part" in row]
        assert sum(row["value"] for row in rows) == pytest.approx(cycles)
        assert f"{mapping} mapping" in bar["title"].lower()
        assert f"a transaction every {number(cycles)} cycles" in bar["title"]
