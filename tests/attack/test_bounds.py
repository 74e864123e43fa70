"""Whatever number, depth or size a file says: an answer, or one line, before much work is done."""

import gzip
import json
import re
import shutil
import tracemalloc

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.base.textfiles import parse_json
from netloom.topology import topology
from netloom.topology.faults import two_apart
from netloom.workload.programs.training.recorded import read_kineto
from tests.attack.files import FILES
from tests.attack.run import wrong_end
from tests.topology.subnets.fabric_files import read_or_refused, unpacked
from tests.topology.subnets.test_formats import PRINTED

TEXTS = [name for name in FILES if name.rpartition(".")[2] not in ("npz", "sqlite")]
HUGE = ("9" * 20, "9" * 5000)


def with_huge_numbers(text, most=60):
    """Yield texts in which one number is huge: whole ones, then digits of hexadecimal ones."""
    found = list(re.finditer(r"\d+", text))
    for place, number in enumerate(found[:: max(len(found) // most, 1)]):
        huge = HUGE[place % 2]
        yield text[: number.start()] + huge + text[number.end() :]


@pytest.mark.parametrize("name", TEXTS)
def test_huge_numbers_are_refused_in_one_line(name, tmp_path):
    whole, command = FILES[name]
    file = tmp_path / name
    for text in with_huge_numbers(whole().decode(), 12):
        file.write_text(text)
        assert wrong_end([word.replace("FILE", str(file)) for word in command.split()]) == "", text


@pytest.mark.parametrize("name", [*PRINTED, "multi-linkinfo-l.txt", "multi.ibsim"])
def test_huge_numbers_in_what_the_tools_of_infiniband_print(name):
    texts = list(with_huge_numbers(unpacked(name)))
    said = [found for text in texts if isinstance(found := read_or_refused(text), str)]
    assert len(said) > len(texts) / 4
    assert any("expected a whole number from 0 to 65535" in each for each in said)


DEEP = "[" * 1000 + "]" * 1000


@pytest.mark.parametrize(
    "command",
    [
        "explore FILE -o page.html",
        "analyze ring:4 --on mesh:2x2 --mapping FILE",
        "analyze ring:4 --on fabric:FILE",
        "compile verify FILE",
        "simulate trace kineto:FILE --on mesh:2x2",
        "simulate trace FILE --on mesh:2x2",
        "results FILE",
    ],
)
@pytest.mark.parametrize("deep", [DEEP, f'{{"provenance": {{"configuration": {DEEP}}}}}'])
def test_depth_is_refused_in_one_line(command, deep, tmp_path):
    file = tmp_path / ("deep.toml" if command.startswith("results") else "deep.json")
    file.write_text(f"a = {DEEP}" if file.suffix == ".toml" else deep)
    assert wrong_end([word.replace("FILE", str(file)) for word in command.split()]) == ""


def test_json_is_measured_before_it_is_read():
    told = '{"a": "[[[[\\\\", "b\\"]": [' + ",".join("[1]" for _ in range(40)) + "]}"
    assert parse_json(told, "a", wanted="b", most_values=90) == json.loads(told)
    with pytest.raises(InputError, match=r"a: found over 50 values; expected at most 50: b"):
        parse_json(told, "a", wanted="b", most_values=50)
    with pytest.raises(InputError, match="over 64 lists and records inside each other"):
        parse_json("[" * 65 + '"' + "]" * 70 + '"' + "]" * 65, "a", wanted="b")
    assert parse_json("[" * 64 + "]" * 64, "a", wanted="b")
    with pytest.raises(InputError, match="too many digits"):
        parse_json("9" * 5000, "a", wanted="b")


SMALL = {
    "topology.conf": ("SwitchName=s Nodes=n[0-999999]\n", "1,000,000 names"),
    "tree.conf": (
        "".join(f"SwitchName=s{each} Nodes=n{each}x[0-999]\n" for each in range(300)),
        "over 262,144 switches and hosts",
    ),
    "platform.xml": (
        "<platform><cluster id='c' radical='0-999999' bw='1GBps'/></platform>", "1,000,000 names",
    ),
    "net.any": (
        "".join(f"router {e} node {e} router {(e + 1) % 200000}\n" for e in range(200000)),
        "over 262,144 switches and hosts",
    ),
    "tree.yaml": (
        "- topology: t\n  tree:\n    switches:\n"
        + "".join(f"      - switch: s{e}\n        nodes: n{e}\n" for e in range(200000)),
        "YAML of over 65,536 lines and entries",
    ),
}  # fmt: skip
"""Small files that say much, and why they are refused."""


@pytest.mark.parametrize("name", SMALL)
def test_small_files_that_say_much_are_refused_before_memory_is_taken(name, tmp_path):
    text, why = SMALL[name]
    (tmp_path / name).write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=why):
            topology(f"fabric:{tmp_path / name}")
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_switches_without_a_way_between_them_are_found_by_one_search(monkeypatch, tmp_path):
    from scipy.sparse import csgraph

    searched = []
    search = csgraph.breadth_first_order
    monkeypatch.setattr(
        csgraph, "breadth_first_order", lambda *a, **b: searched.append(1) or search(*a, **b)
    )
    lines = "".join(f"SwitchName=s{each} Nodes=n{each}\n" for each in range(500))
    (tmp_path / "topology.conf").write_text(lines)
    with pytest.raises(InputError, match="hosts n0 and n1 that cannot both reach each other"):
        topology(f"fabric:{tmp_path / 'topology.conf'}")
    assert len(searched) == 1
    planes = "h0 a\nh1 a\nh0 b\nh2 b\nh1 c\nh2 c\na d\nb e\nc f\n"
    (tmp_path / "planes.edges").write_text(f"hosts: h[0-2]\n{planes}")
    net = topology(f"graph:{tmp_path / 'planes.edges'}")
    del searched[:]
    assert two_apart(net) is None
    assert len(searched) == 3  # one of each part, not of each router


def test_events_without_notes_take_little_memory(tmp_path):
    shutil.copytree("examples/kineto", tmp_path / "many")
    whole = json.loads((tmp_path / "many/rank0.json").read_text())
    start = min(each["ts"] for each in whole["traceEvents"] if "ts" in each)
    other = [
        {"ph": "X", "cat": "cpu_op", "name": f"aten::op{each}", "ts": start + each % 100,
         "dur": 0, "pid": 7, "tid": 7, "args": {"External id": each, "Sequence number": each}}
        for each in range(20_000)
    ]  # fmt: skip
    text = json.dumps(whole | {"traceEvents": other + whole["traceEvents"]})
    (tmp_path / "many/rank0.json").write_bytes(gzip.compress(text.encode()))
    tracemalloc.start()
    try:
        found = read_kineto(tmp_path / "many/rank%d.json")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4 * len(text)  # a record for each event takes seven times the text
    plain = read_kineto("examples/kineto/rank%d.json")
    for name in ("kind", "rank", "peer", "seconds"):
        assert np.array_equal(getattr(found, name), getattr(plain, name)), name
