"""A network without contention, for programs: a message of L flits takes L cycles and its path's.

Processors and dependences are those of ``agenda``.
"""

import numpy as np

from tests.reference.agenda import ARRIVED, FIELDS, Agenda

ROW = np.dtype([(name, np.int64) for name in FIELDS])


class FreeNetwork:
    """The same face as the engines'. ``hops(source, target)`` cycles are added to the flits."""

    def __init__(self, num_nodes, hops=lambda source, target: 1, switch_cycles=0):
        self.agenda = Agenda(num_nodes, switch_cycles)
        self.hops = hops
        self.cycle = 0

    def append(self, table):
        self.agenda.append(table, self.cycle)

    def advance(self, until):
        while self.cycle < until:
            if not self.agenda.events:
                return
            self.cycle = max(self.cycle, self.agenda.events[0][0])
            if self.cycle >= until:
                self.cycle = until
                return
            for number in self.agenda.run(self.cycle):
                row = self.agenda.rows[number]
                taken = row.flits + self.hops(row.source, row.target)
                self.agenda.put(self.cycle + taken, number, ARRIVED)
            self.cycle += 1

    @property
    def rows(self):
        rows = self.agenda.rows
        return np.array([tuple(getattr(row, name) for name in FIELDS) for row in rows], ROW)


def played(source, until, *, step=None, **network):
    """Run a source's program up to a cycle, in parts of ``step`` cycles; return its rows."""
    engine = FreeNetwork(source.num_nodes, **network)
    ends = [*range(step, until, step), until] if step else [until]
    for end in ends:
        engine.append(source.extend(engine.rows["complete"], end))
        engine.advance(end)
    return engine.rows
