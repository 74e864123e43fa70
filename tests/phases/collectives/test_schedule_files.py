"""Plan files of collectives come back as they were written; broken ones are refused in one line."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.phases.collectives.schedules import read_schedule, schedule_text, write_schedule
from netloom.phases.collectives.synthesis import SYNTHESISED
from tests.phases.collectives.test_judged import made


@pytest.mark.parametrize("collective", SYNTHESISED)
@pytest.mark.parametrize("name", ["plan.json", "plan.json.gz"])
def test_there_and_back(collective, name, tmp_path):
    schedule = made("leaf-spine:2x1x2", collective, root=1)
    write_schedule(tmp_path / name, schedule, Provenance({"on": "leaf-spine:2x1x2"}))
    found, provenance = read_schedule(tmp_path / name)
    assert provenance["configuration"] == {"on": "leaf-spine:2x1x2"}
    assert schedule_text(found, {}) == schedule_text(schedule, {})
    for column in ("source", "target", "step", "sums", "chunk_size", "first_owner", "final_owner"):
        there, back = (getattr(each.program, column) for each in (schedule, found))
        assert np.array_equal(there, back), column
        assert there.dtype == back.dtype
    assert np.array_equal(found.start, schedule.start)
    assert np.array_equal(found.end, schedule.end)
    assert np.array_equal(found.routes.values, schedule.routes.values)
    assert found.network.digest == schedule.network.digest


def test_all_fields_of_a_network_are_in_its_digest():
    network = made("leaf-spine:2x1x2", "all-gather").network
    for each in fields(network):
        value = getattr(network, each.name)
        other = value + 1 if isinstance(value, np.ndarray) else value + value[:1]
        assert replace(network, **{each.name: other}).digest != network.digest, each.name


def record():
    return json.loads(schedule_text(made("mesh:2x2", "all-gather", chunks=1), {}))


CHANGES = {
    "version": (("version",), 2, "version: found 2"),
    "no such collective": (("collective",), "gossip", "collective: found 'gossip'"),
    "a column too short": (("messages", "source"), [0], "messages.source: found 1 values"),
    "a rank too many": (("messages", "source", 3), 4, r"messages.source\[3\]: found 4"),
    "a time too many": (("messages", "end", 0), 10**6, r"messages.end\[0\]: found 1000000"),
    "a text as a number": (("messages", "target", 0), "0", r"messages.target\[0\]: found '0'"),
    "a channel too many": (("messages", "channels", 1), 99, r"messages.channels\[1\]: found 99"),
    "a chunk too many": (("messages", "chunks", 1), 99, r"messages.chunks\[1\]: found 99"),
    "lengths of chunks": (("messages", "num_chunks"), 2, "messages.chunks: found .* values"),
    "a negative time": (("times_seconds", 0), -1.0, r"times_seconds\[0\]: found -1.0"),
    "another network": (("network", "bytes_per_second"), 1e9, "network.digest: found"),
    "an owner below": (("chunks", "first_owner"), -2, "chunks.first_owner"),
    "a root too many": (("root",), 4, "root: found 4"),
    "fewer vertices": (("network", "vertices"), ["a"], "network.vertices: found 1 vertices"),
    "chunks without end": (("chunks", "count"), 2**31 - 1, "chunks.count: found 2147483647"),
    "no size": (("size_bytes",), 0, "size_bytes: found 0"),
    "a cut of strangers": (("bound", "inside"), [77], r"bound.inside\[0\]: found 77"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_mistakes_are_one_line_that_names_the_field(change):
    place, value, said = CHANGES[change]
    found = record()
    at = found
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(InputError, match=said) as refused:
        read_schedule("plan.json", json.dumps(found))
    assert str(refused.value).startswith("plan.json: ")
    assert "\n" not in str(refused.value)


def test_messages_in_any_order_are_sorted_by_their_starts():
    found = record()
    rows = found["messages"]
    for name in ("source", "target", "start", "end", "chunks", "channels"):
        rows[name] = rows[name][::-1]
    read = read_schedule("plan.json", json.dumps(found))
    assert (np.diff(read.schedule.start) >= 0).all()
