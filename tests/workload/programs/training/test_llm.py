"""Training steps by name: closed forms of every volume, groups, and the order of a step."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.workload import process_graph, read
from netloom.workload.programs.training import rank_trace
from netloom.workload.programs.training.llm import in_turn, parse_llm, volumes

FLOW = {"engine": "flow", "bandwidth": "100GB/s", "latency": "1us"}
E = 2  # bytes of a value in bf16


def spec(**said: Any) -> str:
    return "llm:" + ",".join(f"{name}={value}" for name, value in said.items())


def test_each_volume_is_its_closed_form() -> None:
    s, b, h, layers, m = 2048, 3, 1024, 8, 5
    common = {"seq": s, "batch": b, "hidden": h, "layers": layers, "micro_batches": m}
    found = {
        (each.name, each.collective): (each.groups.shape, each.size_bytes, each.times)
        for each in volumes(parse_llm(spec(dp=2, tp=4, pp=2, **common)))
    }
    act = b * s * h * E
    stage = layers // 2 * 12 * h * h // 4 * E
    assert found == {
        ("tp", "all-reduce"): ((2, 4), act, 4 * layers // 2 * m),  # of each stage
        ("pp", "send"): ((2 * 8, 2), act / 4, m),
        ("all", "reduce-scatter"): ((4, 2), stage, 1),
        ("all", "all-gather"): ((4, 2), stage, 1),
    }
    found = {
        (each.name, each.collective): (each.size_bytes, each.times)
        for each in volumes(parse_llm(spec(tp=2, cp=4, sp=1, kv=256, grads="fp32", **common)))
    }
    weights = layers * (2 * h * h + 2 * h * 256 + 8 * h * h) / 2
    assert found == {
        ("tp", "all-gather"): (act / 4, 4 * layers * m),
        ("tp", "reduce-scatter"): (act / 4, 4 * layers * m),
        ("cp", "all-gather"): (2 * b * s * 256 * E / 2, 2 * layers * m),
        ("cp", "reduce-scatter"): (2 * b * s * 256 * E / 2, layers * m),
        ("all", "reduce-scatter"): (4 * weights, 1),
        ("all", "all-gather"): (2 * weights, 1),
    }


def test_experts_send_tokens_times_top_k() -> None:
    said = {"dp": 8, "ep": 4, "layers": 4, "moe_every": 2, "experts": 8, "top_k": 2}
    model = parse_llm(spec(**said, hidden=512, seq=1024, micro_batches=3, tp=2))
    buffer = 1024 * 512 * E / 2 * 2  # tokens of a tensor rank, each to two experts
    found = [each for each in volumes(model) if each.name == "ep"]
    # Two layers have experts; two all-to-alls forward and two backward in each micro-batch.
    assert [(each.size_bytes, each.times) for each in found] == [(buffer, 2 * 4 * 3)]
    assert all(each.groups.shape == (4, 4) for each in found)  # 16 ranks in groups of 4
    summed = [each for each in volumes(model) if each.collective == "reduce-scatter"]
    both = {each.name: each.size_bytes for each in summed}
    per_expert = 2 * 512 * 4 * 512
    assert both["expert"] == 2 * 8 * per_expert / 4 / 2 * E
    assert both["all"] == (4 * 4 * 512**2 + 2 * per_expert) / 2 * E


def test_skew_is_of_popularity_and_moves_from_layer_to_layer() -> None:
    model = parse_llm(spec(dp=4, ep=4, layers=3, experts=8, hidden=64, skew=1.0))
    weight = [1 / i for i in range(1, 9)]
    shares = [sum(weight[k : k + 2]) / sum(weight) for k in range(0, 8, 2)]
    assert model.shares(0) == pytest.approx(shares)
    assert model.shares(1)[0] == pytest.approx((weight[7] + weight[0]) / sum(weight))
    there, back = (model.pair_bytes(0, back=way) for way in (False, True))
    assert there.sum(axis=1) == pytest.approx([model.dispatch_bytes] * 4)
    assert back == pytest.approx(there.T)
    even = read(spec(dp=4, ep=4, layers=3, experts=8, hidden=64))
    skewed = read(spec(dp=4, ep=4, layers=3, experts=8, hidden=64, skew=1.0))
    assert skewed.bytes.max() > even.bytes.max()


def test_ranks_are_numbered_in_order() -> None:
    model = parse_llm(spec(dp=2, tp=2, pp=2, cp=2, layers=2, hidden=8))
    assert model.groups("tp").tolist()[:2] == [[0, 1], [2, 3]]
    assert model.groups("cp").tolist()[:2] == [[0, 2], [1, 3]]
    assert model.groups("dp").tolist()[:2] == [[0, 4], [1, 5]]
    assert model.groups("pp").tolist()[:2] == [[0, 8], [1, 9]]
    other = parse_llm(spec(dp=2, tp=2, pp=2, cp=2, layers=2, hidden=8, order="pp-dp-cp-tp"))
    assert other.groups("pp").tolist()[0] == [0, 1]
    assert other.groups("tp").tolist()[0] == [0, 8]
    experts = parse_llm(spec(dp=4, ep=2, layers=1, hidden=8, experts=2))
    assert experts.groups("ep").tolist() == [[0, 1], [2, 3]]
    assert experts.groups("dp").tolist() == [[0, 2], [1, 3]]


SIDES = st.sampled_from([1, 2, 3, 4])


@settings(max_examples=25, deadline=None)
@given(
    dp=SIDES, tp=SIDES, pp=st.sampled_from([1, 2]), cp=st.sampled_from([1, 2]),
    ep=st.sampled_from([1, 2]), sp=st.sampled_from([0, 1]), skew=st.sampled_from([0, 0.5]),
    batches=st.integers(1, 4), order=st.permutations(["tp", "cp", "ep", "dp", "pp"]),
    moe=st.integers(1, 2), chosen=st.sampled_from(["ring", "bruck", "linear"]),
)  # fmt: skip
def test_the_step_sends_what_the_graph_says(
    dp: int, tp: int, pp: int, cp: int, ep: int, sp: int, skew: float,
    batches: int, order: list[str], moe: int, chosen: str,
) -> None:  # fmt: skip
    """Two ways to the same bytes: all messages of the step, and volumes times algorithms."""
    name = spec(
        dp=dp * ep, tp=tp, pp=pp, cp=cp, ep=ep, sp=sp, skew=skew, layers=2 * pp, hidden=96,
        seq=48, experts=4, moe_every=moe, micro_batches=batches, order="-".join(order),
        **{"all-gather": chosen},
    )  # fmt: skip
    step, graph = rank_trace(name), read(name)
    assert step.num_tasks == graph.num_tasks == dp * ep * tp * pp * cp
    sent = step.flits > 0
    found = process_graph(
        step.num_tasks, step.source[sent], step.targets.values, bytes=step.flits[sent]
    )
    assert (found.source == graph.source).all()
    assert (found.target == graph.target).all()
    assert found.bytes == pytest.approx(graph.bytes)
    assert found.messages == pytest.approx(graph.messages)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("batches", [1, 3, 8])
def test_one_forward_one_backward(stages: int, batches: int) -> None:
    for stage in range(stages):
        done = list(in_turn(stage, stages, batches))
        assert Counter(done) == dict.fromkeys(((f, n) for f in (0, 1) for n in range(batches)), 1)
        running = np.cumsum([1 if forward else -1 for forward, _ in done])
        assert running.max() == min(stages - stage, batches)  # activations that are kept


def test_a_pipeline_has_the_bubble_of_its_formula() -> None:
    """(m + p − 1)(f + b), but for messages: Narayanan et al. 2021, section 2.2."""
    p, m = 4, 8
    said = {"pp": p, "micro_batches": m, "layers": 4, "hidden": 1024, "seq": 1024}
    ideal = nl.replay("line:4", trace=spec(**said, tflops=1), **FLOW).finish
    s = h = 1024
    forward = (2 * s * 12 * h * h + 4 * s * s * h) / 1e12
    handed = s * h * E / 100e9 + 1e-6
    assert ideal == pytest.approx((m + p - 1) * 3 * forward, abs=4 * (m + p) * handed)
    assert ideal > (m + p - 1) * 3 * forward


def test_data_parallelism_takes_two_rings() -> None:
    found = nl.replay("ring:8", trace=spec(dp=8, layers=2, hidden=1024), **FLOW).finish
    size = 2 * 12 * 1024**2 * E
    assert found == pytest.approx(2 * 7 * (size / 8 / 100e9 + 1e-6))


def test_programs_run_on_other_engines_and_are_mapped() -> None:
    name = spec(dp=2, tp=2, layers=1, hidden=64, seq=16)
    found = nl.replay(
        "torus:2x2", trace=name, router="single-cycle", bandwidth="1GB/s", flit_bytes=64
    )
    assert found.finish > 0
    assert nl.analyze(name, "torus:2x2").graph.bytes.sum() == pytest.approx(read(name).bytes.sum())
