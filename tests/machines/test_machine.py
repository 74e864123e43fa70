"""The machines' figures, their sources, and the worked example of Chittor 1991, section 4.3."""

import numpy as np
import pytest

from netloom.machines import machine, machine_names
from netloom.topology import Cube


def test_worked_example_of_a_4_kb_message_on_the_symult():
    symult = machine("symult2010")
    message_us = symult.message_time_us(4096)
    assert message_us == pytest.approx(839.35, abs=0.01)
    applied = 4096 / symult.bandwidth_bytes_per_us / (1000 + 2 * message_us)
    assert applied == pytest.approx(0.076455, abs=1e-6)


def test_times_change_where_messages_are_cut_into_packets():
    times = machine("symult2010").message_time_us([0, 256, 257])
    assert times == pytest.approx([210.9, 225.6712, 249.6752])


def test_only_hops_after_the_first_add_to_the_measured_time():
    symult = machine("symult2010")
    times = symult.message_time_us(np.array([[1], [4096]]), [0, 1, 22])
    assert times.shape == (2, 3)
    assert (times - times[:, :1]).round(6).tolist() == [[0, 0, 2.1]] * 2


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_names_its_sources_and_builds_its_kind_of_network(name):
    found = machine(name)
    assert found.source
    assert found.notes
    assert found.bandwidth_bytes_per_us > 0
    assert found.duplex in {"full", "half"}
    if found.computer is not None:
        assert found.network().num_hosts == found.computer.gpus
        return
    small = machine(f"{name}:" + "x".join("3" * len(found.wraps))).network()
    assert isinstance(small.routers, Cube)
    assert small.wraps == found.wraps if small.direct else small.num_hosts == 27


def test_routers_of_machines_keep_to_what_is_published():
    symult, bluegene = machine("symult2010"), machine("bluegene-p")
    assert symult.router.vcs == 1
    hop_cycles = symult.router.router_cycles + symult.router.channel_cycles
    assert hop_cycles * symult.cycle_us == pytest.approx(symult.hop_us)
    times = symult.router.timing()
    assert symult.router.buffer_flits == times.flit + times.credit, "a channel is kept busy"
    assert bluegene.router.buffer_flits * bluegene.flit_bytes == 1024
    assert bluegene.router.whole_packets
    assert machine("tofu-d").router is None


def test_iwarp_sends_messages_as_its_paper_predicts():
    iwarp = machine("iwarp")
    clock_us = 0.05
    # table 1: 4 messages of 256 words to neighbours take 5248 clocks
    assert 4 * iwarp.message_time_us(256 * 4) / clock_us == pytest.approx(5248)
    assert iwarp.cycle_us == pytest.approx(2 * clock_us), "2 clocks a word on a channel"
    times = iwarp.router.timing()
    assert times.flit * iwarp.cycle_us == pytest.approx(iwarp.hop_us)
    assert iwarp.router.buffer_flits == times.flit + times.credit, "a channel is kept busy"
