"""The command ``netloom validate machines``."""

import json

import polars as pl
import pytest

SETS = """
[[set]]
name = "made up"
file = "times.csv"
network = "leaf-spine:2x2x2"
options = { bandwidth = "1GB/s", latency = "1us" }
algorithms = "ring"
"""


@pytest.fixture
def folder(tmp_path):
    """Write a folder of one set, with two rows."""
    tmp_path.joinpath("sets.toml").write_text(SETS)
    rows = "nodes,collective,1000,1000000\n4,allreduce,10,1600\n"
    tmp_path.joinpath("times.csv").write_text(rows)
    return tmp_path


def test_a_folder_is_judged_and_files_are_written(netloom, folder):
    files = "--csv rows.csv --markdown page.md --plot picture.svg"
    code, out, _ = netloom("validate machines --data", folder, files)
    assert code == 0
    assert "No bound of 2 above its measured time" in out
    assert pl.read_csv(folder / "rows.csv")["netloom"].to_list() == ["ring", "ring"]
    assert "made up" in folder.joinpath("page.md").read_text()
    assert folder.joinpath("picture.svg").stat().st_size > 1000


def test_json_has_rows_errors_and_violations(netloom, folder):
    folder.joinpath("times.csv").write_text("nodes,collective,1000000\n4,allreduce,1400\n")
    code, out, _ = netloom("validate machines --json --data", folder)
    found = json.loads(out)
    (row,) = found["rows"]
    assert (code, len(found["violations"])) == (1, 1)
    assert row["predicted"] > row["bound"] > row["measured"]
    assert row["calibrates"] is False
    assert found["classes"]["made up"]["all"]["rows"] == 1
    assert {"median", "ninety", "within_10", "within_25", "within_40"} < set(
        found["sets"]["made up"]["all"]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--data nowhere",
            "nowhere/sets.toml: found no such file; expected a folder with sets.toml",
        ),
        ("--markdown page.txt", "page.txt: found suffix '.txt'"),
        ("--reference table.csv", "reference: found one for machines"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(netloom, words, said):
    code, _, err = netloom("validate machines", words)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err


def test_options_of_machines_are_refused_elsewhere(netloom):
    code, _, err = netloom("validate router --data .")
    assert code == 2
    assert "data: found '.'" in err
