"""Costs of phases and of messages, by hand."""

from netloom.contention import (
    ConSetCosts,
    MessageCosts,
    conset_clocks,
    pattern_message_passing_clocks,
)


def test_a_switch_is_a_synchronisation_and_a_setup():
    assert ConSetCosts().switch_clocks == 528
    assert conset_clocks([100, 0, 50], ConSetCosts(sync_clocks=10, phase_clocks=5)) == 195
    assert conset_clocks([], ConSetCosts()) == 0


def test_headers_count_in_every_message():
    costs = MessageCosts(send_clocks=10, receive_clocks=20, clocks_per_word=3, header_words=4)
    assert pattern_message_passing_clocks([0, 1], [1, 0], 6, costs) == 30 + 3 * 10


def test_the_busiest_processor_decides():
    """Processor 1 receives 5 + 7 words and sends 9: 2 receipts, 1 sending, 12 words."""
    costs = MessageCosts(send_clocks=100, receive_clocks=10, clocks_per_word=2)
    source, target, words = [0, 2, 1], [1, 1, 3], [5, 7, 9]
    assert pattern_message_passing_clocks(source, target, words, costs) == 120 + 2 * 12
    one_way = pattern_message_passing_clocks(source, target, words, costs, both_ways=False)
    assert one_way == 120 + 2 * (12 + 9)
    assert pattern_message_passing_clocks([], [], [], costs) == 0
