import re
from math import copysign

import jsonschema
import polars as pl
import pytest

import netloom as nl
from netloom.base.figures import plain
from netloom.questions.recorded import record, results_schema
from netloom.questions.register import all_kinds
from tests.questions.said import unbacked
from tests.questions.small_answers import ANSWERS, there_and_back


@pytest.fixture(params=list(ANSWERS))
def asked(request):
    return request.param


def test_every_question_is_asked_here():
    assert {kind.verb for kind in all_kinds()} == {name.partition(",")[0] for name in ANSWERS}


def strange(data, at=""):
    """Where plain data holds something that is no type of Python's, or -0.0."""
    if type(data) is dict:
        assert all(type(key) is str for key in data), at
        return [each for key, value in data.items() for each in strange(value, f"{at}.{key}")]
    if type(data) is list:
        return [each for value in data for each in strange(value, f"{at}[]")]
    below_zero = type(data) is float and data == 0 and copysign(1, data) < 0
    plain = data is None or type(data) in (str, int, float, bool)
    return [] if plain and not below_zero else [(at, data)]


ON_SHARED_NODES = {"app": ["ring:4@0-3", "all-to-all:2@3-4"], "shared": True}

MORE = [
    lambda: nl.simulate("mesh:3x3", load=0.1, cycles=300, **ON_SHARED_NODES),
    lambda: nl.simulate_loop("iwarp:3x3", applied=0.3, loops=2, **ON_SHARED_NODES),
    lambda: nl.simulate_transactions("iwarp:3x3", app="ring:9", contexts=3, engine="worm"),
    lambda: nl.replay("bluegene-p:4x4x4", trace="examples/halo.csv", packet_flits=32),
    lambda: nl.simulate_broadcast(
        "mesh:3x3", rate=0.002, cycles=900, broadcast=1, tree="row-first", arrivals="poisson"
    ),
    lambda: nl.analyze("ring:8", "bluegene-p:2x2x2", random_mappings=2, run_seconds=1.0),
    lambda: nl.analyze("ring:16", "mesh:2x4", tasks_per_node=2, random_mappings=1),
    lambda: nl.compile_phases("ring:8", "mesh:2x4", words=4, execute=True),
    lambda: nl.find_mapping("ring:8", "mesh:2x4", rounds=1, simulate=True, load=0.1),
]


OF_RUNS = "compare_collectives", "compile_phases", "compile_collective", "find_mapping"
"""Questions whose lines say more of a run than a record keeps."""


def check_read_back(answer):
    """What is read from a store is the answer again: JSON, verdict and lines."""
    again = there_and_back(record(answer)).answer
    assert again.to_dict() == plain(answer.to_dict())
    assert again.inside == answer.inside
    if answer.provenance.verb not in OF_RUNS:
        assert again.lines() == answer.lines()


def test_an_answer_from_a_store_is_the_answer(asked):
    check_read_back(ANSWERS[asked]())


@pytest.mark.parametrize("make", MORE)
def test_whatever_is_asked_is_plain_narrow_and_comes_back(make):
    answer = make()
    check_read_back(answer)
    assert unbacked(answer.verdict.sentence, answer.to_dict()) == []
    assert all(len(line) <= 80 for line in answer.lines())
    assert not strange(answer.to_dict())
    for name, table in record(answer).tables.items():
        for column in table:
            if column.dtype.is_float():
                assert not ((column == 0) & (1 / column < 0)).any(), (name, column.name)


def test_a_record_comes_back_from_json_and_parquet_as_it_was(asked):
    answer = ANSWERS[asked]()
    assert not strange(answer.to_dict())
    kept = record(answer)
    assert not strange(kept.figures)
    assert kept.verb == asked.partition(",")[0]
    back = there_and_back(kept)
    assert back.figures == kept.figures
    assert back.configuration == kept.configuration
    assert tuple(back.tables) == tuple(kept.tables) == tuple(answer.tables())
    for name, table in kept.tables.items():
        assert back.tables[name].schema == table.schema, name
        assert back.tables[name].equals(table), name


def test_tables_have_scalars_and_null_for_what_is_not_known(asked):
    kept = record(ANSWERS[asked]())
    assert kept.tables["table"].width > 1
    for name, table in kept.tables.items():
        assert table.width, name
        for column in table:
            assert not column.dtype.is_nested(), (name, column.name)
            assert column.dtype not in (pl.Null, pl.Object), (name, column.name)
            if column.dtype.is_float():
                assert not column.is_nan().any(), (name, column.name)


@pytest.mark.parametrize(
    ("verb", "load", "points"),
    [("find_saturation", "offered", "runs"), ("simulate_loop", "applied", "points"),
     ("simulate_broadcast", "rate", "points"), ("predict_latency", "offered", "points")],
)  # fmt: skip
def test_channels_are_known_at_every_load(verb, load, points):
    kept = record(ANSWERS[verb]())
    channels, table = kept.tables["channels"], kept.tables["table"]
    assert len(kept.figures[points]) == table.height
    most = channels.group_by(load, maintain_order=True).agg(pl.col("utilisation").max())
    assert most[load].to_list() == table[load].to_list()
    assert most["utilisation"].to_list() == pytest.approx(table["utilisation_max"].to_list())
    count = kept.figures["channels"]
    assert channels.height == count * table.height


def test_path_contention_counts_every_path_once():
    found = ANSWERS["analyze"]()
    counted = found.path_contention()
    levels = found.paths().filter(pl.col("path_length") > 0)["path_contention"]
    own = counted.filter(mapping="own")
    assert dict(own.select("path_contention", "paths").rows()) == {
        level: levels.to_list().count(level) for level in set(levels.to_list())
    }
    assert counted.filter(mapping="random")["paths"].sum() == 3 * len(levels)


def test_one_row_says_what_transactions_and_traces_come_to():
    for name in ("simulate_transactions", "replay", "replay, not finished"):
        kept = record(ANSWERS[name]())
        row, figures = kept.tables["table"].row(0, named=True), kept.figures
        assert kept.tables["table"].height == 1
        flat = figures | {
            f"{group}_{part}": value
            for group, parts in figures.items() if isinstance(parts, dict)
            for part, value in parts.items()
        } | (figures.get("critical_path") or {})  # fmt: skip
        for field, value in row.items():
            assert flat.get(field) == pytest.approx(value), field


def test_words_of_a_phase_are_those_of_its_connections():
    found = nl.compile_phases("all-to-all:9", "torus:3x3", words=16)
    channels, table = found.channels(), found.table()
    by_phase = table.group_by("phase").agg(words=(pl.col("words") * pl.col("hops")).sum())
    crossed = channels.group_by("phase").agg(pl.col("words").sum())
    assert crossed.sort("phase")["words"].to_list() == by_phase.sort("phase")["words"].to_list()
    network, channel = found.plan.topology, channels["channel"].to_numpy()
    assert channels["source_node"].to_list() == network.source_end[channel].tolist()
    assert channels["target_node"].to_list() == network.target_end[channel].tolist()
    assert found.nodes()["words"].to_list() == [8 * 16.0] * 9


def test_a_mapping_has_the_channels_of_both_analyses():
    found = nl.find_mapping("binary-tree:15", "mesh:4x4", rounds=1)
    channels = found.channels()
    for when, analysis in (("before", found.before), ("after", found.after)):
        shown = channels.filter(mapping=when)
        assert shown.drop("mapping").equals(analysis.channels().select(shown.columns[1:]))
    local = nl.find_mapping("ring:4", "mesh:2x2", tasks_per_node=4, rounds=1)
    assert local.after is None
    assert local.channels().filter(mapping="after")["channel_load"].to_list() == [0] * 8


@pytest.fixture(scope="module")
def whole():
    found = results_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def test_answers_and_their_tables_fit_the_schema(whole, asked):
    kept = record(ANSWERS[asked]())
    words = kept.kind.words
    parts = {words: kept.figures}
    parts |= {f"{words}/$defs/{name}": table.to_dicts() for name, table in kept.tables.items()}
    for name, data in parts.items():
        of_part = {"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]}
        errors = jsonschema.Draft202012Validator(of_part).iter_errors(data)
        assert [f"{name}: {each.json_path} {each.message[:200]}" for each in errors] == []


OF_CURVES = [kind.verb for kind in all_kinds() if kind.curve]


@pytest.mark.parametrize("verb", OF_CURVES)
def test_a_curve_is_drawn_from_columns_that_the_answer_has(verb):
    kept = record(ANSWERS[verb]())
    table, curve = kept.tables["table"], kept.kind.curve
    assert [name for name in curve.columns if name not in table.columns] == []
    assert curve.idle in table.columns or curve.idle in kept.figures
    assert [name for name in curve.besides if name not in kept.kind.question.model_fields] == []


def whole_numbers(lines):
    return {each for each in " ".join(lines).split() if re.fullmatch(r"[\d,.]*\d", each)}


def test_numbers_of_tables_are_whole_at_widths_from_80_on(asked):
    answer = ANSWERS[asked]()
    for width in (80, 100, 120, 200):
        lines = answer.lines(width)
        assert all(len(line) <= width for line in lines)
        assert whole_numbers(lines) == whole_numbers(answer.lines(1000))
