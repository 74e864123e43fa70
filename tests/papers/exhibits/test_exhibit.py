"""Pictures of tables and figures of papers."""

import polars as pl

from netloom_papers.exhibits import COMPUTED, PRINTED, Plot, exhibit_chart


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


def footer(spec):
    """The small words below the picture."""
    return next(each["mark"]["text"] for each in layers(spec) if "text" in each["mark"])


def texts(spec):
    """Rows of words at places in pixels, by what they say."""
    return {row["said"]: row for row in values_of(spec, "said")}


def values_of(spec, field):
    """Rows of data that have a field, in any place where data can be."""
    sets = [*spec.get("datasets", {}).values()]
    sets += [each["data"]["values"] for each in layers(spec) if "values" in each.get("data", {})]
    return [row for some in sets for row in some if field in row]


def of(spec, whose, kind):
    """The layer of some points or lines."""
    return next(
        each
        for each in layers(spec)
        if each["mark"]["type"] == kind and f"'{whose}'" in str(each.get("transform"))
    )


def test_printed_and_computed_are_told_apart_by_dash_and_shape():
    spec = drawn(plot(), words=["words"], remarks=["remark"])
    assert of(spec, COMPUTED, "line")["mark"]["strokeDash"] == [1, 0]
    assert of(spec, PRINTED, "line")["mark"]["strokeDash"] == [5, 4]
    shapes = [of(spec, whose, "point")["encoding"]["shape"] for whose in (COMPUTED, PRINTED)]
    assert shapes[0] != shapes[1]
    color = of(spec, COMPUTED, "line")["encoding"]["color"]
    assert (color["scale"]["domain"], color["legend"]) == (["a", "b"], None)
    assert footer(spec) == ["words", "Solid: computed. Hollow or dashed: printed.", "remark"]
    assert sorted(texts(spec)) == ["a", "b"]  # at the ends of their lines


def test_logarithmic_axes_leave_out_what_is_not_above_0():
    points = table("a", (0, 1, 8, 64), (COMPUTED,)).with_columns(
        y=pl.Series([1.0, 0.0, float("nan"), 5.0])
    )
    spec = drawn(plot(points, log_x=True, log_y=True))
    line = layers(spec)[0]
    assert line["encoding"]["x"]["scale"]["type"] == line["encoding"]["y"]["scale"]["type"] == "log"
    assert line["encoding"]["x"]["axis"]["values"] == [64]
    assert [(row["x"], row["y"]) for row in values_of(spec, "series")] == [(64, 5.0)]
