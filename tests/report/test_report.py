import json
import re

import numpy as np
import pytest

from netloom import analyze
from netloom.base.errors import InputError
from netloom.drawing.networks import MOST_DRAWN
from netloom.drawing.networks.chart import network_chart
from netloom.report import chart_of, save_chart
from netloom.topology import mesh, topology


def drawn(net, load=None, **how):
    load = np.arange(net.num_channels, dtype=float) if load is None else load
    return network_chart(net, load, "bytes", **how).to_dict()


def rows(chart):
    (table,) = (each for each in chart["datasets"].values() if "load" in each[0])
    return table


def test_every_channel_is_drawn_once_with_its_load():
    table = rows(drawn(mesh(3, 4)))
    assert sorted(row["load"] for row in table) == list(range(mesh(3, 4).num_channels))
    assert len({row["channel"] for row in table}) == len(table)


@pytest.mark.parametrize("spec", ["line:5", "ring:6", "mesh:4x4", "torus:5x4", "mesh:1x4"])
@pytest.mark.parametrize("width", [210, 700])
def test_no_two_channels_lie_on_each_other(spec, width):
    table = rows(drawn(topology(spec), width=width))
    numbers = [[float(each) for each in re.findall(r"-?[0-9.]+", row["path"])] for row in table]
    lines = {(*path[:2], *path[-2:]) for path in numbers}
    backwards = {(x2, y2, x, y) for x, y, x2, y2 in lines}
    assert len(lines) == len(table)
    assert not lines & backwards


@pytest.mark.parametrize("spec", ["mesh:60x60", "hypercube:11", "jellyfish:1024x12x1/1"])
def test_what_is_too_large_for_lines_is_shown_by_part_and_in_falling_order(spec):
    net = topology(spec)
    many = net.num_network_channels
    assert many > MOST_DRAWN
    tables = drawn(net, np.arange(many) + 0.0)["datasets"].values()
    rows = [row for table in tables for row in table if "channels" in row]
    loads = [row["load"] for row in rows if "busiest first" in row["channels"]]
    assert loads == sorted(loads, reverse=True)
    assert len(loads) == 100
    assert np.isclose(loads[0], np.arange(many)[-len(np.array_split(range(many), 100)[0]) :].mean())
    if spec == "mesh:60x60":
        first = next(row for row in rows if row["channels"] == "x+, row y = 3")
        at = (net.source_end // 60 == 3) & (net.target_end == net.source_end + 1)
        assert first["load"] == np.flatnonzero(at).mean()


@pytest.mark.parametrize("options", [{}, {"random_mappings": 0}, {"offered": 0.1}])
def test_the_picture_of_an_analysis_holds_the_verdict(options):
    found = analyze("ring:16", "torus:4x4", **({"random_mappings": 4} | options))
    text = json.dumps(chart_of(found).to_dict(), ensure_ascii=False)
    assert found.to_dict()["verdict"]["sentence"] in text
    assert ("random mappings" in text) == bool(found.random)
    assert ("▼" in text) == (found.offered is not None)


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<svg"),
                                               (".html", b"<!DOCTYPE html>")])  # fmt: skip
def test_pictures_in_every_format(tmp_path, suffix, start):
    found = analyze("ring:9", "mesh:3x3", random_mappings=2)
    path = save_chart(chart_of(found), tmp_path / "new" / f"hot{suffix}")
    content = path.read_bytes()
    assert content.lstrip().startswith(start)
    if suffix == ".html":
        assert b"https://cdn" not in content  # the page needs nothing else


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    chart = chart_of(analyze("ring:4", "mesh:4", random_mappings=0))
    with pytest.raises(InputError, match="cannot be written"):
        save_chart(chart, tmp_path / "file" / "hot.svg")


def test_an_unknown_format_is_refused():
    with pytest.raises(InputError, match="gif"):
        save_chart(chart_of(analyze("ring:4", "mesh:4", random_mappings=0)), "hot.gif")
