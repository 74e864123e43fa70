"""An engine that forgets: the rows of a program that goes on, from the oldest that is not complete.

Rows, classes and times count from the first that are kept, so that numbers stay small and times
precise however long a run is, and two moments can be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.flow.engine import ROUNDING, TIMES, FlowEngine

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.simulation.flow.layout import Records


class Moment(NamedTuple):
    """All that the future of a run depends on, relative to its time.

    ``numbers``: how far rows have come, and what is next. ``times``: when things happen next, and
    since when rows have been ready. ``parts``: the part of each size that is left.
    """

    numbers: Ints
    times: Floats
    parts: Floats

    def is_like(self, other: Moment, elapsed: float) -> bool:
        """Return whether two moments are the same but for rounding.

        Times may differ by ``ROUNDING`` of the time ``elapsed`` between them.
        """
        return (
            np.array_equal(self.numbers, other.numbers)
            and len(self.times) == len(other.times)
            and len(self.parts) == len(other.parts)
            and bool((np.abs(self.times - other.times) <= ROUNDING * elapsed).all())
            and bool((np.abs(self.parts - other.parts) <= ROUNDING).all())
        )


class Window(FlowEngine):
    """A flow engine whose first rows and classes can be dropped."""

    def outline(self, first: int) -> tuple[int, int, int]:
        """Return how many rows there are from one on, events and classes that run."""
        return self.num_rows - first, int(self.state.clock["events"][0]), self.active

    def moment(self, first: int, base: int) -> Moment:
        """Return what the future depends on, rows that will be appended aside.

        ``first``: the first row that counts, all before are complete. ``base``: its first class.
        """
        state, rows, now = self.state, self.rows[first:], self.time
        stage = sum((rows[name] >= 0).astype(np.int64) for name in TIMES)
        waits = (rows["sent"] >= 0) & (rows["entered"] < 0)
        moves = (rows["entered"] >= 0) & (rows["arrived"] < 0)
        open_ = rows["complete"] < 0
        queues, events = state.queues, self._events()
        owner = state.classes[rows["path"][moves]]
        served = owner["served"] + owner["speed"] * (now - owner["since"])
        return Moment(
            numbers=np.concatenate([
                stage, rows["pending"], np.where(open_, rows["path"] - base, -1),
                np.where(waits, rows["right"] - first, -1),
                np.maximum(queues["head"] - first, -1),
                np.where(queues["head"] >= 0, queues["tail"] - first, -1), queues["busy"],
                events["code"] - (first << 3),
            ]),
            times=np.concatenate([
                events["time"] - now, np.maximum(state.hosts["free"] - now, 0),
                np.where(waits, np.maximum(rows["sent"] + rows["latency"] - now, 0), 0),
                np.where(rows["ready"] >= 0, now - rows["ready"], 0),
            ]),
            parts=np.append(
                (rows["goal"][moves] - served) / rows["size"][moves],
                np.where(open_, rows["size"], 0),
            ),
        )  # fmt: skip

    def _events(self) -> Records:
        """All events in their order."""
        state = self.state
        events = state.events[: int(state.clock["events"][0])]
        return events[np.lexsort((events["code"], events["time"]))]

    def forget(self, rows: int, classes: int, earlier: float) -> None:
        """Drop the first rows, all complete, and the first classes. Set all times back.

        The classes must be of dropped rows only. ``earlier``: at most the first time of those kept.
        """
        state, clock = self.state, self.state.clock
        assert (self.rows["complete"][:rows] >= 0).all()
        events = self._events()
        events["time"] -= earlier
        events["code"] -= rows << 3
        state.events[: len(events)] = events
        state.hosts["free"] -= earlier
        for name in ("head", "tail"):
            _less(state.queues, name, rows)
        clock["completed"] -= rows
        clock["time"] -= earlier
        clock["horizon"] -= earlier
        _less(state.classes, "flow", rows)
        for name in ("key", "since"):
            state.classes[name] -= earlier
        self._forget_rows(rows, classes, earlier)
        if classes:
            self._forget_classes(classes)
        self._sort_ends()

    def _forget_rows(self, count: int, classes: int, earlier: float) -> None:
        state = self.state
        edge = int(np.searchsorted(state.edge_row[: self._num_edges], count))
        more = self._num_edges - edge
        state.edge_row[:more] = state.edge_row[edge : self._num_edges] - count
        state.edge_next[:more] = np.maximum(state.edge_next[edge : self._num_edges] - edge, -1)
        self._num_edges = more
        kept = self.rows[count:].copy()
        state.rows[len(kept) : self.num_rows] = np.zeros(1, state.rows.dtype)
        self.num_rows = len(kept)
        for name in TIMES:
            kept[name] -= np.where(kept[name] >= 0, earlier, 0.0)
        kept["start"] = np.maximum(kept["start"] - earlier, 0)
        for name, less in (
            ("left", count), ("right", count), ("last", count), ("waiters", edge), ("path", classes)
        ):  # fmt: skip
            _less(kept, name, less)
        state.rows[: len(kept)] = kept

    def _forget_classes(self, count: int) -> None:
        state = self.state
        hops = int(state.classes["hops"][:count].sum(dtype=np.int64))
        state.entries["owner"] -= count
        state.entries["hop"] -= hops
        near, far = int(state.clock["near"][0]), int(state.clock["far"][0])
        state.near[:near] -= count
        state.far[:far] -= count
        classes = state.classes[count:].copy()
        classes["first"] -= hops
        self.state = state._replace(
            classes=classes,
            hop_link=state.hop_link[hops:].copy(),
            hop_share=state.hop_share[hops:].copy(),
            hop_place=state.hop_place[hops:].copy(),
        )

    def _sort_ends(self) -> None:
        """Put classes in the order of their ends: times set back may be equal that were not."""
        state = self.state
        near = int(state.clock["near"][0])
        ends = np.sort(state.near[:near])
        ends = ends[np.argsort(state.classes["key"][ends], kind="stable")]
        state.near[:near] = ends
        state.classes["place"][ends] = np.arange(near)


def _less(records: Records, name: str, count: int) -> None:
    """Let numbers count from another on. Those before are none."""
    records[name] = np.where(records[name] >= count, records[name] - count, -1)
