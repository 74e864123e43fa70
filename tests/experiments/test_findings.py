import json

import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.base.provenance import code_version
from netloom.experiments.findings import COSTS, all_results, load_results, results
from netloom.experiments.runner import run
from tests.experiments.small import write


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = write(tmp_path_factory.mktemp("experiment"))
    run(path, workers=2)
    return path


def test_one_row_an_observation_and_what_varies_comes_first(file):
    table = results(file)
    assert table.columns[:4] == ["section", "on", "load", "seed"]
    assert table.filter(section="analyze")["on"].to_list() == ["torus:4x4", "mesh:4x4"]
    assert not set(COSTS) & set(table.columns)
    simulated = table.filter(section="simulate")
    for curve in simulated.partition_by("on"):
        assert curve["load"].is_sorted()
        assert curve["offered"].to_list() == curve["load"].to_list()
        assert curve.filter(load=0.3)["stable"].all()
        assert not curve.filter(load=curve["load"].max())["stable"].all()


def test_the_answers_are_those_of_the_verbs(file):
    found = load_results(file)
    for each in found.answered[::5]:
        fields = dict(each.point.fields)
        if fields.get("app") == "ring.mtx":
            fields["app"] = str(file.parent / "ring.mtx")
        again = getattr(nl, each.point.verb)(**fields).to_dict()
        stored = dict(each.record.figures)
        same = set(again) - {"provenance", "cpu_seconds", "app"}
        assert {name: stored[name] for name in same} == json.loads(
            json.dumps({name: again[name] for name in same})
        )
        assert str(file.parent) not in json.dumps(stored)


def test_provenance_is_there_when_it_is_asked_for(file):
    table = results(file, provenance=True)
    assert table["point_version"].unique().to_list() == [code_version()]
    assert (table["point_wall_seconds"] > 0).all()
    assert table["point_key"].n_unique() == len(load_results(file).answered)
    assert table.drop(pl.selectors.starts_with("point_")).equals(results(file))


def test_several_experiments_in_a_store(file, tmp_path):
    store = tmp_path / "both.sqlite"
    first = write(tmp_path, "[predict.wiring]\nnodes = [64, 256]", "first.toml")
    second = write(tmp_path, "title = 'b'\n[predict.wiring]\nnodes = 64", "second.toml")
    run(first, store=store, workers=1)
    run(second, store=store, workers=1)
    assert [each.name for each in all_results(store)] == ["first.toml", "second.toml"]
    assert load_results(store, "second.toml").title == "b"
    with pytest.raises(InputError, match="2 experiments"):
        load_results(store)
    with pytest.raises(InputError, match=r"first\.toml, second\.toml"):
        load_results(store, "third.toml")


def test_what_cannot_be_asked_is_told_and_the_rest_answered(tmp_path):
    text = "[analyze]\non = 'mesh:2x2'\napp = ['ring.mtx', 'ring:5', 'ring:3']"
    found = run(write(tmp_path, text), workers=1)
    assert len(found.answered) == 2
    (refused,) = found.refused
    assert refused.point.varied == {"app": "ring:5"}
    assert "5 tasks" in refused.reason
    assert "1 that cannot be asked" in found.sentence
    assert found.to_dict()["verdict"]["mark"] == found.verdict.mark == "act"
    assert found.to_dict()["verdict"]["sentence"] == found.sentence
