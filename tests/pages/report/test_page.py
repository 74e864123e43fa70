"""What a page says and holds, before a browser shows it."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from shutil import copy

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

import netloom as nl
from netloom.base.errors import InputError
from netloom.base.words import held_together, number, percent
from netloom.experiments import load_results, run
from netloom.experiments.findings import Refused
from netloom.pages.curve_verdicts import best_of
from netloom.pages.curves import deviations, find_curves
from netloom.pages.page import figures_on, page_of
from netloom.pages.sections import figures_by_part, varied_in
from netloom.pages.write import render, report
from netloom.questions.analyze import Analysis
from netloom.questions.recorded import record
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES, SIMULATED
from tests.pages.report.page_samples import small_results
from tests.questions.small_answers import ANSWERS, there_and_back

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Tree(HTMLParser):
    """The elements of a page in order, and whether their tags match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", **dict(attributes)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag, f"</{tag}>"

    def handle_data(self, data):
        for each in self.open:
            each["text"] += data

    def all(self, tag, **attributes):
        return [
            each
            for each in self.elements
            if each["tag"] == tag and attributes.items() <= each.items()
        ]


@pytest.fixture(scope="module")
def text(page):
    return render(page)


@pytest.fixture(scope="module")
def tree(text):
    return Tree(text)


def simulated(on, load):
    """The runs of one network and load, straight from the answers."""
    return [
        each.record.tables["table"].row(0, named=True)
        for each in small_results().answered
        if each.point.verb == "simulate"
        and (each.point.fields["on"], each.point.fields["load"]) == (on, load)
    ]


def test_the_page_answers_first_and_ends_in_the_decision_and_its_cost(tree, page, text):
    (title,) = tree.all("h1")
    assert title["text"] == "Torus or mesh?"
    (answer,) = tree.all("p", **{"class": "answer"})
    assert answer["text"] == held_together(page.sections[0].verdicts[0].marked)
    places = [
        text.index(f'id="{each}"')
        for each in ("answer", "sure", "part-1", "part-2", "numbers", "method", "decision")
    ]
    assert places == sorted(places)
    last = [each["text"] for each in tree.elements if each["tag"] in ("h2", "h3")][-3:]
    assert last == ["The decision", "What it cost", "Trust it so far"]
    (decision,) = tree.all("section", id="decision")
    assert held_together(page.answer.verdict.sentence) in decision["text"]
    assert re.search(r"\d+ answers in [\d.]+ s of processor time", page.cost)
    assert all(held_together(each) in decision["text"] for each in (page.cost, *page.answer.trust))
    facts = dict(page.facts)
    assert facts["Points"] == f"{len(small_results().answered)} points answered"
    assert facts["Seeds"] == "1, 2 and 3"
    assert [each["text"] for each in tree.all("pre")] == [small_results().text]
    commands = [each["text"] for each in tree.all("code")]
    assert "netloom report small.toml -o report.html" in commands


def test_the_numbers_of_the_tiles_are_those_of_the_answers(page):
    means = [
        np.mean([row["packet_latency_mean"] for row in simulated(on, 0.5)])
        for on in ("torus:4x4", "mesh:4x4")
    ]
    last = page.answer.tiles[-1]
    assert last.value == f"−{percent(float(1 - means[0] / means[1]))}"
    assert "latency at 0.5" in last.label


def test_all_numbers_can_be_read_and_taken_along(page, tree):
    records = [each.record for each in small_results().answered]
    rows = sum(
        len(each.tables[name]) for each in records for name in {"table", each.answer.KEY_TABLE}
    )
    found = {each.file: pl.read_csv(io.StringIO(each.csv)) for each in page.numbers}
    assert sum(map(len, found.values())) == rows
    table = found["simulate.csv"]
    asked = [each for each in small_results().answered if each.point.verb == "simulate"]
    assert table["on"].to_list() == [each.point.fields["on"] for each in asked]
    exact = [each.record.tables["table"]["packet_latency_mean"][0] for each in asked]
    assert table["packet_latency_mean"].to_list() == exact
    (numbers,) = tree.all("section", id="numbers")
    for each in page.numbers:
        assert f"Download {each.file}" in numbers["text"]
        assert not each.cut


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(tree, text):
    names = [each["id"] for each in tree.elements if "id" in each]
    assert len(names) == len(set(names))
    for each in tree.elements:
        assert each.get("aria-labelledby", names[0]) in names
        assert "src" not in each
        assert each["tag"] not in ("link", "iframe", "object", "img", "base")
    assert all(each["href"][:1] == "#" and each["href"][1:] in names for each in tree.all("a"))
    style = tree.all("style")[0]["text"]
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = tree.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none';")
    assert text.count("window.vegaEmbed=") == 1


def test_words_and_tables_of_curves_are_the_answers_numbers(page):
    latency = page.sections[0].rows[0][0]
    for on, last in (("torus:4x4", 0.75), ("mesh:4x4", 0.5)):
        means = [row["packet_latency_mean"] for row in simulated(on, last)]
        assert len(means) == 3
        half = student.ppf(0.975, 2) * np.std(means, ddof=1) / np.sqrt(3)
        rows = [row for row in latency.data.rows if row[:3] == (on, "simulated", number(last))]
        low, high = np.mean(means) - half, np.mean(means) + half
        assert rows == [
            (
                on,
                "simulated",
                number(last),
                number(float(np.mean(means))),
                number(low),
                number(high),
                "3",
            )
        ]
        assert f"to {number(float(np.mean(means)))} at {number(last)}" in latency.alternative
    assert "saturates from 0.75 to 0.9" in latency.alternative
    assert not any(row["stable"] for row in simulated("torus:4x4", 0.9))


def test_models_stand_beside_what_they_predict_and_say_how_far_off_they_are():
    records = [each.record for each in small_results().answered]
    group = find_curves(records)[0]
    assert group.of == (0, 1)
    for place, curve in enumerate(group.simulated):
        model = group.model_of(place)
        assert model.about["topology"] == curve.about["topology"] == curve.label
        for load, off in deviations(curve, model):
            below = model.table.filter(model.table["load"] <= load)["latency"].max()
            above = model.table.filter(model.table["load"] >= load)["latency"].min()
            latency, _ = curve.at(load)
            assert below / latency - 1 - 1e-9 <= off <= above / latency - 1 + 1e-9
    other = record(nl.simulate("torus:4x4", load=[0.1, 0.2], cycles=300, vcs=2))
    model = next(each for each in records if each.verb == "predict_latency")
    (lone,) = find_curves([other, model])
    assert lone.of == (None,)
    twice = find_curves([*records, *records])
    for curve, same in zip(group.simulated, twice[0].simulated, strict=True):
        assert same.table.equals(curve.table)  # the same run again says nothing new


def test_the_model_of_broadcasts_is_compared_with_the_cycles_at_the_ends():
    load = {"rate": [0.002, 0.004, 0.006], "broadcast": 0.0}
    model = nl.predict_torus_broadcast(4, message_flits=16, vcs=3, injection_channels=1, **load)
    asked = {"packet_flits": 16, "cycles": 4000, "vcs": 3}
    run = nl.simulate_broadcast("torus:4x4", **asked, **SIMULATED, **load)
    (group,) = find_curves([record(run), record(model)])
    assert group.of == (0,)
    added = group.models[0].table["latency"] - model.table()["latency"]
    assert added.to_list() == pytest.approx([ENDS_CYCLES] * 3)
    assert max(abs(off) for _, off in deviations(group.simulated[0], group.models[0])) < 0.1


def test_the_same_sources_give_the_same_bytes(tmp_path):
    answer = ANSWERS["simulate, loads"]()
    pages = [report([answer], tmp_path / name) for name in ("a.html", "b.html")]
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_makes_a_page(name):
    page = page_of([there_and_back(record(ANSWERS[name]()))])
    figures = list(figures_on(page.sections))
    assert page.title
    assert figures
    for figure in figures:
        assert figure.title
        assert re.search(r"\d", figure.alternative)


@pytest.mark.parametrize(
    ("results", "path", "said"),
    [
        ("answer.json", "r.html", "answer.json: found suffix '.json'; expected a store, .sqlite"),
        ("none.sqlite", "r.html", "none.sqlite: found no such file"),
        (3, "r.html", "report: found a int"),
        ([], "r.html", "report: found no answers"),
        ([], "r.pdf", "r.pdf: found suffix '.pdf'; expected a page, .html"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, results, path, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(said)):
        report(results, path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="found a file; expected a folder"):
        report([], "r.html", pictures="taken")


def test_what_has_no_answer_is_said_before_the_verdict(page):
    assert page.notices == ()
    found = small_results()
    refused = Refused(found.answered[0].point, "mesh:4x4: found 16 nodes for 64 tasks")
    of_a_mesh = tuple(each for each in found.answered if each.point.verb == "compile_phases")
    part = page_of([replace(found, answered=of_a_mesh, missing=3, refused=(refused,))])
    (notice,) = part.notices
    assert "3 still to be answered, 1 that cannot be asked (mesh:4x4: found 16" in notice
    text = render(part)
    assert text.index('role="note"') < text.index('id="answer"')


@pytest.fixture(scope="module")
def analyses():
    return [
        record(nl.analyze("examples/lammps-64.mtx", on, mapping=mapping, random_mappings=0))
        for on in ("torus:8x8", "mesh:8x8")
        for mapping in ("identity", "random")
    ]


def test_the_highest_bound_is_taken_and_compared_with_the_next(analyses):
    best = best_of(list(zip(varied_in(analyses), analyses, strict=True)))
    bounds = sorted(Analysis.from_json(each.figures).measure().value for each in analyses)
    assert best.chosen == ("torus:8x8, rank order",)
    assert best.verdict.mark == "fine"
    assert best.verdict.sentence.startswith("Take torus:8x8, rank order: it carries up to 88")
    change = 100 * (bounds[-1] / bounds[-2] - 1)
    assert f"{change:.2g}\u00a0% more than mesh:8x8, rank order" in best.verdict.sentence
    assert len(best.verdict.sentence.split()) <= 30


def figure(on):
    return next(
        iter(figures_by_part(record(nl.analyze("ring:16", on, random_mappings=0))).values())
    )


def test_a_fabric_is_drawn_with_what_changes_though_its_file_is_elsewhere(tmp_path):
    copy("examples/my-cluster.txt", tmp_path)
    asked = tmp_path / "tables.toml"
    asked.write_text(
        '[route]\non = "graph:my-cluster.txt"\nfailed_channels = "leaf0-spine1"\nsamples = 9\n'
    )
    run(asked, workers=1)
    results = load_results(asked)
    page = page_of([results])
    titles = [figure.title for figure in figures_on(page.sections)]
    change = re.compile(r".* carries .* (less|more) \(.* → .*\), the largest change")
    assert any(map(change.fullmatch, titles)), titles
    figures = results.answered[0].record.figures
    before, after = figures["before"]["all_to_all"]["max"], figures["all_to_all"]["max"]
    assert before != after
    assert f"{before:,.0f} → {after:,.0f}" in [each.value for each in page.answer.tiles]
    text = render(page)
    assert "netloom explore tables.toml -o tables-network.html" in text
    assert '<a href="#explore">Look at the network</a>' in text
