"""The page of a fabric: drawn with what new tables change, from wherever its file is."""

import re
from shutil import copy

import pytest

from netloom.experiments import load_results, run
from netloom.report.page.pages import page_of
from netloom.report.page.write import write_page

ASKED = """
[route]
on = "graph:my-cluster.txt"
failed_channels = "leaf0-spine1"
samples = 9
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fabric")
    copy("examples/my-cluster.txt", folder)
    asked = folder / "tables.toml"
    asked.write_text(
        '[route]\non = "graph:my-cluster.txt"\nfailed_channels = "leaf0-spine1"\nsamples = 9\n'
    )
    run(asked, workers=1)
    return load_results(asked.with_suffix(".sqlite"))


def test_the_network_is_drawn_with_what_changes_though_its_file_is_elsewhere(results):
    page = page_of([results])
    titles = [figure.title for section in page.sections for figure in section.figures]
    change = re.compile(r".* carries .* (less|more) \(.* → .*\), the largest change")
    assert any(map(change.fullmatch, titles)), titles
    assert not any("by load: all" in title for title in titles)


def test_tiles_say_before_and_after(results):
    figures = results.answered[0].record.figures
    before, after = figures["before"]["all_to_all"]["max"], figures["all_to_all"]["max"]
    assert before != after
    assert f"{before:,.0f} → {after:,.0f}" in [
        each.value for each in page_of([results]).answer.tiles
    ]


def test_the_page_leads_to_how_its_explorer_is_written(results, tmp_path):
    text = write_page(page_of([results]), tmp_path / "page.html").read_text()
    assert "netloom explore tables.toml -o tables-network.html" in text
    assert '<a href="#explore">Look at the network</a>' in text
