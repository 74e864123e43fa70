"""What runs a program, whatever the network is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from netloom.simulation.agenda import Program, Records
    from netloom.topology import Topology
    from netloom.workload.programs.messages import Messages


class ProgramEngine(ABC):
    """A network and a program, and the cycle they are at.

    Attributes
    ----------
    topology
        The network.
    program
        The program's rows, and what they wait for.
    """

    topology: Topology
    program: Program

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""
        return self.program.cycle

    @property
    def num_rows(self) -> int:
        """Rows of the program so far."""
        return self.program.num_rows

    @property
    def completed(self) -> int:
        """Rows that are complete."""
        return self.program.completed

    @property
    def rows(self) -> Records:
        """Records of all rows so far; see ``agenda.ROW``."""
        return self.program.rows

    @property
    @abstractmethod
    def flit_hops(self) -> int:
        """Flits times network channels crossed."""

    @abstractmethod
    def channel_flits(self) -> NDArray[np.int64]:
        """Return the flits that have crossed each network channel (int64[num_channels])."""

    @abstractmethod
    def append(self, messages: Messages) -> None:
        """Append rows to the program.

        Raises
        ------
        NoRouteError
            If the routing has no path for a message.
        InputError
            If there are too many rows.
        """

    @abstractmethod
    def advance(self, until: int) -> None:
        """Run up to, and without, the cycle ``until``; or until all rows are complete.

        Raises
        ------
        DeadlockError
            If messages block each other for good; names the channels.
        """
