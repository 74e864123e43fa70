"""MSCCL XML: what is written is read back, and what is wrong in others' is found."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.algorithms import algorithms_of, collective_program
from netloom.workload.programs.collectives.msccl import NAMES, executed, parse_msccl, write_msccl
from netloom.workload.programs.collectives.program import CollectiveProgram
from netloom.workload.programs.messages import lists
from tests.reference.collectives_checked import check


def run(path):
    """Return a file that has been executed: every GPU has got what the collective means."""
    return executed(parse_msccl(str(path)))


def _carried(program, weights=None):
    """Return what went over each pair of ranks, chunk by chunk."""
    pairs = np.repeat(program.source * program.num_ranks + program.target, program.chunks.lengths)
    return np.bincount(pairs, weights, minlength=program.num_ranks**2).tolist()


def _sent(execution):
    """Return how many chunks went over each pair of GPUs."""
    gpus, sent = execution.found.num_gpus, execution.sent
    pairs = [each.source * gpus + each.target for each in sent]
    return np.bincount(pairs, [len(each.what) for each in sent], minlength=gpus**2).tolist()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.xml"


def _written(path, *collective):
    write_msccl(path, collective_program(*collective))
    return path.read_text()


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(sorted(NAMES)), st.integers(2, 9), st.data())
def test_round_trip(tmp_path_factory, collective, ranks, data):
    algorithm = data.draw(st.sampled_from(algorithms_of(collective)))
    try:
        program = collective_program(collective, algorithm, ranks)
    except InputError:  # an algorithm of other numbers of ranks
        return
    path = tmp_path_factory.mktemp("msccl") / "a.xml"
    write_msccl(path, program)
    execution = run(path)
    found = execution.found
    assert (found.collective, found.name, found.num_gpus) == (collective, "netloom", ranks)
    assert _sent(execution) == _carried(program)


def test_all_that_parsers_demand_is_there(path):
    text = _written(path, "reduce-scatter", "ring", 4)
    head, gpu, block, step = (
        re.search(rf"<{tag} ([^>/]*)/?>", text).group(1) for tag in ("algo", "gpu", "tb", "step")
    )
    keys = [re.findall(r'(\w+)="', each) for each in (head, gpu, block, step)]
    assert keys == [
        ["name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace",
         "minBytes", "maxBytes"],
        ["id", "i_chunks", "o_chunks", "s_chunks"],
        ["id", "send", "recv", "chan"],
        ["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"],
    ]  # fmt: skip
    assert 'nchunksperloop="4"' in head
    assert 'coll="reduce_scatter"' in head
    assert gpu == 'id="0" i_chunks="4" o_chunks="1" s_chunks="4"'
    assert " />" not in text


def test_a_wait_that_follows_others_is_on_the_step_itself(path):
    """Parsers refuse steps that wait only by the nops before them."""
    text = _written(path, "all-reduce", "rabenseifner", 8)
    steps = re.findall(r'type="(\w+)".*depid="(-?\d+)"', text)
    assert any(kind == "nop" for kind, _ in steps)
    for (kind, _), (_, waits) in pairwise(steps):
        assert kind != "nop" or waits != "-1"


def test_more_messages_than_a_connection_holds(path):
    """Two ranks exchange 40 chunks in a step, no two of which lie beside each other."""
    even, odd = list(range(0, 80, 2)), list(range(1, 80, 2))
    everybody = np.full(80, -1, np.int32)
    both = CollectiveProgram(
        "all-reduce", "exchange", 2, np.full(80, 1 / 80), 0, np.int32([0, 1, 0, 1]),
        np.int32([1, 0, 1, 0]), np.int32([0, 0, 1, 1]), lists([even, even, odd, odd]),
        np.ones(4, np.bool_), everybody, everybody.copy(),
    )  # fmt: skip
    check(both)
    write_msccl(path, both)
    assert path.read_text().count('type="rrc"') == 160
    assert _sent(run(path)) == _carried(both)


def _two(first, second, coll="allgather", inplace=0):
    """Return an XML of two GPUs, whose thread blocks have these steps, and one cell of each."""
    lines = [
        f'<algo name="two" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="{coll}" '
        f'inplace="{inplace}">'
    ]
    for gpu, steps in enumerate((first, second)):
        lines.append(f'<gpu id="{gpu}" i_chunks="1" o_chunks="2" s_chunks="1">')
        lines.append(f'<tb id="0" send="{1 - gpu}" recv="{1 - gpu}" chan="0">')
        for place, (kind, source, target) in enumerate(steps):
            lines.append(
                f'<step s="{place}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" '
                f'dstbuf="{target[0]}" dstoff="{target[1]}" cnt="1" depid="-1" deps="-1" '
                'hasdep="0"/>'
            )
        lines.append("</tb></gpu>")
    return "\n".join([*lines, "</algo>"])


def _gather(gpu):
    return [("cpy", "i0", f"o{gpu}"), ("s", "i0", f"o{gpu}"), ("r", "i0", f"o{1 - gpu}")]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (_gather(0)[::-1], _gather(1)[::-1], "xml:4: found a deadlock: GPU 0, thread block 0 "
         r"\(receives from GPU 1\) -> GPU 1, thread block 0 \(receives from GPU 0\) -> GPU 0, "),
        (_gather(0), [_gather(1)[0], _gather(1)[2]],
         r"GPU 0, thread block 0 \(receives from GPU 1\) -> GPU 1, thread block 0 \(has ended\)"),
        (_gather(0)[1:], _gather(1)[1:], r"end \(GPUs left unserved: 0 and 1\); expected chunk 0"),
        (_gather(0)[:2], _gather(1), "xml:10: found a message to GPU 0 that it never receives"),
        (_gather(0)[1:], _gather(1), "nothing in output 0 of GPU 0 in the end; expected chunk 0"),
        ([_gather(0)[0], ("s", "o1", "o0"), _gather(0)[2]], _gather(1),
         "xml:5: found o 1 of GPU 0, which is empty"),
        (_gather(0), [*_gather(1), ("cpy", "o0", "o1")], "chunk 0 of 1 GPUs in output 1 of GPU 1"),
        (_gather(0), [*_gather(1), ("re", "o0", "o1")], "a sum of chunks 1 and 0"),
        (_gather(0), [*_gather(1), ("re", "o1", "o1")], "contribution of GPU 1 to chunk 1 twice"),
    ],
)  # fmt: skip
def test_what_does_not_work_is_found(path, first, second, said):
    path.write_text(_two(first, second))
    with pytest.raises(InputError, match=said):
        run(path)


def test_a_connection_that_is_full_stops_its_sender(path):
    """GPU 0 sends 9 messages before it receives any, GPU 1 too: neither has room for the ninth."""

    def write(many):
        steps = [[copy, *[send] * many, *[get] * many] for copy, send, get in map(_gather, (0, 1))]
        path.write_text(_two(*steps))

    write(8)
    assert len(run(path).sent) == 16
    write(9)
    with pytest.raises(InputError, match="sends to GPU 1, which holds 8 messages"):
        run(path)


def test_messages_wait_for_what_their_thread_blocks_wait_for(path):
    """A ring all-gather: each sends what it has just received, one message after the other."""
    _written(path, "all-gather", "ring", 4)
    execution = run(path)
    assert execution.depth == 3
    assert execution.trace(4000).flits.tolist() == [1000.0] * 12
    sent = execution.sent
    for message, after in ((each, each.after) for each in sent):
        own = [each for each in after if sent[each].source == message.source]
        came = [each for each in after if sent[each].target == message.source]
        assert len(own) == len(came) == (len(after) > 0)


def test_sums_made_after_a_message_has_come(path):
    """A reduce-scatter through scratch: received first, added later."""
    steps = [
        [("s", f"i{1 - gpu}", "s0"), ("r", "i0", "s0"), ("re", "s0", f"i{gpu}"),
         ("cpy", f"i{gpu}", "o0")]
        for gpu in range(2)
    ]  # fmt: skip
    text = _two(*steps, coll="reducescatter")
    path.write_text(text.replace('i_chunks="1" o_chunks="2"', 'i_chunks="2" o_chunks="1"'))
    assert run(path).found.collective == "reduce-scatter"


def test_steps_that_receive_and_send_at_once(path):
    """A ring all-reduce of three GPUs in place, of rrs, rrcs and rcs."""
    lines = [
        '<algo name="fused" proto="LL" nchannels="1" nchunksperloop="3" ngpus="3" '
        'coll="allreduce" inplace="1">'
    ]
    for gpu in range(3):
        lines.append(f'<gpu id="{gpu}" i_chunks="3" o_chunks="0" s_chunks="0">')
        lines.append(f'<tb id="0" send="{(gpu + 1) % 3}" recv="{(gpu - 1) % 3}" chan="0">')
        for place, kind in enumerate(("s", "rrs", "rrcs", "rcs", "r")):
            at = f'srcbuf="i" srcoff="{(gpu - place) % 3}" dstbuf="i" dstoff="{(gpu - place) % 3}"'
            lines.append(
                f'<step s="{place}" type="{kind}" {at} cnt="1" depid="-1" deps="-1" hasdep="0"/>'
            )
        lines.append("</tb></gpu>")
    text = "\n".join([*lines, "</algo>"])
    path.write_text(text)
    execution = run(path)
    assert (len(execution.sent), execution.depth) == (12, 4)
    path.write_text(text.replace('type="rrcs"', 'type="rrs"'))
    with pytest.raises(InputError, match="chunk 1 of 1 GPUs in output 1 of GPU 0 in the end"):
        run(path)


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("all-gather", "bruck"), ("all-to-all", "bruck"), ("reduce-scatter", "ring")],
)
def test_every_wait_of_these_is_needed(path, collective, algorithm):
    """Without any one of them the file races, deadlocks or sends what is not there."""
    text = _written(path, collective, algorithm, 4)
    waits = [found.span() for found in re.finditer(r'depid="\d+" deps="\d+"', text)]
    assert waits
    for begin, end in waits:
        path.write_text(text[:begin] + 'depid="-1" deps="-1"' + text[end:])
        with pytest.raises(InputError):
            run(path)


def test_a_race_is_found(path):
    text = _two(_gather(0), _gather(1)).replace(
        "</tb></gpu>",
        '</tb><tb id="1" send="-1" recv="-1" chan="0"><step s="0" type="cpy" srcbuf="i" srcoff="0" '
        'dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>',
        1,
    )
    path.write_text(text)
    with pytest.raises(InputError, match="xml:7: found a race with line 4, which touches"):
        run(path)


def test_chunks_of_different_sizes_are_cut_into_equal_ones(path):
    ring = collective_program("all-reduce", "ring", 4)
    odd = replace(ring, chunk_size=np.array([0.1, 0.2, 0.3, 0.4]))
    write_msccl(path, odd)
    execution = run(path)
    assert execution.found.per_loop == 10
    sent = _carried(odd, odd.chunk_size[odd.chunks.values])
    assert np.array(_sent(execution)) / 10 == pytest.approx(sent)
