import json

import numpy as np
import pytest

from netloom import simulate_transactions
from netloom.base.errors import InputError
from netloom.questions.recorded import record
from netloom.workload import process_graph
from netloom_papers.programs.transactions import Protocol, Step, Transaction

QUICK = {"app": "torus:4x4", "run_cycles": 16}


def test_the_protocol_s_messages_and_lengths_come_out():
    found = simulate_transactions("torus:4x4", **QUICK)
    assert found.messages_per_transaction == pytest.approx(3.2, rel=0.02)
    assert found.message_flits == pytest.approx(12, rel=0.02)
    assert found.distance == 1


@pytest.mark.parametrize("contexts", [1, 2])
def test_a_context_s_time_is_its_run_and_its_transaction(contexts):
    """Eqs. 2 and 6 of the paper: t_t = (T_r + T_t) / p while the processor is not the limit."""
    found = simulate_transactions("torus:4x4", contexts=contexts, fixed_cycles=400, **QUICK)
    expected = (16 + found.measured.transaction_latency) / contexts
    assert found.measured.inter_transaction_cycles == pytest.approx(expected, rel=0.02)


def test_with_contexts_enough_the_processor_is_the_limit():
    """Eq. 4: a transaction every T_r + T_s cycles."""
    found = simulate_transactions(
        "torus:4x4", app="torus:4x4", run_cycles=400, contexts=4, switch_cycles=11
    )
    assert found.measured.inter_transaction_cycles == pytest.approx(411, rel=0.01)
    assert found.processor_use == pytest.approx(400 / 411, rel=0.01)


def test_processors_that_wait_switch_meanwhile():
    """Eq. 5: the switches of two contexts are hidden while both wait, as the model has it."""
    found, without = (
        simulate_transactions(
            "torus:4x4", app="torus:4x4", contexts=2, fixed_cycles=400, switch_cycles=switch
        )
        for switch in (22, 0)
    )
    expected = (16 + found.measured.transaction_latency) / 2
    assert found.measured.inter_transaction_cycles == pytest.approx(expected, rel=0.02)
    assert found.measured.inter_transaction_cycles == pytest.approx(
        without.measured.inter_transaction_cycles, rel=0.02
    )


def test_ranks_of_a_recording_without_edges_have_no_threads():
    lonely = process_graph(20, *np.nonzero(np.eye(16, k=1) + np.eye(16, k=-1)))
    options = {"tasks_per_node": 2, "seed": 3}
    mapping = [*range(16), 0, 1, 2, 3]
    found = simulate_transactions("torus:4x4", app=lonely, mapping=mapping, **options)
    alone = process_graph(16, lonely.source, lonely.target)
    only = simulate_transactions("torus:4x4", app=alone, mapping=mapping[:16], **options)
    assert found.measured.to_json() == only.measured.to_json()
    assert (found.silent_tasks, only.silent_tasks) == (4, 0)
    assert found.to_dict()["silent_tasks"] == 4
    assert found.silent_tasks == 4
    with pytest.raises(InputError, match="nothing sent between tasks of different nodes"):
        simulate_transactions("torus:4x4", app="ring:2", mapping=[0, 0], tasks_per_node=2)


def test_on_a_network_without_contention_latency_is_that_of_the_messages():
    """One pair on a ring of worms: REQ and DATA of 12 flits over one hop take 14 cycles each."""
    found = simulate_transactions(
        "line:2", app="ring:2", engine="worm", protocol="request-reply", run_cycles=10_000,
        memory_cycles=100,
    )  # fmt: skip
    assert found.measured.message_latency == 14
    assert found.measured.transaction_latency == 14 + 100 + 14
    assert found.measured.inter_transaction_cycles == pytest.approx(10_128, rel=0.02)


def test_further_tasks_wait_longer():
    near, far = (
        simulate_transactions("torus:8x8", app="torus:8x8", mapping=mapping)
        for mapping in ("identity", "distance:4")
    )
    assert far.distance == pytest.approx(4, rel=0.02)
    assert far.measured.message_latency > near.measured.message_latency + 3 * 3
    assert far.measured.inter_transaction_cycles > near.measured.inter_transaction_cycles


def test_a_protocol_of_one_s_own():
    push = Protocol("push", (Transaction("write", (Step("DATA", "thread", 30),)),))
    found = simulate_transactions("torus:4x4", protocol=push, **QUICK)
    assert found.messages_per_transaction == pytest.approx(1, rel=0.02)
    assert found.message_flits == 30


def test_the_answer_is_plain_and_can_be_asked_again():
    found = simulate_transactions("torus:4x4", contexts=2, seed=5, **QUICK)
    data = json.loads(json.dumps(found.to_dict()))
    promised = {"message_rate", "message_latency", "inter_transaction_cycles", "contexts", "seed"}
    assert promised <= data.keys()
    again = simulate_transactions(**data["provenance"]["configuration"])
    assert again.measured.to_json() == found.measured.to_json()
    assert 0 < data["message_latency_ci95"] < 0.1 * data["message_latency"]
    assert found.sentences()[0] in repr(found)
    (said,) = record(found).answer.sentences()
    use = f"{100 * data['processor_use']:.2g}\u00a0%"
    assert said.startswith(f"Processors compute {use} of the time")


def test_channels_carry_what_messages_bring():
    found = simulate_transactions("torus:4x4", **QUICK)
    carried = found.run.channel_flits.sum()
    offered = found.measured.message_rate * 16 * found.message_flits * found.distance
    assert carried == pytest.approx(offered, rel=0.02)
    assert np.all(found.run.channel_flits <= 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"app": None}, "app"),
        ({"contexts": 0}, "contexts"),
        ({"protocol": "gossip"}, "protocol"),
        ({"run_cycles": float("nan")}, "run_cycles"),
        ({"most_cycles": 100}, "most_cycles"),
        ({"engine": "worm", "vcs": 2}, "vcs"),
        ({"arbitration": "fifo"}, "arbitration"),
    ],
)
def test_what_cannot_be_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        simulate_transactions("torus:4x4", **QUICK | wrong)


def test_ctrl_c_keeps_the_batches_that_are_complete(ctrl_c_after):
    ctrl_c_after(12)
    found = simulate_transactions("torus:4x4", app="torus:4x4")
    assert found.interrupted
    assert found.to_dict()["messages"] > 0
    said = found.to_dict()["verdict"]
    assert said["mark"] == "unknown"
    assert said["sentence"].startswith("Interrupted after ")


def test_ctrl_c_before_anything_is_known_is_ctrl_c(ctrl_c_after):
    ctrl_c_after(3)
    with pytest.raises(KeyboardInterrupt):
        simulate_transactions("torus:4x4", app="torus:4x4")
