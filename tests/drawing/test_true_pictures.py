"""Every number that is drawn equals its label in all kinds of pictures, read back from SVG."""

import json
import re

import numpy as np
import pytest
import vl_convert

import netloom as nl
from netloom.drawing.frame import DELAYED, framed, narrow_page
from netloom.drawing.networks.chart import network_chart
from netloom.drawing.save import save_chart
from netloom.pages import chart_of
from netloom.pages.figure import make_figure
from netloom.pages.page import page_of
from netloom.questions.answers import Answer
from netloom.questions.recorded import record
from netloom.questions.register import all_kinds
from netloom.topology import topology
from tests.drawing.read_back import scopes, untrue
from tests.drawing.svg import read
from tests.gallery import NARROW, entries, themed, whole
from tests.questions.small_answers import ANSWERS

LAMMPS = "examples/lammps-64.mtx"

HARD = {
    "a map of a hypercube": lambda: nl.find_mapping("binary-tree:16", "hypercube:4", rounds=1),
    "a map on switches": lambda: nl.find_mapping(LAMMPS, "leaf-spine:8x4x8", rounds=1),
    "limits beyond what a node sends": lambda: nl.analyze(LAMMPS, "torus:4x4x4", random_mappings=3),
    "a limit beyond 100 %": lambda: nl.analyze(LAMMPS, "hypercube:6", random_mappings=3),
    "hosts are busiest": lambda: nl.analyze(LAMMPS, "fat-tree:4x3", random_mappings=3),
    "half-way traffic": lambda: nl.analyze(LAMMPS, "torus:8x8", offered=0.7, random_mappings=3),
    "groups": lambda: nl.analyze("all-to-all", "dragonfly:4x2x2", offered=0.3, random_mappings=1),
}
"""Answers whose pictures were not so, and such as need axes, colors and signs to their ends."""


def drawn(found):
    """Return the SVGs of an answer: the whole picture, its parts on a page, and in a narrow one."""
    yield "whole", whole(found).svg
    for name, part in found.answer.parts().items():
        figure = make_figure(part)
        yield name, themed(figure.spec, figure.title, "light")
    with narrow_page():
        for name, part in found.answer.parts().items():
            figure = make_figure(part)
            yield f"{name}, narrow", themed(figure.spec, figure.title, "light", NARROW)


@pytest.mark.parametrize("name", ANSWERS)
def test_numbers_are_drawn_as_they_are_labelled(name):
    found = record(ANSWERS[name]())
    assert {part: wrong for part, svg in drawn(found) if (wrong := untrue(svg))} == {}


@pytest.mark.parametrize("name", HARD)
def test_what_goes_to_the_ends_of_scales_is_as_it_is_labelled(name):
    found = record(HARD[name]())
    assert {part: wrong for part, svg in drawn(found) if (wrong := untrue(svg))} == {}


def test_changes_of_a_large_network_keep_their_signs_and_loads_their_scale():
    net = topology("torus:8x8x8x8")
    before, after = np.random.default_rng(3).integers(0, 9, (2, net.num_network_channels)) * 1e6
    after = 0.4 * after
    alone = [
        network_chart(net, each, "bytes on the channel", scale=(4e6, 8e6), width=400)
        for each in (before, after)
    ]
    change = network_chart(net, after, "bytes on the channel", before=before, width=400)
    svg = vl_convert.vegalite_to_svg(framed([*alone, change], "A large network").to_dict())
    assert untrue(svg) == []
    told = [mark.said for scope in scopes(svg) for mark in scope.marks]
    told = [said for said in told if " % of channels" in said.get("channels", "")]
    bars = [said["change, bytes"] for said in told if "change, bytes" in said]
    signs = {each.startswith(("−", "-")) for each in bars}
    assert signs == {True, False}


def test_a_network_of_many_channels_is_written_as_a_page_too(tmp_path):
    net = topology("dragonfly:4x8x4")
    assert net.num_channels > 5000  # rows at which Altair refuses
    chart = network_chart(net, np.arange(net.num_channels, dtype=float), "bytes on the channel")
    text = save_chart(chart, tmp_path / "groups.html").read_text()
    assert "h0 \\u2192 g0r0" in text or "h0 → g0r0" in text


def test_so_are_curves_of_pages_and_exhibits():
    for name, shown in entries(["curves of a page", "exhibit of a paper"]):
        assert {
            f"{name}, {each.variant}": untrue(each.svg) for each in shown if untrue(each.svg)
        } == {}


def test_so_are_figures_side_by_side_whose_axes_are_alike():
    """Words above axes stood where they would on the axis of a picture alone."""
    asked = [nl.simulate(on, load=0.1, cycles=600) for on in ("torus:4x4", "mesh:16x2")]
    (section,) = page_of([record(each) for each in asked]).sections
    for row in section.rows:
        drawn = [themed(each.spec, each.title, "light") for each in row]
        assert [untrue(svg) for svg in drawn] == [[], []]
        one, other = ([axis for scope in scopes(svg) for axis in scope.axes] for svg in drawn)
        for mine, theirs in zip(one, other, strict=True):
            assert [label for label, *_ in mine.ticks] == [label for label, *_ in theirs.ticks]
        for svg, axes in zip(drawn, (one, other), strict=True):
            for text in read(svg)[1]:
                if text.said.startswith(("p50 ", "p99 ")):
                    at = axes[0].at(float(text.said[4:]))
                    assert text.box[0] - 4 < at < text.box[2] + 4


def test_every_kind_with_a_picture_is_among_them():
    pictured = {kind.verb for kind in all_kinds() if kind.answer.footer is not Answer.footer}
    assert pictured <= {name.partition(",")[0] for name in ANSWERS}


def test_a_label_a_place_a_color_or_a_side_of_another_number_is_found():
    analysis = whole(record(ANSWERS["analyze"]())).svg
    cube = whole(record(HARD["a map of a hypercube"]())).svg
    assert untrue(analysis) == untrue(cube) == []
    said = re.search(r"no node delayed to ([\d.]+)", analysis)[1]
    assert untrue(analysis.replace(f"delayed to {said}", "delayed to 71.3"))
    place = re.search(
        r'aria-label="offered by[^"]*whose: this mapping[^>]*translate\(([\d.]+),', analysis
    )[1]
    assert untrue(analysis.replace(f"translate({place},", f"translate({float(place) + 9},"))
    hot = re.search(r'aria-label="heat: 1; [^>]*stroke="(rgb[^"]*)"', cube)
    assert untrue(cube.replace(hot[0], hot[0].replace(hot[1], "rgb(195, 201, 209)")))
    less = re.search(r"change, paths: −(\d+)", cube)
    assert untrue(cube.replace(less[0], f"change, paths: {less[1]}"))


@pytest.mark.parametrize(("offered", "mark"), [(0.1, "fine"), (0.5, "limited"), (0.9, "act")])
def test_red_is_what_delays(offered, mark):
    found = nl.analyze(LAMMPS, "mesh:8x8", offered=offered, random_mappings=0)
    assert found.to_dict()["verdict"]["mark"] == mark
    rows = [row for table in chart_of(found).to_dict()["datasets"].values() for row in table]
    heats = [row["heat"] for row in rows if "heat" in row]
    assert (max(heats) > DELAYED) == (mark != "fine")
    assert max(heats) > 0


CLUSTER = "graph:examples/my-cluster.graphml"
HOSTED = "fat-tree:4x3", CLUSTER, "dragonfly:2x4x8", "hyperx:4x4/4", "mesh:4x4/4"


@pytest.mark.parametrize("on", HOSTED)
def test_hosts_channels_are_drawn_and_the_first_is_the_one_of_the_sentence(on):
    found = nl.analyze(LAMMPS, on, random_mappings=0)
    channel = found.to_dict()["busiest_channel"]
    (scope,) = (each for each in scopes(whole(record(found)).svg) if each.legends)
    channels = [mark.said["channel"] for mark in scope.marks if "heat" in mark.said]
    assert len(set(channels)) == found.network.num_channels
    named = [said for said, weight in scope.words if weight == "600" and "→" in said]
    assert named[0] == channel["name"].replace(" -> ", " → ")


def test_a_picture_s_title_names_its_case():
    said = " ".join(chart_of(ANSWERS["analyze"]()).to_dict()["title"]["text"])
    assert said.startswith("binary-tree:15 on mesh:4x4, rank order: No contention expected")


def test_a_node_of_a_timeline_is_numbered_beside_the_middle_of_its_bars():
    chart = next(
        each
        for each in scopes(whole(record(ANSWERS["replay"]())).svg)
        if any(axis.title == "node" for axis in each.axes)
    )
    axis = next(each for each in chart.axes if each.title == "node")
    bars = [mark for mark in chart.marks if "node" in mark.said and mark.shape.endswith("Z")]
    assert bars
    for bar in bars:
        down = [y for _, y in bar.points]
        middle = (min(down) + max(down)) / 2
        assert middle == pytest.approx(axis.at(float(bar.said["node"])), abs=0.6)


def test_channels_are_colored_by_what_fills_them_where_delays_are_unknown():
    found = record(nl.analyze(LAMMPS, CLUSTER, random_mappings=0))
    assert found.figures["saturation"]["worst_node"] is None
    drawn = json.dumps(chart_of(found).to_dict(), ensure_ascii=False).replace("\u00a0", " ")
    assert "full 7.19 M bytes" in drawn
    assert "relative to the mean" not in drawn
