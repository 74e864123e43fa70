"""The pictures of the study of connections in phases."""

import polars as pl

from netloom.report.conset import conset_figure

POINTS = pl.DataFrame(
    {
        "series": ["ConSet", "ConSet", "message passing"],
        "what": ["measured", "simulated", "measured"],
        "words": [32, 32, 256],
        "bandwidth": [1.0, 2.0, 3.0],
    }
)


def drawn(title, table):
    return conset_figure(title, table).to_dict()["hconcat"]


def test_bandwidth_has_a_line_a_series_and_source():
    (chart,) = drawn("Figure 2", POINTS)
    lines, marks = chart["layer"]
    assert lines["encoding"]["strokeDash"]["scale"]["domain"] == ["measured", "simulated"]
    assert marks["encoding"]["color"]["scale"]["domain"] == ["ConSet", "message passing"]
    assert lines["encoding"]["x"]["axis"]["values"] == [32, 256]


def test_meshes_have_marks_and_no_lines():
    table = POINTS.drop("words").with_columns(mesh=pl.Series(["b", "a", "a"]))
    (chart,) = drawn("Figure 6", table)
    (marks,) = chart["layer"]
    assert marks["encoding"]["x"]["sort"] is None  # as listed


def test_words_of_pairs_are_a_histogram_a_mesh(tmp_path):
    table = pl.DataFrame({"mesh": ["b", "b", "a"], "words": [1, 2, 3]})
    charts = drawn("Figure 5", table)
    assert [chart["title"] for chart in charts] == ["b", "a"]
    assert len(charts) == 2
    path = tmp_path / "figure.svg"
    conset_figure("Figure 5", table).save(str(path))
    assert path.read_text().startswith("<svg")
