"""The network, driven by a program: its messages enter as they are sent, and what waits goes on.

Twin: ``tests/reference/network.py``.
"""

from netloom.base.compilation import inlined, kernel
from netloom.base.held import held
from netloom.simulation.kernels.agenda import ARRIVED, due, first_time, plan
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.kernels.network import deliver, go_on
from netloom.simulation.network.kernels.sources import queue_packet
from netloom.simulation.network.layout import DONE, KINDS, PACKETS_FULL, STUCK, known_of


@inlined
def enter(setup, tables, state, agenda, cycle, packet_flits):
    """Cut the rows sent in this cycle into packets. Return whether there is room for all."""
    clock, counts = record(agenda.clock, 0), record(state.clock, 0)
    while clock.entered < clock.sent:
        index = agenda.sent[unsigned(clock.entered)]
        row = record(agenda.rows, index)
        packets = (row.flits + packet_flits - 1) // packet_flits
        if counts.free_packets < packets:
            return False
        row.packets = packets
        left = row.flits
        for _ in range(packets):
            packet = queue_packet(
                setup, tables, state, row.source, row.target, row.coin, row.path - 1, cycle
            )
            packet.flits = min(left, packet_flits)
            packet.row = index
            left -= packet_flits
        clock.entered += 1
    clock.entered = 0
    clock.sent = 0
    return True


@inlined
def note_arrivals(state, agenda):
    """Note when the tails of messages arrive whose last packet leaves the network."""
    clock = record(state.clock, 0)
    for place in range(clock.logged):
        entry = record(state.log, place)
        row = record(agenda.rows, entry.row)
        row.packets -= 1
        row.hops = entry.hops
        if row.entered < 0 or entry.entry < row.entered:
            row.entered = entry.entry
        if row.packets == 0:
            plan(agenda, entry.arrival, entry.row, ARRIVED)
    clock.logged = 0


@inlined
def skip(setup, state, agenda, until):
    """Go on to the next event where the network has long been empty. Return the cycle."""
    clock = record(state.clock, 0)
    empty = clock.free_packets == len(state.packets)
    if empty and clock.cycle - clock.last_move > setup.wheel:
        after = until
        if record(agenda.clock, 0).events > 0:
            after = min(until, first_time(agenda))
        clock.cycle = max(clock.cycle, after)
    return clock.cycle


def compiled(kind):
    """Return the kernel that runs a network with a program. See ``kernels.network.compiled``.

    ``run(given, table_arrays, arrays, agenda, packet_flits, num_rows, until)`` ends early once all
    rows are complete.
    """
    frozen = known_of(kind)

    @kernel
    def run(given, table_arrays, arrays, agenda, packet_flits, num_rows, until):
        setup, tables, state = held(kind(*(given + frozen))), held(table_arrays), held(arrays)
        clock, counts = record(agenda.clock, 0), record(state.clock, 0)
        while clock.completed < num_rows and counts.cycle < until:
            if clock.sent == 0:
                cycle = skip(setup, state, agenda, until)
                clock.time = cycle
                if cycle == until:
                    break
                clock.sent = due(agenda, cycle)
            cycle = counts.cycle
            stopped = cycle - counts.last_move > setup.patience
            if stopped and counts.free_packets < len(state.packets):
                return STUCK
            if clock.sent > 0 and not enter(setup, tables, state, agenda, cycle, packet_flits):
                return PACKETS_FULL
            deliver(setup, tables, state, cycle)
            go_on(setup, state, cycle)
            note_arrivals(state, agenda)
            counts.cycle = cycle + 1
            clock.time = cycle + 1
        return DONE

    return run


runs = {kind: compiled(kind) for kind in KINDS}
