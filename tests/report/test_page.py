import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import typer
from scipy.stats import t as student
from typer.testing import CliRunner

from netloom import predict_torus_broadcast, simulate, simulate_broadcast
from netloom.base.errors import InputError
from netloom.base.words import held_together, load_share, number, percent
from netloom.cli.experiment import report as report_command
from netloom.drawing.frame import COLOURS, DARK_HEAT_COLOURS
from netloom.drawing.save import as_json
from netloom.experiments.findings import Refused
from netloom.questions.recorded import Recorded, record
from netloom.questions.simulate.load import detail
from netloom.report.page.curve_verdicts import decide
from netloom.report.page.curves import deviations, find_curves
from netloom.report.page.figure import MOST_PANELS, panels
from netloom.report.page.pages import figures_on, page_of
from netloom.report.page.write import THEMES, render, report
from netloom_papers.questions.predict.torus_broadcast import ENDS_CYCLES, SIMULATED
from tests.questions.small_answers import ANSWERS, there_and_back
from tests.report.page_samples import small_results, store

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Tree(HTMLParser):
    """The elements of a page in order, and whether their tags match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        parents = [each["tag"] for each in self.open]
        element = {"tag": tag, "in": parents, "text": "", **dict(attributes)}
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
            if each["tag"] == tag and all(each.get(name) == of for name, of in attributes.items())
        ]


@pytest.fixture(scope="module")
def page():
    return page_of([small_results()])


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


def test_the_page_answers_first_and_says_then_what_the_answer_rests_on(tree, page, text):
    (title,) = tree.all("h1")
    assert title["text"] == "Torus or mesh?"
    assert tree.all("p", **{"class": "question"})[0]["text"] == "What do the wraps buy at 16 nodes?"
    (answer,) = tree.all("p", **{"class": "answer"})
    decided = page.sections[0].verdicts[0]
    assert answer["text"] == held_together(decided.marked)
    assert len(decided.sentence.split()) <= 30
    assert 1 <= len(tree.all("dl", **{"class": "tiles"})) <= 3
    places = [text.index(f'id="{each}"') for each in
              ("answer", "sure", "part-1", "part-2", "numbers", "method", "decision")]  # fmt: skip
    assert places == sorted(places)
    assert "<li>" not in text[places[2] :]  # no lists of sentences
    facts = dict(page.facts)
    assert facts["Points"] == f"{len(small_results().answered)} points answered"
    assert facts["Seeds"] == "1, 2 and 3"
    assert [each["text"] for each in tree.all("pre")] == [small_results().text]
    commands = [each["text"] for each in tree.all("code")]
    assert "netloom run small.toml" in commands
    assert "netloom report small.toml -o report.html" in commands


def test_the_page_ends_in_the_decision_its_cost_and_how_far_to_trust_it(tree, page):
    last = [each["text"] for each in tree.elements if each["tag"] in ("h2", "h3")][-3:]
    assert last == ["The decision", "What it cost", "Trust it so far"]
    (decision,) = tree.all("section", id="decision")
    assert held_together(page.answer.verdict.sentence) in decision["text"]
    assert re.search(r"\d+ answers in [\d.]+ s of processor time", page.cost)
    assert held_together(page.cost) in decision["text"]
    assert "torus:4x4 and mesh:4x4" in page.answer.trust[0]
    assert all(held_together(each) in decision["text"] for each in page.answer.trust)


def test_the_numbers_of_the_tiles_are_those_of_the_answers(page):
    asked = [each for each in small_results().answered if each.point.verb == "simulate"]
    kept = {
        on: max(
            each.point.fields["load"] for each in asked
            if each.point.fields["on"] == on and each.record.figures["stable"]
        )
        for on in ("torus:4x4", "mesh:4x4")
    }  # fmt: skip
    assert kept == {"torus:4x4": 0.75, "mesh:4x4": 0.5}
    values = [each.value for each in page.answer.tiles]
    means = [np.mean([row["packet_latency_mean"] for row in simulated(on, 0.5)])
             for on in ("torus:4x4", "mesh:4x4")]  # fmt: skip
    assert values[-1] == f"−{percent(float(1 - means[0] / means[1]))}"
    assert "latency at 0.5" in page.answer.tiles[-1].label


def test_all_numbers_can_be_read_and_taken_along(page, tree):
    import io

    records = [each.record for each in small_results().answered]
    rows = sum(len(each.tables[name]) for each in records
               for name in {"table", each.answer.KEY_TABLE})  # fmt: skip
    found = [pl.read_csv(io.StringIO(each.csv)) for each in page.numbers]
    assert sum(map(len, found)) == rows
    simulations = next(each for each in page.numbers if each.file == "simulate.csv")
    table = pl.read_csv(io.StringIO(simulations.csv))
    asked = [each for each in small_results().answered if each.point.verb == "simulate"]
    assert table["on"].to_list() == [each.point.fields["on"] for each in asked]
    exact = [each.record.tables["table"]["packet_latency_mean"][0] for each in asked]
    assert table["packet_latency_mean"].to_list() == exact
    assert simulations.table.total == len(asked)
    (numbers,) = tree.all("section", id="numbers")
    for each in page.numbers:
        assert f"Download {each.file}" in numbers["text"]
        assert not each.cut


def test_headings_go_down_one_level_at_a_time_and_links_lead_somewhere(tree):
    levels = [int(each["tag"][1]) for each in tree.elements if re.fullmatch(r"h\d", each["tag"])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    names = [each["id"] for each in tree.elements if "id" in each]
    assert len(names) == len(set(names))
    for each in tree.all("a"):
        assert each["href"].removeprefix("#") in names
    for each in tree.elements:
        assert each.get("aria-labelledby", names[0]) in names


def test_every_chart_has_a_name_a_caption_words_and_a_table(tree, page):
    figures = list(figures_on(page.sections))
    assert len(figures) > 8
    assert len(tree.all("figure")) == len(figures)
    drawn = tree.all("div", **{"class": "plot"})
    for figure, chart, whole in zip(figures, drawn, tree.all("figure"), strict=True):
        assert chart["data-label"] == f"{figure.title}. {figure.alternative}"
        assert re.search(r"\d", figure.alternative)
        assert figure.title in whole["text"]
        assert "noscript" in [each["tag"] for each in tree.elements if "figure" in each["in"]]
        assert len(figure.data.rows) >= 1
        assert len({len(row) for row in figure.data.rows} | {len(figure.data.columns)}) == 1
    tables = [each for each in tree.all("table") if "figure" in each["in"]]
    assert len(tables) == len(figures)


def test_words_and_tables_of_curves_are_the_answers_numbers(page):
    latency = page.sections[0].figures[0]
    for on, last in (("torus:4x4", 0.75), ("mesh:4x4", 0.5)):
        means = [row["packet_latency_mean"] for row in simulated(on, last)]
        assert len(means) == 3
        half = student.ppf(0.975, 2) * np.std(means, ddof=1) / np.sqrt(3)
        rows = [row for row in latency.data.rows if row[:3] == (on, "simulated", number(last))]
        low, high = np.mean(means) - half, np.mean(means) + half
        assert rows == [
            (on, "simulated", number(last), number(float(np.mean(means))), number(low),
             number(high), "3")
        ]  # fmt: skip
        assert f"to {number(float(np.mean(means)))} at {number(last)}" in latency.alternative
    assert "saturates from 0.75 to 0.9" in latency.alternative
    assert not any(row["stable"] for row in simulated("torus:4x4", 0.9))


def test_the_words_of_a_drawn_network_name_its_busiest_channel(page):
    name = "torus:4x4 at 0.75"
    drawn, spread = (
        figure for figure in page.sections[0].figures if figure.title.startswith(f"{name}: ")
    )
    used = max(row["utilisation_max"] for row in simulated("torus:4x4", 0.75)[:1])
    busiest = drawn.data.rows[0]
    assert busiest[1] == number(100 * used)
    assert f"to {busiest[1]}, most at {busiest[0]}." in drawn.alternative
    assert drawn.data.total == 64
    assert "packet latency" in spread.alternative


def test_models_stand_beside_what_they_predict_and_say_how_far_off_they_are():
    group = find_curves([each.record for each in small_results().answered])[0]
    assert group.of == (0, 1)
    for place, curve in enumerate(group.simulated):
        model = group.model_of(place)
        assert model.about["topology"] == curve.about["topology"] == curve.label
        for load, off in deviations(curve, model):
            below = model.table.filter(model.table["load"] <= load)["latency"].max()
            above = model.table.filter(model.table["load"] >= load)["latency"].min()
            latency, _ = curve.at(load)
            assert below / latency - 1 - 1e-9 <= off <= above / latency - 1 + 1e-9
    others = [each.record for each in small_results().answered if each.point.verb == "simulate"]
    other = record(simulate("torus:4x4", load=[0.1, 0.2], cycles=300, vcs=2))
    model = next(
        each.record for each in small_results().answered if each.point.verb == "predict_latency"
    )
    (lone,) = find_curves([other, model])
    assert lone.of == (None,)
    assert find_curves(others)[0].models == ()


def test_the_model_of_broadcasts_is_compared_with_the_cycles_at_the_ends():
    load = {"rate": [0.002, 0.004, 0.006], "broadcast": 0.0}
    model = predict_torus_broadcast(4, message_flits=16, vcs=3, injection_channels=1, **load)
    run = simulate_broadcast("torus:4x4", packet_flits=16, cycles=4000, vcs=3, **SIMULATED, **load)
    (group,) = find_curves([record(run), record(model)])
    assert group.of == (0,)
    added = group.models[0].table["latency"] - model.table()["latency"]
    assert added.to_list() == pytest.approx([ENDS_CYCLES] * 3)
    assert max(abs(off) for _, off in deviations(group.simulated[0], group.models[0])) < 0.1


def test_one_point_of_many_is_the_same_as_one_asked_alone():
    several = record(simulate("mesh:4x4", load=[0.2, 0.4], cycles=600))
    alone = record(simulate("mesh:4x4", load=0.4, cycles=600))
    found = detail(several, 0.4, "wormhole")
    assert found.figures["histogram"] == alone.figures["histogram"]
    assert found.tables["channels"].equals(alone.tables["channels"])


def test_curves_that_fall_together_are_not_told_apart():
    found = record(simulate("mesh:4x4", load="0.1,0.2", cycles=800))
    twin = replace(found, figures=found.figures | {"topology": "twin:4x4"})
    (group,) = find_curves([found, twin])
    verdict = decide(group).verdict
    assert "decide by cost: latencies are the same, and both carry 0.2" in verdict.sentence
    assert verdict.lines["load"] == "All carry the same load, 0.2."
    assert "no difference in latency is sure" in verdict.lines["latency"]


def test_many_curves_are_drawn_in_panels_and_the_table_has_all():
    found = record(simulate("mesh:4x4", load=[0.1, 0.2], cycles=300))
    many = []
    for network in ("a", "b", "c"):
        for vcs in range(1, MOST_PANELS + 3):
            router = found.figures["router"] | {"vcs": vcs}
            many.append(
                replace(found, figures=found.figures | {"topology": network, "router": router})
            )
    (group,) = find_curves(many)
    assert group.differ == ("topology", "vcs")
    drawn = panels(group)
    assert list(drawn)[:2] == ["1 VC", "2 VCs"]
    assert len(drawn) == MOST_PANELS
    assert all([name for _, name in curves] == ["a", "b", "c"] for curves in drawn.values())
    page = page_of(many)
    assert "36 of 42 curves are drawn" in page.sections[0].figures[0].caption
    assert page.sections[0].figures[0].data.total == 2 * 42


def test_a_page_needs_nothing_from_anywhere(text, tree):
    for each in tree.elements:
        assert "src" not in each
        assert each["tag"] not in ("link", "iframe", "object", "img", "base")
    assert all(each["href"].startswith("#") for each in tree.all("a"))
    style = tree.all("style")[0]["text"]
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = tree.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none';")
    assert text.count("window.vegaEmbed=") == 1


def test_the_same_sources_give_the_same_bytes(tmp_path):
    for name in ("a.html", "b.html"):
        report([small_results()], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_hostile_words_stay_words(tmp_path):
    bad = "</script><script>alert(1)</script>"
    found = record(simulate("mesh:4x4", load=0.1, cycles=300))
    nodes = found.tables["table"].with_columns(switching=pl.lit(bad))
    hostile = Recorded(
        "simulate", found.figures | {"traffic": bad}, dict(found.tables) | {"table": nodes}
    )
    several = record(simulate("mesh:4x4", load=[0.1, 0.2], cycles=300))
    curve = replace(several, figures=several.figures | {"traffic": bad, "topology": bad})
    path = report([hostile, curve], tmp_path / "bad.html", title=f"<b>{bad}")
    tree = Tree(path.read_text())
    assert [each.get("type", "") for each in tree.all("script")] == ["application/json"] * 4 + [
        ""
    ] * 2
    assert tree.all("h1")[0]["text"] == f"<b>{bad}"
    assert not tree.all("b")
    assert "<script>alert" not in path.read_text()
    assert as_json("</script>\u2028") == '"\\u003c/script>\\u2028"'


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_makes_a_page(name):
    kept = there_and_back(record(ANSWERS[name]()))
    page = page_of([kept])
    figures = list(figures_on(page.sections))
    assert page.title
    assert figures
    for figure in figures:
        assert figure.title
        assert re.search(r"\d", figure.alternative)
    tree = Tree(render(page))
    assert len(tree.all("figure")) == len(figures)


def test_a_large_sweep_stays_small(tmp_path):
    found = record(simulate("torus:8x8", load=0.3, cycles=300))
    points = []
    for place in range(200):
        load, seed = (1 + place // 4) / 100, place % 4
        row = {"offered": pl.lit(load), "seed": pl.lit(seed)}
        tables = {
            key: table.with_columns(**{n: v for n, v in row.items() if n in table.columns})
            for key, table in found.tables.items()
        }
        points.append(replace(found, figures=found.figures | {"offered": load}, kept=tables))
    path = report(points, tmp_path / "sweep.html")
    assert path.stat().st_size < 2_500_000
    assert "of 4 runs with different seeds" in path.read_text()


def test_pictures_are_of_every_chart_on_white(tmp_path):
    answer = simulate("mesh:4x4", load=[0.1, 0.3], cycles=300)
    report(answer, tmp_path / "r.html", pictures=tmp_path / "pictures")
    count = len(list(figures_on(page_of([record(answer)]).sections)))
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [each.suffix for each in pictures] == [".png", ".svg"] * count
    first, second = pictures[:2]
    assert first.name == "01-packet-latency-by-load-uniform-traffic-on-mesh-4x4.png"
    assert first.read_bytes().startswith(b"\x89PNG")
    drawn = second.read_text()
    assert "Packet latency by load: uniform traffic" in drawn
    assert 'fill="white"' in drawn
    assert THEMES["light"]["axis"]["titleColor"] in drawn


def test_one_report_of_answers_and_stores(tmp_path):
    answer = simulate("mesh:4x4", load=0.2, cycles=300, vcs=2)
    path = report([answer, store(), str(store().with_suffix(".sqlite"))], tmp_path / "deep/r.html")
    tree = Tree(path.read_text())
    assert tree.all("h1")[0]["text"] == "Torus or mesh?"
    assert "Simulation: uniform on mesh:4x4" in [each["text"] for each in tree.all("h2")]
    records = [each.record for each in small_results().answered]
    once, twice = find_curves(records), find_curves([*records, *records])
    for curve, same in zip(once[0].simulated, twice[0].simulated, strict=True):
        assert same.table.equals(curve.table)  # the same run again says nothing new


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


def test_pictures_into_a_file_are_refused_before_any_work(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="found a file; expected a folder"):
        report([], tmp_path / "r.html", pictures=tmp_path / "taken")


def command(*words):
    app = typer.Typer()
    app.command()(report_command)
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_prints_the_verdict_and_the_path(tmp_path):
    page = tmp_path / "out.html"
    found = command(store(), "-o", page, "--title", "Wraps")
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert lines[0].split()[:2] in (["✓", "Take"], ["!", "For"])
    assert any(line.startswith("  sure    Each load is 3 runs") for line in lines)
    assert len(lines) < 12
    assert lines[-1] == f"Report: {page}"
    assert page.stat().st_size > 500_000


def test_the_command_refuses_a_page_that_cannot_be_written_first(tmp_path):
    found = command("nowhere.sqlite", "-o", tmp_path / "out.txt")
    assert isinstance(found.exception, InputError)
    assert "out.txt: found suffix '.txt'" in str(found.exception)


def contrast(one, other):
    """Contrast of two colours after WCAG 2, section 1.4.3."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        parts = [
            each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "card"), [("light", "#ffffff"), ("dark", "#181c22")])
def test_colours_of_charts_can_be_read_on_their_background(theme, card):
    colours = THEMES[theme]
    for part in ("axis", "legend", "header"):
        assert contrast(colours[part]["titleColor"], card) >= 4.5
        assert contrast(colours[part]["labelColor"], card) >= 4.5
    assert all(contrast(colour, card) >= 3 for colour in COLOURS)
    assert contrast(DARK_HEAT_COLOURS[-1], "#181c22") > contrast(DARK_HEAT_COLOURS[0], "#181c22")


def test_of_analyses_the_one_with_the_highest_bound_is_named(page):
    section = next(each for each in page.sections if each.title == "Contention analysis")
    bounds = {
        each.point.fields["on"]: each.record.tables["table"]["saturation_upper_bound"][0]
        for each in small_results().answered
        if each.point.verb == "analyze"
    }
    best = max(bounds, key=bounds.get)
    most = load_share(max(bounds.values()))
    assert section.verdicts[0].sentence.startswith(f"Take {best}: it carries up to {most} load, ")
    change = 100 * (max(bounds.values()) / min(bounds.values()) - 1)
    assert f"{change:.2g}\u00a0% more than " in section.verdicts[0].sentence
    for row in section.rows:
        assert [each.title.partition(": ")[0] for each in row] == [*bounds]


def test_what_has_no_answer_is_said_before_the_verdict(tmp_path):
    found = small_results()
    assert page_of([found]).notices == ()
    refused = Refused(found.answered[0].point, "mesh:4x4: found 16 nodes for 64 tasks")
    part = replace(found, missing=3, refused=(refused,))
    (notice,) = page_of([part]).notices
    assert "3 still to be answered, 1 that cannot be asked (mesh:4x4: found 16" in notice
    text = report([part], tmp_path / "r.html").read_text()
    assert text.index('role="note"') < text.index('id="answer"')
