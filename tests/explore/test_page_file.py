"""The page of an explorer: its script, what may stand in it, its size, and what is refused."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from xml.sax.saxutils import escape

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.explore.file import MODULES, check_page, render, script
from netloom.explore.network import View
from netloom.questions.answers import Verdict
from netloom.questions.recorded import record
from netloom.topology import topology
from tests.explore.decoded import Network, data_of

END = "</script><script>throw 1</script><!--<script>"
"""A name that would end a script, or begin a comment."""


def source(name):
    return files("netloom.explore.page").joinpath(f"{name}.js").read_text(encoding="utf-8")


def page_of(on, load=None):
    """Return the text of a page about a network that carries something."""
    network = topology(on)
    if load is None:
        load = np.random.default_rng(3).integers(0, 2**16, network.num_network_channels) / 7
    view = View("loads", Verdict("fine", "All is well.", on), "", network, "bytes", load)
    return render([replace(view, missing="Nobody knows.")])


def test_all_modules_are_in_the_script():
    found = {
        each.name for each in files("netloom.explore.page").iterdir() if each.name[-3:] == ".js"
    }
    assert found == {f"{name}.js" for name in MODULES}
    assert len(MODULES) == len(set(MODULES))


def test_modules_import_what_modules_before_them_export():
    exported = {}
    for name in MODULES:
        text = source(name)
        for names, module in re.findall(r'import \{([^}]*)\} from "\./(\w+)\.js";', text):
            assert module in exported, f"{name} imports from {module}, which is not before it"
            wanted = {each.strip() for each in names.split(",") if each.strip()}
            assert wanted <= exported[module], f"{name}: {wanted - exported[module]}"
        assert len(re.findall(r"^import ", text, re.M)) == len(
            re.findall(r"^import \{", text, re.M)
        )
        exported[name] = set(
            re.findall(r"^export (?:async )?(?:const|let|function|class) (\$|\w+)", text, re.M)
        )


def test_what_is_imported_is_used():
    for name in MODULES:
        text = source(name)
        for names in re.findall(r"import \{([^}]*)\} from", text):
            for each in filter(None, map(str.strip, names.split(","))):
                used = re.findall(rf"(?<![\w$.]){re.escape(each)}(?![\w$])", text)
                assert len(used) > 1, f"{name} imports {each} in vain"


def test_no_two_names_of_the_script_are_alike():
    word = r"^(?:export )?(?:async )?(?:const|let|function|class) (\$|\w+)"
    names = [each for name in MODULES for each in re.findall(word, source(name), re.M)]
    assert len(names) > 50
    assert sorted(each for each in set(names) if names.count(each) > 1) == []


def test_no_import_and_no_export_is_left():
    assert re.findall(r"^\s*(?:import|export)\b.*", script(), re.M) == []
    assert script().isascii() or "\u2028" not in script()


def test_nothing_is_loaded_from_elsewhere():
    text = page_of("leaf-spine:2x2x2")
    assert re.findall(r"<[^>]*\b(?:src|href|action|poster)=(?![\"']?#)[^>]*>", text) == []
    assert re.findall(r"<(?:link|img|iframe|object|embed|base)\b", text) == []
    assert re.findall(r"<meta http-equiv=\"[\w-]+", text) == [
        '<meta http-equiv="Content-Security-Policy'
    ]
    assert (
        re.findall(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts", text)
        == []
    )
    links = set(re.findall(r"https?://[^\s\"'`<>]+", text))
    assert links <= {"http://www.w3.org/2000/svg"}  # a name of SVG files, not an address


def test_names_cannot_end_the_script(tmp_path):
    file = tmp_path / "named.graphml"
    nodes = "".join(f'<node id="{escape(END, {chr(34): "&quot;"})}{each}"/>' for each in range(3))
    ends = [f'"{escape(END)}{each}"' for each in range(3)]
    edges = "".join(f"<edge source={ends[each]} target={ends[each - 1]}/>" for each in range(3))
    graph = f'<graph edgedefault="undirected">{nodes}{edges}</graph>'
    file.write_text(f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{graph}</graphml>')
    network = topology(f"graph:{file}")
    load = np.ones(network.num_network_channels)
    view = View(END, Verdict("fine", END, END), END, network, "bytes", load, missing=END)
    path = tmp_path / "page.html"
    path.write_text(render([view]), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert text.count("<script") == 2
    assert "<!--<" not in text
    given = data_of(path)
    assert given["views"][0]["name"] == END
    assert END in Network(given["network"]).host_names[0]


def test_a_page_of_100_000_channels_is_below_1_mb():
    text = page_of("torus:158x158")
    assert topology("torus:158x158").num_network_channels == 99_856
    assert len(text.encode()) < 1_000_000


def test_the_page_itself_is_small():
    assert len(page_of("leaf-spine:2x2x2").encode()) < 140_000


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (lambda: nl.predict_wiring((64, 256)), "answers of predict wiring"),
        (list, "no answers"),
        (lambda: 3, "a int"),
        (lambda: "answer.txt", "suffix '.txt'"),
        (lambda: [nl.analyze("ring:4", on, random_mappings=0) for on in ("ring:4", "mesh:2x2")],
         "answers about 2 networks"),
        (lambda: [nl.analyze("ring:4", "ring:4", random_mappings=0)] * 13,
         "13 answers about ring:4"),
    ],
)  # fmt: skip
def test_what_has_no_page_is_refused_in_a_line(tmp_path, results, said):
    path = tmp_path / "page.html"
    with pytest.raises(InputError) as refused:
        nl.explore(results(), path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not path.exists()


def test_one_of_several_networks_is_chosen_by_its_name(tmp_path):
    answers = [nl.analyze("ring:4", on, random_mappings=0) for on in ("ring:4", "mesh:2x2")]
    page = nl.explore(answers, tmp_path / "page.html", on="mesh:2x2")
    assert data_of(page)["network"]["name"] == "mesh:2x2"
    with pytest.raises(InputError, match="one of ring:4, mesh:2x2"):
        nl.explore(answers, tmp_path / "page.html", on="torus:3x3")


def test_several_answers_have_names_that_tell_them_apart(tmp_path):
    answers = [
        nl.analyze("ring:8", "mesh:2x4", routing=routing, random_mappings=0)
        for routing in ("xy", "yx", "xy")
    ]
    views = data_of(nl.explore(answers, tmp_path / "page.html"))["views"]
    names = [view["name"] for view in views]
    assert len(set(names)) == 3
    assert ["xy" in name for name in names] == [True, False, True]
    assert "yx" in names[1]


def test_parts_that_are_broken_differently_are_refused(tmp_path):
    answers = [
        nl.analyze("ring:8", "torus:3x3", random_mappings=0, failed_channels=gone)
        for gone in ("", "0-1")
    ]
    with pytest.raises(InputError, match="the same parts broken"):
        nl.explore(answers, tmp_path / "page.html")


@pytest.mark.parametrize("name", ["page.svg", "page", "page.HTML.gz"])
def test_a_page_is_html(tmp_path, name):
    with pytest.raises(InputError, match=r"a page, \.html"):
        check_page(tmp_path / name)


def test_a_routing_in_python_is_refused_in_a_line(tmp_path):
    def onward(_, source, target):
        return [(source + step) % 4 for step in range((target - source) % 4 + 1)]

    answer = nl.analyze("ring:4", "ring:4", routing=onward, random_mappings=0)
    with pytest.raises(InputError, match="onward") as refused:
        nl.explore(answer, tmp_path / "page.html")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"provenance": {"verb": "nothing", "configuration": {}}}']
)
def test_json_that_is_no_answer_is_refused(tmp_path, text):
    path = tmp_path / "answer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no answer as --json prints it|no JSON") as refused:
        nl.explore(path, tmp_path / "page.html")
    assert "\n" not in str(refused.value)


def test_the_json_of_an_answer_is_asked_again(tmp_path):
    answer = nl.analyze("ring:8", "mesh:2x4", random_mappings=0)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer.to_dict()), encoding="utf-8")
    pages = [
        nl.explore(each, tmp_path / f"{place}.html").read_text(encoding="utf-8")
        for place, each in enumerate((answer, record(answer), path, [path]))
    ]
    assert pages[1:] == pages[:1] * 3
