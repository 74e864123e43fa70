"""Files are written beside and moved into place; what is no file is called what it is."""

import os
import stat

import pytest

from netloom.base.errors import InputError
from netloom.base.textfiles import read_text, replacing, write_text
from netloom.drawing.save import check_picture, check_writable, save_table


def test_what_fails_leaves_the_old_file(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("old")
    full = pytest.raises(InputError, match=r"report.html: found .*No space left")
    with full, replacing(file) as new:
        new.write_text("ne")
        raise OSError(28, os.strerror(28))
    with pytest.raises(ZeroDivisionError), replacing(file) as new:
        new.write_text(str(1 / 0))
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert file.read_text() == "old"


def test_links_and_permissions_stay(tmp_path):
    file, link = tmp_path / "real.txt", tmp_path / "link.txt"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("real.txt")
    write_text(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    mask = os.umask(0o022)
    os.umask(mask)
    write_text(tmp_path / "fresh.txt", "new")
    assert stat.S_IMODE((tmp_path / "fresh.txt").stat().st_mode) == 0o666 & ~mask


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path):
    import polars as pl

    file = tmp_path / "t.csv"
    write_text(file, "old")
    with replacing(file) as new:
        new.write_text("half")
        assert file.read_text() == "old"
        assert new.suffix == ".csv"
    assert file.read_text() == "half"
    save_table(pl.DataFrame({"a": [1]}), file)
    assert file.read_text() == "a\n1\n"


@pytest.mark.parametrize("kind", ["a FIFO", "a folder", "a device"])
def test_what_is_no_file_is_called_what_it_is(kind, tmp_path):
    place = tmp_path / "x.svg"
    if kind == "a FIFO":
        os.mkfifo(place)
    elif kind == "a folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/null")
    for use in (check_picture, check_writable, lambda path: write_text(path, "")):
        with pytest.raises(InputError, match=f"found {kind}; expected a file"):
            use(place)
    with pytest.raises(InputError, match=f"found {kind}; expected a plan"):
        read_text(place, wanted="a plan")
