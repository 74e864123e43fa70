"""The page of an explorer: its script, what may stand in it, its size, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.pages.explorer.file import check_page, render
from netloom.pages.explorer.network import View
from netloom.questions.answers import Verdict
from netloom.questions.recorded import record
from netloom.topology import topology
from tests.pages.explorer.decoded import data_of

"""A name that would end a script, or begin a comment."""


def page_of(on, load=None):
    """Return the text of a page about a network that carries something."""
    network = topology(on)
    if load is None:
        load = np.random.default_rng(3).integers(0, 2**16, network.num_network_channels) / 7
    view = View("loads", Verdict("fine", "All is well.", of=on), "", network, "bytes", load)
    return render([replace(view, missing="Nobody knows.")])


def test_a_page_of_100_000_channels_is_below_1_mb():
    text = page_of("torus:158x158")
    assert topology("torus:158x158").num_network_channels == 99_856
    assert len(text.encode()) < 1_000_000


def test_the_json_of_an_answer_is_asked_again(tmp_path):
    answer = nl.analyze("ring:8", "mesh:2x4", random_mappings=0)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer.to_dict()), encoding="utf-8")
    pages = [
        nl.explore(each, tmp_path / f"{place}.html").read_text(encoding="utf-8")
        for place, each in enumerate((answer, record(answer), path, [path]))
    ]
    assert pages[1:] == pages[:1] * 3


def analyzed(*asked, **more):
    return [nl.analyze("ring:8", on, random_mappings=0, **more) for on in asked]


def onward(_, source, target):
    return [(source + step) % 8 for step in range((target - source) % 8 + 1)]


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (lambda: nl.predict_wiring((64, 256)), "answers of predict wiring"),
        (list, "no answers"),
        (lambda: 3, "a int"),
        (lambda: "answer.txt", "suffix '.txt'"),
        (lambda: analyzed("ring:8", "mesh:2x4"), "answers about 2 networks"),
        (lambda: analyzed("ring:8") * 13, "13 answers about ring:8"),
        (lambda: analyzed("ring:9") + analyzed("ring:9", failed_channels="0-1"), "the same parts"),
        (lambda: analyzed("ring:8", routing=onward), "onward"),
    ],
)
def test_what_has_no_page_is_refused_in_a_line(tmp_path, results, said):
    path = tmp_path / "page.html"
    with pytest.raises(InputError) as refused:
        nl.explore(results(), path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not path.exists()
    with pytest.raises(InputError, match=r"a page, \.html"):
        check_page(tmp_path / "page.svg")


def test_one_of_several_networks_is_chosen_and_views_have_names_of_their_own(tmp_path):
    page = nl.explore(analyzed("ring:8", "mesh:2x4"), tmp_path / "page.html", on="mesh:2x4")
    assert data_of(page)["network"]["name"] == "mesh:2x4"
    answers = [*analyzed("mesh:2x4"), *analyzed("mesh:2x4", routing="yx"), *analyzed("mesh:2x4")]
    names = [view["name"] for view in data_of(nl.explore(answers, page))["views"]]
    assert len(set(names)) == 3
    assert ["yx" in name for name in names] == [False, True, False]
