import json

import numpy as np
import pytest

from netloom import analyze
from netloom.errors import InputError
from netloom.questions.network_chart import MOST_DRAWN, network_chart
from netloom.report import chart_of, save_chart
from netloom.topology import hypercube, mesh, topology


def drawn(net, load=None, **how):
    load = np.arange(net.num_channels, dtype=float) if load is None else load
    return network_chart(net, load, "bytes", **how).to_dict()


def rows(chart):
    (table,) = chart["datasets"].values()
    return table


def test_every_channel_is_drawn_once_with_its_load():
    table = rows(drawn(mesh(3, 4)))
    assert sorted(row["load"] for row in table) == list(range(mesh(3, 4).num_channels))
    assert len({row["channel"] for row in table}) == len(table)


@pytest.mark.parametrize("spec", ["line:5", "ring:6", "mesh:4x4", "torus:5x4", "torus:3x3x3",
                                  "mesh:1x4"])  # fmt: skip
def test_no_two_channels_lie_on_each_other(spec):
    table = rows(drawn(topology(spec), width=210))  # as one of many maps, also in 3D
    lines = {tuple(round(row[k], 6) for k in ("x", "y", "x2", "y2")) for row in table}
    backwards = {(x2, y2, x, y) for x, y, x2, y2 in lines}
    assert len(lines) == len(table)
    assert not lines & backwards


@pytest.mark.parametrize("net", [hypercube(4), mesh(60, 60)], ids=lambda net: net.name)
def test_what_cannot_be_drawn_is_shown_as_a_falling_profile(net):
    assert net.num_channels > MOST_DRAWN or len(net.sides) > 3
    loads = [row["load"] for row in rows(drawn(net))]
    assert loads == sorted(loads, reverse=True)
    assert loads[0] == net.num_channels - 1
    assert len(loads) <= 1000


@pytest.mark.parametrize("options", [{}, {"random_mappings": 0}, {"offered": 0.1}])
def test_the_picture_of_an_analysis_holds_the_verdict(options):
    found = analyze("ring:16", "torus:4x4", **({"random_mappings": 4} | options))
    text = json.dumps(chart_of(found).to_dict(), ensure_ascii=False)
    assert found.to_dict()["verdict"]["sentence"] in text
    assert ("random mappings" in text) == bool(found.random)
    assert ("dashed" in text) == (found.offered is not None)


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
