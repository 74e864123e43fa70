import pytest

from netloom.base.errors import InputError
from netloom.workload import read, ring, write
from netloom.workload.parse import _PATTERNS, PATTERNS
from tests.networks import PROGRAMS


def test_every_pattern_has_an_example_and_is_in_the_message():
    assert set(PROGRAMS) == set(_PATTERNS)
    for name, spec in PROGRAMS.items():
        app = read(spec)
        assert spec.startswith(f"{name}:")
        assert f"{name}:" in PATTERNS
        assert app.num_tasks <= 12
        assert read(app.name).name == app.name


def test_a_name_is_told_in_any_case_and_comes_back_plain():
    assert read(" Mesh:04x4 ").name == "mesh:4x4"


def test_what_exists_is_a_file_whatever_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(ring(5), "ring.csv")
    (tmp_path / "ring.csv").rename("ring:64.csv")
    assert read("ring:64.csv").num_tasks == 5


def test_a_name_too_long_for_a_file_is_one_clear_line():
    with pytest.raises(InputError, match=r"\(File name too long\)") as caught:
        read("mesh:" + "x".join("1" * 300))
    assert "\n" not in str(caught.value)


def test_a_file_of_unknown_kind_is_not_guessed_at(tmp_path):
    file = tmp_path / "app.txt"
    file.write_text("0 1 5\n")
    with pytest.raises(
        InputError, match=r"app\.txt: found a file of unknown kind; expected a file"
    ):
        read(file)


@pytest.mark.parametrize(
    ("name", "options", "wrong"),
    [
        ("ring:8", {"messages": "m.mtx"}, "^messages: found a second matrix with 'ring:8'"),
        ("app.csv", {"messages": "m.mtx"}, "^messages: found"),
        ("a.0.prof", {"messages": "m.mtx"}, "^messages: found"),
        ("ring:8", {"parts": "collectives"}, "^parts: found 'collectives' with 'ring:8'"),
    ],
)
def test_an_option_that_would_be_passed_over_is_refused(name, options, wrong):
    with pytest.raises(InputError, match=wrong):
        read(name, **options)
