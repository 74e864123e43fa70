import sys

import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.questions.recorded import record

FOUND = nl.analyze("ring:4", "mesh:2x2", random_mappings=0)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_package_that_is_missing_is_said_in_one_line(monkeypatch, package):
    pytest.importorskip("pandas" if package == "pyarrow" else "pyarrow")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as caught:
        nl.to_pandas(FOUND)
    wanted = f"to_pandas: found no {package}; expected the extra 'pandas': pip install"
    assert str(caught.value) == f"{wanted} 'netloom[pandas]'"


def test_answers_records_and_tables_become_frames():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    whole = nl.to_pandas(FOUND, "channels")
    assert whole["channel_load"].tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert nl.to_pandas(record(FOUND), "channels").equals(whole)
    assert nl.to_pandas(pl.DataFrame({"a": [1]}))["a"].tolist() == [1]
