"""MSCCL XML as a trace: its messages, and what its thread blocks make them wait for."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.msccl_running import all_sent
from netloom.workload.programs.many_lists import lists
from netloom.workload.programs.traces import MOST_LENGTH, Trace

if TYPE_CHECKING:
    from netloom.workload.programs.collectives.msccl_parsing import Algorithm
    from netloom.workload.programs.collectives.msccl_running import Sent


@dataclass(frozen=True, eq=False)
class Execution:
    """An MSCCL file that has been executed on data, and does what its collective means.

    Attributes
    ----------
    found
        What the file says.
    sent
        Its messages, in an order in which they may be sent.
    """

    found: Algorithm
    sent: list[Sent]

    @property
    def depth(self) -> int:
        """The most messages that wait for each other, one after the other."""
        depth = np.zeros(len(self.sent), np.int64)
        for number, message in enumerate(self.sent):
            depth[number] = 1 + max((int(depth[each]) for each in message.after), default=0)
        return int(depth.max(initial=0))

    def padded_bytes(self, size_bytes: float) -> int:
        """Return the least size of at least this whose chunks are whole bytes.

        Raises
        ------
        InputError
            If there is no such size.
        """
        if not 0 < size_bytes <= MOST_LENGTH:
            raise InputError("size", f"{size_bytes:g} bytes", f"above 0, up to {MOST_LENGTH:g}")
        return ceil(size_bytes / self.found.per_loop) * self.found.per_loop

    def trace(self, size_bytes: float) -> Trace:
        """Return it as a trace in bytes and seconds, whose tasks are GPUs.

        ``size_bytes`` is that of the collective, as ``CollectiveProgram`` has it, and padded. See
        ``msccl_waits`` for what a message waits for. Copies and sums within a GPU take no time.

        Raises
        ------
        InputError
            If there is no such size.
        """
        sent, count = self.sent, len(self.sent)
        nothing = np.zeros(count)
        chunk = self.padded_bytes(size_bytes) / self.found.per_loop
        return Trace(
            Path(self.found.path).name,
            self.found.num_gpus,
            tuple(f"{number} (line {each.line})" for number, each in enumerate(sent)),
            start=nothing,
            run=nothing,
            hold=nothing,
            receive=nothing,
            source=np.array([each.source for each in sent], np.int32),
            flits=np.array([len(each.what) * chunk for each in sent], np.float64),
            targets=lists([[each.target] for each in sent]),
            after=lists([list(each.after) for each in sent]),
            flit_bytes=1,
            unit="seconds",
        )


def executed(found: Algorithm) -> Execution:
    """Execute an MSCCL file on data. See ``all_sent`` for what is refused.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> from netloom.workload.programs.collectives.msccl import write_msccl
    >>> from netloom.workload.programs.collectives.msccl_parsing import parse_msccl
    >>> path = f"{mkdtemp()}/ring.xml"
    >>> write_msccl(path, collective_program("all-gather", "ring", 4))
    >>> found = executed(parse_msccl(path))
    >>> found.trace(1e6), found.padded_bytes(1001)
    (<ring.xml: 4 tasks, 12 messages, 12 entries>, 1004)
    """
    return Execution(found, all_sent(found))
