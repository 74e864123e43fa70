"""Files are written whole before a word is printed, whatever becomes of the words."""

import json
from pathlib import Path

import pytest
import typer

from netloom.base.errors import InputError
from netloom.cli.edge import files_written
from tests.cli.test_edge import run

EXAMPLES = Path("examples").resolve()

COMMANDS = (
    (
        f"map {EXAMPLES}/lammps-64.mtx --on torus:8x8 --rounds 1",
        "--plot a.svg --save-mapping b.json --rankfile c.txt --routes d.txt --explore e.html",
    ),
    (
        f"route {EXAMPLES}/dgx-40.ibnetdiscover --engine updn --samples 2",
        "--out a.lfts --changes b.csv --levels c.txt --qos-policy d.conf --plot e.html",
    ),
    (
        f"simulate trace {EXAMPLES}/halo.csv --on torus:4x4x4 --engine flow",
        "--save-messages a.parquet --perfetto b.json.gz --plot c.pdf --explore d.html",
    ),
    (
        "collective all-gather --on mesh:2x2 --size 1MB --bandwidth 1GB/s --latency 0",
        "--goal a.goal --save-times b.csv --perfetto c.json --plot d.png",
    ),
    ("compile collective all-gather --on leaf-spine:2x1x2", "--out a.json.gz --msccl b.xml"),
    ("compile ring:4 --on mesh:2x2", "--out a.json --programs b.json --gantt c.svg --map d.svg"),
)
"""Commands, and files that each can write."""

ENDINGS = {
    ".svg": b"</svg>", ".html": b"</html>\n", ".xml": b"</algo>\n",
    ".pdf": b"%%EOF\n", ".goal": b"}\n", ".parquet": b"PAR1", ".png": b"IEND\xaeB`\x82",
}  # fmt: skip
"""How some whole files end."""


@pytest.mark.parametrize("place", range(len(COMMANDS)))
def test_files_are_there_although_nobody_reads(place, tmp_path):
    command, files = COMMANDS[place]
    output, code = ("> /dev/full", 1) if place % 2 else ("| true", 141)
    done = run(f"$netloom {command} {files} {output}", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    wanted = files.split()[1::2]
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(wanted)
    for each in tmp_path.iterdir():
        assert each.stat().st_size, each.name
        ending = ENDINGS.get(each.suffix, b"")
        assert each.read_bytes().rstrip().endswith(ending.rstrip()), each.name
        if each.suffix == ".json":
            json.loads(each.read_text())


def test_tables_of_a_store_are_written_beside_json_and_though_nobody_reads(tmp_path):
    (tmp_path / "a.toml").write_text('[all]\non = "mesh:2x2"\n[[predict.latency]]\noffered = 0.1\n')
    assert run("$netloom run a.toml > out.txt", tmp_path).returncode == 0
    done = run("$netloom results a.toml --json --csv a.csv --parquet a.parquet | true", tmp_path)
    assert done.returncode == 141
    assert run("$netloom results a.toml --csv - --parquet b.parquet | true", tmp_path)
    assert (tmp_path / "a.csv").read_text().count("\n") == 2
    assert (tmp_path / "b.parquet").read_bytes() == (tmp_path / "a.parquet").read_bytes()
    done = run("$netloom report a.toml -o a.html --pictures b > /dev/full", tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "a.html").read_text().endswith("</html>")
    assert list((tmp_path / "b").iterdir())


def test_an_answer_is_printed_though_its_files_fail(capsys):
    def fail(error):
        raise error

    writers = [
        lambda: fail(ZeroDivisionError("a bug")),
        lambda: "File: b",
        lambda: fail(InputError("c", "a full disk", "space")),
    ]
    with pytest.raises(ZeroDivisionError), files_written(writers):
        typer.echo("The answer.")
    said = capsys.readouterr()
    assert said.out == "The answer.\nFile: b\n"
    assert said.err == "netloom: c: found a full disk; expected space\n"

    stopped = [lambda: fail(KeyboardInterrupt()), lambda: pytest.fail("written after Ctrl-C")]
    with pytest.raises(KeyboardInterrupt), files_written(stopped):
        typer.echo("The answer.")
    assert capsys.readouterr().out == "The answer.\n"

    with pytest.raises(BrokenPipeError), files_written(writers[2:]):
        raise BrokenPipeError
    assert "a full disk" in capsys.readouterr().err
