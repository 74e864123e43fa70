"""``netloom explore``: from answers to pages, also over the wire to this computer alone."""

import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.client import HTTPConnection

import pytest
from typer.testing import CliRunner

from netloom.cli.app import app, page_server

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
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(address.rpartition("/")[0].rpartition("/")[0] + "/")
        finally:
            serving.send_signal(signal.SIGINT)
        assert serving.wait() == 0


@pytest.fixture
def served(tmp_path):
    """Yield a page that is served, its server, and its path."""
    page = tmp_path / "page.html"
    page.write_text("<!doctype html>" + "x" * 10_000_000)
    server, address = page_server(page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield page, server, f"/{address.split('/', 3)[3]}"
    server.shutdown()
    server.server_close()
    thread.join()


def asked(port, path, method="GET", **headers):
    connection = HTTPConnection("127.0.0.1", port)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"].partition(";")[0], answer.read()
    connection.close()
    return found


def test_a_page_is_served_by_its_own_name_and_address_alone(served, capfd):
    page, server, path = served
    port = server.server_port
    assert len(path) > 20
    whole = page.read_bytes()
    assert asked(port, path) == (200, "text/html", whole)
    assert asked(port, path, Host=f"localhost:{port}")[0] == 200
    assert asked(port, path, "HEAD") == (200, "text/html", b"")
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.nip.io:{port}"):
        code, kind, said = asked(port, path, Host=host)
        assert (code, kind) == (403, "text/plain")
        assert whole[:15] not in said
    for other in ("/", "/page.html", path[:-2], f"{path}page.html", f"{path}../../etc/passwd"):
        assert asked(port, other)[:2] == (404, "text/plain")
    page.unlink()
    assert asked(port, path)[0] == 404
    assert capfd.readouterr() == ("", "")
