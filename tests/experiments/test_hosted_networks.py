"""Experiments over networks of both kinds: routers that are hosts, and hosts that hang on them."""

from __future__ import annotations

import networkx as nx
import polars as pl
import pytest

from netloom.base.errors import InputError
from netloom.experiments.file import read_experiment
from netloom.experiments.findings import load_results
from netloom.experiments.runner import run
from netloom.report.page.write import report
from tests.experiments.small import write

SWEEP = """
title = "Both kinds"

[all]
on = ["leaf-spine:4x2x4", "mesh:4x4", "graph:net.graphml"]
app = "ring:16"

[analyze]

[map]
rounds = 20

[simulate.loop]
engine = "worm"
applied = 0.2

[predict.latency]
offered = [0.1, 0.2]
"""


def leaf_spine_file(path) -> None:
    """Write four leaves of four hosts below two spines."""
    graph = nx.Graph()
    graph.add_nodes_from((f"n{host}" for host in range(16)), kind="host")
    graph.add_nodes_from((f"leaf{leaf}" for leaf in range(4)), kind="switch")
    graph.add_nodes_from((f"spine{spine}" for spine in range(2)), kind="switch")
    graph.add_edges_from((f"n{host}", f"leaf{host // 4}") for host in range(16))
    graph.add_edges_from(
        (f"leaf{leaf}", f"spine{spine}") for leaf in range(4) for spine in range(2)
    )
    nx.write_graphml(graph, path)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")
    leaf_spine_file(folder / "net.graphml")
    path = folder / "both.sqlite"
    run(write(folder, SWEEP), store=path, workers=1)
    return path


def test_a_sweep_over_both_kinds_is_one_table(store):
    table = load_results(store).table()
    assert table["error"].null_count() == len(table)
    on = ["leaf-spine:4x2x4", "mesh:4x4", "graph:net.graphml"]
    for section in ("analyze", "map", "simulate.loop", "predict.latency"):
        rows = table.filter(pl.col("section").str.starts_with(section))
        assert rows["on"].unique(maintain_order=True).to_list() == on, section
    hosts = table.filter(pl.col("section") == "simulate.loop")
    assert hosts["average_node"].is_between(0.18, 0.2).all()


def test_a_second_run_asks_nothing_again(store):
    again = run(store.with_name("small.toml"), store=store, workers=1)
    assert again.table().equals(load_results(store).table())


def test_what_one_network_cannot_have_is_kept_as_its_error(tmp_path):
    text = '[simulate]\non = ["mesh:2x2", "leaf-spine:2x1x2"]\nload = 0.1\ncycles = 300\n'
    text += 'routing = "o1turn"\n'
    found = run(write(tmp_path, text), store=tmp_path / "some.sqlite", workers=1)
    assert found.table()["on"].to_list() == ["mesh:2x2"]
    (refused,) = found.refused
    assert refused.reason.startswith("routing 'o1turn': found 'o1turn'; expected nca,")


def test_a_network_that_is_none_is_refused_before_anything_runs(tmp_path):
    text = '[analyze]\non = ["mesh:2x2", "leaf-spine:2x1"]\napp = "ring:4"\n'
    with pytest.raises(InputError, match="leaf-spine:2x1"):
        read_experiment(write(tmp_path, text))


def test_the_report_of_both_kinds_is_one_page(store, tmp_path):
    page = tmp_path / "page.html"
    report([load_results(store)], page)
    text = page.read_text()
    assert text.count("leaf-spine:4x2x4") > 4
    assert "graph:net.graphml" in text
