"""Pictures of tables and figures of papers."""

import polars as pl
import pytest

from netloom_papers.exhibits import (
    COMPUTED,
    MODELLED,
    PRINTED,
    Cell,
    Grid,
    Plot,
    exhibit_chart,
    grid_chart,
)


def table(series="ab", places=(1, 2, 4), whose=(COMPUTED, PRINTED)):
    return pl.DataFrame(
        [
            {"series": name, "x": x, "y": 10.0 * at + number, "whose": each}
            for at, name in enumerate(series, 1)
            for number, x in enumerate(places)
            for each in whose
        ]
    )


def plot(points=None, **changes):
    return Plot("title", "x, hops", "y, cycles", table() if points is None else points, **changes)


def drawn(*panels, words=(), remarks=()):
    return exhibit_chart("the title", panels, words, remarks).to_dict()


def layers(spec):
    found = []

    def look(part):
        if isinstance(part, dict):
            if "mark" in part:
                found.append(part)
            for each in part.values():
                look(each)
        elif isinstance(part, list):
            for each in part:
                look(each)

    look(spec)
    return found


def marks(spec):
    kinds = [each["mark"]["type"] for each in layers(spec)]
    return [kind for kind in kinds if kind != "text"]


def footer(spec):
    """The small words below the picture."""
    return next(each["mark"]["text"] for each in layers(spec) if "text" in each["mark"])


def named(spec):
    """The names at the ends of lines."""
    return [row["said"] for row in values_of(spec, "said")]


def values_of(spec, field):
    """Rows of data that have a field, in any place where data can be."""
    sets = [*spec.get("datasets", {}).values()]
    sets += [each["data"]["values"] for each in layers(spec) if "values" in each.get("data", {})]
    return [row for some in sets for row in some if field in row]


def rows_of(spec):
    """Panels of each row."""
    whole = panels_of(spec)
    return [len(row.get("hconcat", [row])) for row in whole["vconcat"]]


def panels_of(spec):
    (whole,) = spec["vconcat"][0]["hconcat"]
    return whole


def test_printed_and_computed_are_told_apart_by_dash_and_shape():
    spec = drawn(plot(), words=["words"], remarks=["remark"])
    line, computed, printed, *_ = layers(spec)
    assert line["mark"]["type"] == "line"
    dashes = line["encoding"]["strokeDash"]["scale"]
    assert dict(zip(dashes["domain"], dashes["range"], strict=True))[COMPUTED] == [1, 0]
    assert COMPUTED in computed["transform"][0]["filter"]
    assert PRINTED in printed["transform"][0]["filter"]
    shapes = printed["encoding"]["shape"]["scale"]
    assert len(set(shapes["range"])) == 2
    assert line["encoding"]["color"]["scale"]["domain"] == ["a", "b"]
    assert footer(spec)[0] == "words"
    assert "Hollow or dashed: printed." in footer(spec)[1]
    assert sorted(named(spec)) == ["a", "b"]
    assert line["encoding"]["color"]["legend"] is None
    assert "remark" in texts(spec)


def test_what_is_computed_alone_needs_no_key():
    spec = drawn(plot(table(whose=(COMPUTED,))))
    assert not any("text" in each["mark"] for each in layers(spec))
    assert layers(spec)[0]["encoding"]["strokeDash"]["legend"] is None
    both = drawn(plot(table(whose=(COMPUTED, MODELLED))))
    assert footer(both) == ["Solid: computed. Dotted: by the model."]


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("lines", ["line", "point", "point"]),
        ("steps", ["line", "point", "point"]),
        ("points", ["point", "point"]),
        ("bars", ["bar", "bar"]),
    ],
)
def test_forms(form, wanted):
    spec = drawn(plot(form=form))
    assert marks(spec) == wanted
    assert (layers(spec)[0]["mark"].get("interpolate") == "step-after") == (form == "steps")


def test_bars_of_a_series_are_beside_each_other():
    offset = layers(drawn(plot(form="bars")))[0]["encoding"]["xOffset"]
    assert offset["sort"] == ["a, printed", "a, computed", "b, printed", "b, computed"]
    one = layers(drawn(plot(table("a", whose=(COMPUTED,)), form="bars")))[0]["encoding"]
    assert "xOffset" not in one


def test_intervals_are_bands_of_lines_and_rules_of_points():
    points = table().with_columns(low=pl.col("y") - 1, high=pl.col("y") + 1)
    assert marks(drawn(plot(points))) == ["area", "line", "point", "point"]
    assert marks(drawn(plot(points, form="points"))) == ["rule", "point", "point"]


def test_logarithmic_axes_leave_out_what_is_not_above_0():
    points = table("a", (0, 1, 8, 64), (COMPUTED,)).with_columns(
        y=pl.Series([1.0, 0.0, float("nan"), 5.0])
    )
    spec = drawn(plot(points, log_x=True, log_y=True))
    line = layers(spec)[0]
    assert line["encoding"]["x"]["scale"]["type"] == line["encoding"]["y"]["scale"]["type"] == "log"
    assert line["encoding"]["x"]["axis"]["values"] == [64]
    assert [(row["x"], row["y"]) for row in values_of(spec, "series")] == [(64, 5.0)]


def test_places_that_are_words_keep_their_order():
    points = table("a", ("PEs", "10", "2", "MMs"), (COMPUTED,))
    spec = drawn(plot(points))
    line = layers(spec)[0]["encoding"]
    assert line["x"]["type"] == "ordinal"
    assert line["x"]["sort"] is None
    assert line["order"]["field"] == "place"


def test_panels_are_in_rows():
    assert rows_of(drawn(plot())) == [1]
    assert rows_of(drawn(*[plot()] * 4)) == [2, 2]
    assert rows_of(drawn(*[plot()] * 8)) == [3, 3, 2]


def test_many_series_of_unlike_panels_have_legends_of_their_own():
    few = drawn(plot(table("ab")), plot(table("cd")))
    assert domains_of(few) == {("a", "b", "c", "d")}
    many = drawn(plot(table("abcdef")), plot(table("ghijkl")))
    assert domains_of(many) == {tuple("abcdef"), tuple("ghijkl")}
    assert panels_of(many)["resolve"]["scale"]["color"] == "independent"


def domains_of(spec):
    colours = [each["encoding"].get("color", {}) for each in layers(spec) if "encoding" in each]
    return {tuple(each["scale"]["domain"]) for each in colours if each.get("scale")}


GRID = Grid(
    "A table",
    ("mesh", "clocks of a phase", "only printed", "only computed"),
    (
        ("m11k", (Cell(0.461, 0.4961, within=False), Cell(3, None), Cell(None, 7.25))),
        ("c10k", (Cell(0.5, 0.5, within=True), None, Cell(None, 8))),
    ),
)


def texts(spec):
    return {row["text"]: row for row in values_of(spec, "text")}


def test_a_table_has_both_numbers_and_marks_what_is_outside():
    spec = drawn(GRID)
    found = texts(spec)
    assert found["0.461"]["kind"] == "printed"
    assert found["0.496"]["kind"] == "outside"
    assert found["0.5"]["kind"] in ("printed", "computed")
    assert found["0.461"]["y"] == found["0.496"]["y"] < found["8"]["y"]
    assert found["0.461"]["x"] < found["0.496"]["x"] < found["3"]["x"] < found["7.25"]["x"]
    assert "–" not in found  # columns without any printed, or any computed, number
    assert marks(spec).count("rect") == 1
    (spot,) = values_of(spec, "x2")
    assert spot["x"] < found["0.461"]["x"] < found["0.496"]["x"] < spot["x2"]
    assert "red where it is outside" in " ".join(footer(spec))
    chart = grid_chart(GRID)
    for row in found.values():
        assert 0 <= row["x"] <= chart.width
        assert 0 <= row["y"] <= chart.height


def test_a_table_of_computed_numbers_alone_says_nothing_of_printed_ones():
    computed = Grid("off", ("torus", "30 %"), (("8 × 8", (Cell(None, 3.6),)),))
    assert "printed" not in str(drawn(computed))


def test_it_is_drawn(tmp_path):
    path = tmp_path / "all.svg"
    points = table().with_columns(low=pl.col("y") - 1, high=pl.col("y") + 1)
    exhibit_chart("t", [plot(points), plot(form="bars"), GRID], ["w"], ["r"]).save(str(path))
    svg = path.read_text()
    for words in ("m11k", "0.496", "x, hops", "computed", "printed"):
        assert words in svg
