import json
from functools import cache

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.drawing.networks.chart import network_chart
from netloom.report import chart_of, save_table
from netloom.topology import mesh, without

ASKED = {
    "loop": lambda: nl.simulate_loop(
        "mesh:3x3", app="transpose:3", applied=[0.1, 0.6], engine="worm", loops=5
    ),
    "transactions": lambda: nl.simulate_transactions("torus:3x3", app="torus:3x3"),
    "trace": lambda: nl.replay("torus:4x4x4", trace="examples/halo.csv", engine="worm"),
    "trace as flows": lambda: nl.replay(
        "torus:4x4x4", trace="examples/halo.csv", engine="flow", bandwidth="2GB/s", flit_bytes=16
    ),
    "broadcast": lambda: nl.simulate_broadcast(
        "torus:3x3", rate=[0.002, 0.004], cycles=3000, packet_flits=4
    ),
    "pattern": lambda: nl.simulate_pattern(
        "symult2010:3x3", message_bytes=[100, 600], think_us=[0, 500], loops=3
    ),
}

ANSWERS = {name: cache(ask) for name, ask in ASKED.items()}


@pytest.fixture(params=list(ANSWERS))
def answer(request):
    return ANSWERS[request.param]()


def values(chart):
    """Every number in the data of a chart."""
    tables = chart.to_dict()["datasets"].values()
    return [value for table in tables for row in table for value in row.values()]


def test_every_answer_has_a_picture_that_shows_its_numbers(answer, tmp_path):
    chart = chart_of(answer)
    shown = values(chart)
    assert len(shown) > 10
    assert all(not isinstance(value, float) or np.isfinite(value) for value in shown)
    path = tmp_path / "picture.svg"
    chart.save(str(path))
    assert path.read_text().startswith("<svg")
    assert f" on {answer.network.topology.name}" in json.dumps(chart.to_dict())  # in the footer


def test_a_loop_s_picture_has_what_the_table_has():
    found = ANSWERS["loop"]()
    shown = values(chart_of(found))
    table = found.table()
    for column in ("average_node", "worst_node"):
        assert set(table[column] / table["applied"]) <= set(shown)
    assert found.saturation.worst_node in shown


def test_broken_channels_are_not_drawn():
    whole = mesh(3, 3)
    broken = without(whole, channels="0-1", nodes="8")
    drawn = network_chart(broken, np.arange(broken.num_channels, dtype=float), "load").to_dict()
    (table,) = (each for each in drawn["datasets"].values() if "load" in each[0])
    names = {row["channel"] for row in table}
    assert len(names) == len(table) == whole.num_channels - 2 - 4
    shown = [broken.channel_name(each).replace(" -> ", " → ") for each in range(len(names))]
    assert names == set(shown)
    loads = {row["channel"]: row["load"] for row in table}
    assert loads[shown[5]] == 5


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_written_as_it_is(suffix, tmp_path):
    import polars as pl

    table = pl.DataFrame({"id": ["a", "b"], "sent": [1, 2]})
    path = save_table(table, tmp_path / "new" / f"table.{suffix}")
    read = pl.read_csv(path) if suffix == "csv" else pl.read_parquet(path)
    assert read.equals(table)


def test_a_table_of_no_known_kind_is_refused(tmp_path):
    import polars as pl

    with pytest.raises(InputError, match=r"\.csv, \.parquet"):
        save_table(pl.DataFrame(), tmp_path / "table.xls")
