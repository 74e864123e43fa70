"""JSON and YAML with lines, and XML without entities."""

from __future__ import annotations

import pytest

from netloom.base.errors import InputError
from netloom.topology.subnets.documents import MOST_BYTES, read_document


def test_all_that_yaml_says_is_text():
    text = "a: [007, 1e3, true, ~, 2026-11-22]\nb: !!python/name:os.system x\n"
    found = read_document("net", text, wanted="YAML").top
    assert found == {"a": ["007", "1e3", "true", "~", "2026-11-22"], "b": "x"}


def test_records_know_their_lines():
    document = read_document("net", "- a: 1\n- b:\n    c: 2\n", wanted="YAML")
    assert [document.at(each) for each in document.top] == ["net:1", "net:2"]
    assert document.at(document.top[1]["b"]) == "net:3"
    assert document.at(read_document("net", '{"a": 1}', wanted="JSON").top) == "net"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: \x07\n", "YAML that cannot be read"),
        ("[" * 100_000, "found"),
        ("a" * (MOST_BYTES + 1), f"over {MOST_BYTES} characters"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, says):
    with pytest.raises(InputError) as error:
        read_document("net", text, wanted="YAML")
    assert says in str(error.value)
