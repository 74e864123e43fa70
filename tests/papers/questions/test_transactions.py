import numpy as np
import pytest

from netloom import simulate_transactions
from netloom.base.errors import InputError
from netloom.workload import process_graph
from netloom_papers.programs.transactions import Protocol, Step, Transaction

QUICK = {"app": "torus:4x4", "run_cycles": 16}


@pytest.mark.parametrize("contexts", [1, 2])
def test_a_context_s_time_is_its_run_and_its_transaction(contexts):
    """Eqs. 2 and 6 of the paper: t_t = (T_r + T_t) / p while the processor is not the limit."""
    found = simulate_transactions("torus:4x4", contexts=contexts, fixed_cycles=400, **QUICK)
    expected = (16 + found.measured.transaction_latency) / contexts
    assert found.measured.inter_transaction_cycles == pytest.approx(expected, rel=0.02)


def test_ranks_of_a_recording_without_edges_have_no_threads():
    lonely = process_graph(20, *np.nonzero(np.eye(16, k=1) + np.eye(16, k=-1)))
    options = {"tasks_per_node": 2, "seed": 3}
    mapping = [*range(16), 0, 1, 2, 3]
    found = simulate_transactions("torus:4x4", app=lonely, mapping=mapping, **options)
    alone = process_graph(16, lonely.source, lonely.target)
    only = simulate_transactions("torus:4x4", app=alone, mapping=mapping[:16], **options)
    assert found.measured.to_json() == only.measured.to_json()
    assert (found.silent_tasks, only.silent_tasks) == (4, 0)
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


def test_a_protocol_of_one_s_own():
    push = Protocol("push", (Transaction("write", (Step("DATA", "thread", 30),)),))
    found = simulate_transactions("torus:4x4", protocol=push, **QUICK)
    assert found.messages_per_transaction == pytest.approx(1, rel=0.02)
    assert found.measured.message_flits == 30
    assert found.distance == 1


def test_channels_carry_what_messages_bring():
    found = simulate_transactions("torus:4x4", **QUICK)
    carried = found.measured.channel_flits.sum()
    offered = found.measured.message_rate * 16 * found.measured.message_flits * found.distance
    assert carried == pytest.approx(offered, rel=0.02)
    assert np.all(found.measured.channel_flits <= 1)


def test_ctrl_c_keeps_the_batches_that_are_complete(ctrl_c_after):
    ctrl_c_after(12)
    found = simulate_transactions("torus:4x4", app="torus:4x4")
    assert found.interrupted
    assert found.to_dict()["messages"] > 0
    said = found.to_dict()["verdict"]
    assert said["mark"] == "unknown"
    assert said["sentence"].startswith("Interrupted after ")
