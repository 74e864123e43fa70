"""``netloom explore``: from answers to pages, also over the wire to this computer alone."""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from typer.testing import CliRunner

from netloom.cli.app import app

ASKED = "analyze ring:8 --on mesh:2x4 --random-mappings 0"


@pytest.fixture
def answer(tmp_path):
    done = CliRunner().invoke(app, [*ASKED.split(), "--json"])
    path = tmp_path / "answer.json"
    path.write_text(done.stdout)
    return path


def test_an_answer_and_its_question_give_the_same_page(answer, tmp_path):
    first, second = tmp_path / "asked.html", tmp_path / "answered.html"
    done = CliRunner().invoke(app, [*ASKED.split(), "--explore", str(first)])
    assert f"Explorer: {first}" in done.stdout
    done = CliRunner().invoke(app, ["explore", str(answer), "-o", str(second)])
    assert done.stdout == f"Explorer: {second}\n"
    assert first.read_text() == second.read_text()
    assert json.loads(answer.read_text())["verdict"]["sentence"] in first.read_text()


def test_a_page_is_served_to_this_computer_until_it_is_stopped(answer, tmp_path):
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "netloom", "explore", str(answer), "-o", str(page), "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            serving.stdout.readline()
            address = serving.stdout.readline().split()[0]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address) as found:
                assert found.read() == page.read_bytes()
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{address}answer.json")
        finally:
            serving.send_signal(signal.SIGINT)
        assert serving.wait() == 0
