"""Verdicts of simulations, asked in many ways: the form of each, its mark, and its numbers."""

import re
import shlex
from copy import deepcopy

import pytest

import netloom as nl
from netloom.questions.register import by_verb, kind_of
from tests.questions.test_verdicts import (  # noqa: F401 (asked of these answers, too)
    test_a_verdict_follows_from_the_figures_alone,
    test_every_answer_has_a_short_verdict_with_a_number,
    test_the_next_command_is_a_command,
)

pytestmark = pytest.mark.filterwarnings("ignore:load .* is above")

MESH, QUICK = "mesh:4x4", {"cycles": 3000}
PATTERN = {"on": "symult2010:4x4", "loops": 3}
TRANSACTIONS = {"on": "torus:3x3", "app": "torus:3x3", "batch_cycles": 300}
LOOP = {"on": MESH, "app": "transpose:4", "engine": "worm", "loops": 5}
BROADCAST = {"on": "torus:4x4", "packet_flits": 4, "cycles": 20_000, "broadcast": 0.1}
SHARED = ["ring:4@0-3", "all-to-all:6@2-7"]

ASKED = {
    "load": ("fine", lambda: nl.simulate(MESH, load=0.1, **QUICK)),
    "load, near saturation": ("limited", lambda: nl.simulate(MESH, load=0.67, cycles=20_000)),
    "load, above the bound": ("act", lambda: nl.simulate(MESH, load=1, **QUICK)),
    "load, overloaded": ("act", lambda: nl.simulate(MESH, load=0.85, **QUICK)),
    "load, of few packets": ("unknown", lambda: nl.simulate(MESH, load=0.1, cycles=10)),
    "load, not precise": (
        "unknown", lambda: nl.simulate(MESH, load=0.1, precision=1e-4, most_cycles=2000),
    ),
    "load, one node": (
        "fine", lambda: nl.simulate("line:1", traffic="uniform-self", load=0.2, cycles=20_000),
    ),
    "load, programs": ("fine", lambda: nl.simulate(MESH, load=0.1, app=SHARED, shared=True)),
    "load, a permutation": (
        "act", lambda: nl.simulate(MESH, load=0.5, traffic="transpose", **QUICK),
    ),
    "load, switches": ("fine", lambda: nl.simulate("leaf-spine:4x2x4", load=0.1, **QUICK)),
    "load, several": ("fine", lambda: nl.simulate(MESH, load="0.1:0.3:0.1", **QUICK)),
    "load, several up to saturation": (
        "limited", lambda: nl.simulate(MESH, load="0.2,0.9", **QUICK),
    ),
    "load, several too high": ("act", lambda: nl.simulate(MESH, load="0.9,0.93", **QUICK)),
    "load, several too short": ("unknown", lambda: nl.simulate(MESH, load="0.1,0.2", cycles=10)),
    "load, techniques": (
        "fine", lambda: nl.simulate(MESH, load=0.1, switching="all", packet_flits=9, **QUICK),
    ),
    "load, techniques overloaded": (
        "act", lambda: nl.simulate(MESH, load=0.9, switching="wormhole,circuit", **QUICK),
    ),
    "saturation": ("limited", lambda: nl.find_saturation("ring:4")),
    "saturation, short": ("unknown", lambda: nl.find_saturation(MESH, most_cycles=2000)),
    "saturation, none": (
        "fine", lambda: nl.find_saturation("line:2", traffic="pairs:0-1", packet_flits=1),
    ),
    "saturation, techniques": (
        "unknown", lambda: nl.find_saturation(MESH, switching="wormhole,circuit", most_cycles=2000),
    ),
    "loop": ("limited", lambda: nl.simulate_loop(applied=0.4, **LOOP)),
    "loop, little": ("fine", lambda: nl.simulate_loop(applied=0.02, **LOOP | {"think": "fixed"})),
    "loop, much": ("act", lambda: nl.simulate_loop(applied=0.95, **LOOP)),
    "loop, several": ("limited", lambda: nl.simulate_loop(applied="0.1,0.4", **LOOP)),
    "loop, flits": (
        "limited", lambda: nl.simulate_loop(MESH, app="transpose:4", applied=0.5, loops=5),
    ),
    "loop, too few loops": (
        "unknown", lambda: nl.simulate_loop(MESH, app="ring:16", applied=0.1, most_cycles=3000),
    ),
    "loop, uniform": (
        "limited",
        lambda: nl.simulate_loop(MESH, app="uniform", applied=0.5, loops=5, engine="worm"),
    ),
    "loop, programs": (
        "limited", lambda: nl.simulate_loop(applied=0.6, **LOOP | {"app": SHARED, "shared": True}),
    ),
    "loop, random mapping": (
        "limited", lambda: nl.simulate_loop(applied=0.4, mapping="random", **LOOP),
    ),
    "transactions": ("limited", lambda: nl.simulate_transactions(**TRANSACTIONS)),
    "transactions, contexts": (
        "limited", lambda: nl.simulate_transactions(**TRANSACTIONS, contexts=4),
    ),
    "transactions, many contexts": (
        "limited", lambda: nl.simulate_transactions(**TRANSACTIONS, contexts=32),
    ),
    "transactions, much computation": (
        "fine", lambda: nl.simulate_transactions(
            "torus:3x3", app="torus:3x3", run_cycles=2000, batch_cycles=30_000),
    ),
    "transactions, none": (
        "limited", lambda: nl.simulate_transactions(**TRANSACTIONS, run_cycles=0),
    ),
    "transactions, slow memory": (
        "limited", lambda: nl.simulate_transactions(**TRANSACTIONS, memory_cycles=50),
    ),
    "transactions, request-reply": (
        "limited", lambda: nl.simulate_transactions(**TRANSACTIONS, protocol="request-reply"),
    ),
    "transactions, far": (
        "limited", lambda: nl.simulate_transactions(
            "torus:4x4", app="torus:4x4", mapping="random", contexts=8, batch_cycles=500),
    ),
    "pattern": (
        "fine", lambda: nl.simulate_pattern(pattern="ab-1nn", message_bytes=100, **PATTERN),
    ),
    "pattern, transpose": ("unlike", lambda: nl.simulate_pattern(**PATTERN)),
    "pattern, no computation": ("unlike", lambda: nl.simulate_pattern(think_us=0, **PATTERN)),
    "pattern, long": (
        "unlike", lambda: nl.simulate_pattern(message_bytes=16_384, think_us=0, **PATTERN),
    ),
    "pattern, larger": (
        "unlike", lambda: nl.simulate_pattern(
            "symult2010:8x8", message_bytes=8192, think_us=0, loops=3),
    ),
    "pattern, diagonal": ("unlike", lambda: nl.simulate_pattern(pattern="diagonal", **PATTERN)),
    "pattern, neighbours": ("unlike", lambda: nl.simulate_pattern(pattern="aa-4nn", **PATTERN)),
    "pattern, several": (
        "unlike",
        lambda: nl.simulate_pattern(message_bytes=[100, 4096], think_us=[0, 900], **PATTERN),
    ),
    "pattern, flows": ("unlike", lambda: nl.simulate_pattern(engine="flow", **PATTERN)),
    "broadcast": ("fine", lambda: nl.simulate_broadcast(rate=0.004, **BROADCAST)),
    "broadcast, several": ("fine", lambda: nl.simulate_broadcast(rate=[0.003, 0.004], **BROADCAST)),
    "broadcast, too much": ("act", lambda: nl.simulate_broadcast(rate=0.2, **BROADCAST)),
    "broadcast, saturates": (
        "limited", lambda: nl.simulate_broadcast(rate=[0.004, 0.2], **BROADCAST),
    ),
    "broadcast, only": (
        "fine", lambda: nl.simulate_broadcast(rate=0.003, **BROADCAST | {"broadcast": 1}),
    ),
    "broadcast, none": (
        "fine", lambda: nl.simulate_broadcast(rate=0.01, **BROADCAST | {"broadcast": 0}),
    ),
    "broadcast, short": (
        "unknown", lambda: nl.simulate_broadcast(rate=0.004, **BROADCAST | {"cycles": 300}),
    ),
    "broadcast, nothing": (
        "unknown", lambda: nl.simulate_broadcast(rate=1e-4, **BROADCAST | {"cycles": 1}),
    ),
    "broadcast, multicast": (
        "fine", lambda: nl.simulate_broadcast(rate=0.004, **BROADCAST, multicast_targets=3),
    ),
}  # fmt: skip
"""Answers, with the mark of each; ``unlike``: any that a number below decides."""


@pytest.fixture(scope="module", params=list(ASKED))
def asked(request):
    return request.param, ASKED[request.param][1]()


@pytest.fixture(scope="module")
def found(asked):
    return asked[1].to_dict()


def test_its_mark_is_what_it_should_be(asked, found):
    expected, verdict = ASKED[asked[0]][0], found["verdict"]
    if expected != "unlike":
        assert verdict["mark"] == expected, verdict
    if verdict["mark"] == "fine":
        assert not re.search(r"short|Interrupted|Overloaded|lose", verdict["sentence"])


def figure(figures, path):
    """A figure of JSON, or of its last point, by a name with dots."""
    for each in path.split("."):
        figures = figures[each]
    return figures


def numbers(sentence):
    """The numbers of a sentence in order; those in percent as shares."""
    sentence = sentence.replace("p99", "")
    found = re.findall(r"(?<![\d:x])(\d[\d,]*(?:\.\d+)?)(\u00a0%)?", sentence)
    return [float(each.replace(",", "")) / (100 if percent else 1) for each, percent in found]


SAID = {
    "load": ("offered", "packet_latency.mean", "zero_load_latency", "packet_latency.p99",
             "utilisation.max"),
    "load, near saturation": ("offered", "packet_latency.mean", None, "zero_load_latency",
                              "utilisation.max"),
    "load, overloaded": ("offered", "backlog.growth"),
    "load, of few packets": ("offered", "packets", "cycles"),
    "load, not precise": ("packet_latency.mean", None, "offered", "zero_load_latency"),
    "load, switches": ("offered", "packet_latency.mean", "zero_load_latency", "packet_latency.p99",
                       "utilisation.max"),
    "saturation": ("saturation_offered", None, None, "throughput_bound.load"),
    "saturation, short": ("saturation_offered", None, None, "throughput_bound.load"),
    "saturation, none": ("saturation_offered",),
    "transactions": ("processor_use", None, "utilisation.max"),
    "transactions, much computation": ("processor_use",),
    "transactions, far": ("processor_use", None, None),
    "broadcast": ("rate", "unicast_latency.mean", "zero_load_latency", "broadcast_latency.mean"),
    "broadcast, none": ("rate", "unicast_latency.mean", "zero_load_latency"),
    "broadcast, only": ("rate", "broadcast_latency.mean"),
    "broadcast, too much": ("rate", "backlog.growth"),
}  # fmt: skip
"""Where the numbers of sentences are in JSON, in order; None: it follows from others."""


def test_the_numbers_of_a_sentence_are_those_of_the_json(asked, found):
    said = numbers(found["verdict"]["sentence"])
    for number, path in zip(said, SAID.get(asked[0], ()), strict=False):
        if path is not None:
            assert number == pytest.approx(figure(found, path), rel=0.05, abs=5e-5), path
    assert len(said) >= len(SAID.get(asked[0], ()))
    if asked[0].startswith("loop") and found["verdict"]["mark"] != "unknown":
        last = found.get("points", [found])[-1]
        kept = [each / last["applied"] for each in last["actual"].values()]
        lost = [min(1 - each, 1) for each in kept[:2]]
        shown = lost if "lose" in found["verdict"]["sentence"] else [1 - each for each in lost]
        assert [said[0], said[-1]] == pytest.approx(shown, rel=0.05)
    if asked[0].startswith("pattern"):
        added = [each["communication_us_mean"] / each["message_us"] - 1 for each in found["points"]]
        assert said[1] == pytest.approx(max(*added, 0), rel=0.05, abs=5e-4)


INTERRUPTED = {
    "load": "Interrupted after 3,000 cycles: not known whether 0.1 is carried.",
    "load, several": "Interrupted after 3,000 cycles: not known whether 0.1 is carried.",
    "saturation": "Interrupted: saturates above ",
    "loop": "Interrupted: ranks lose 22 % of their sending rate so far.",
    "transactions": "Interrupted after 7,500 cycles: processors computed 19 % of the time so far.",
    "pattern": "Interrupted: messages take up to 216 µs so far, 0.037 % longer than alone.",
    "broadcast": "Interrupted after 20,000 cycles: not known whether 0.004 messages/node/cycle ",
}
"""What interrupted answers say, by the answer that was interrupted."""


def test_what_was_interrupted_claims_nothing(asked, found):
    if asked[0] not in INTERRUPTED:
        return
    stopped = deepcopy(found) | {"interrupted": True}
    for point in stopped.get("points", []):
        point["interrupted"] = True
    verdict = by_verb(found["provenance"]["verb"]).read(stopped).verdict
    assert verdict.mark == "unknown"
    assert verdict.sentence.replace("\u00a0", " ").startswith(INTERRUPTED[asked[0]])
    assert verdict.next == "" or verdict.next.startswith("netloom simulate ")


def test_a_queue_that_grows_alone_is_named():
    figures = nl.simulate(MESH, load=0.2, **QUICK).to_dict()
    backlog = {"growth": 0.004, "node": "(3,0)", "node_growth": 0.12}
    verdict = kind_of("simulate.load").read(figures | {"stable": False, "backlog": backlog}).verdict
    assert verdict.mark == "act"
    assert verdict.sentence == (
        "Overloaded: at 0.2 the queue of node (3,0) keeps 12\u00a0% of what the node sends. "
        "No latency exists here."
    )


def test_a_load_above_the_bound_is_too_much_even_in_no_time():
    figures = nl.simulate(MESH, load=1, cycles=10).to_dict()
    assert figures["backlog"]["growth"] is None
    assert figures["verdict"]["mark"] == "act"
    assert figures["verdict"]["sentence"].startswith(
        "Overloaded: 1 flits/node/cycle asked, at most 0.938 can be carried."
    )


def test_what_limits_transactions_is_what_is_busy():
    figures = nl.simulate_transactions(**TRANSACTIONS).to_dict()
    kind = kind_of("simulate.transactions")

    def limit(**changed):
        return kind.read(figures | changed).verdict

    used = figures["utilisation"]
    narrow = limit(utilisation=used | {"max": 0.93})
    assert narrow.sentence.endswith(
        "the busiest link is 93\u00a0% busy, so bandwidth is the limit."
    )
    assert narrow.next.startswith("netloom map torus:3x3 ")
    ends = limit(message_rate=0.75 / figures["message_flits"])
    assert ends.sentence.endswith(
        "the link of each node to its router is the limit, 75\u00a0% busy."
    )
    assert ends.next == ""
    assert limit(processor_use=0.95).mark == "fine"


def test_the_command_that_comes_next_is_understood(found):
    command = found["verdict"]["next"]
    if not command:
        return
    words = shlex.split(command)[1:]
    kind = kind_of("map" if words[0] == "map" else f"simulate.{words[1]}")
    known = {f"--{name.replace('_', '-')}" for name in kind.question.model_fields}
    known |= {f"--{each.name.replace('_', '-')}" for each in kind.outputs}
    assert {each for each in words if each.startswith("--")} <= known


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_no_number_of_a_table_is_cut(asked, width):
    answer = asked[1]
    lines = answer.lines(width)
    assert all(len(line) <= width for line in lines)
    numbers, all_of_them = (
        {each for each in " ".join(some).split() if re.fullmatch(r"[\d,.]+", each)}
        for some in (lines, answer.lines(1000))
    )
    assert numbers == all_of_them


def test_a_channel_with_room_is_not_where_a_network_saturates(tmp_path):
    """Hosts of a leaf send each other much, and the next leaf little."""
    program = tmp_path / "near.csv"
    program.write_text("source,target,bytes\n0,1,1000\n1,0,1000\n0,4,10\n4,0,10\n")
    asked = {"on": "leaf-spine:2x2x4", "precision": 0.2, "packet_flits": 1}
    for app, low in ((str(program), True), ("shift:1", False)):
        data = nl.find_saturation(app=app, **asked).to_dict()
        where = data["verdict"]["lines"]["where"]
        assert where.endswith("no channel between routers is busier") is low


@pytest.mark.parametrize(
    ("length", "said"), [(1, "packets of 1 flit,"), (2, "packets of 2 flits,")]
)
def test_one_flit_is_no_flits(length, said):
    found = nl.simulate("line:2", load=0.1, packet_flits=length, cycles=200)
    assert said in " ".join(found.lines(400))
