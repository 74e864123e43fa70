"""What a combining network is made of, and how its switches treat requests that meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.errors import InputError
from netloom.simulation.combining.layout import OPERATIONS, RULES, UNBOUNDED
from netloom.topology.omegas import DIGITS, Digits, checked_stages, digit_reversed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ORDERS = ("forward", "backward")

LONGEST_SERVICE = 10_000
"""Most steps that a memory module takes for a request."""


@dataclass(frozen=True)
class CombiningNetwork:
    """An Omega network of buffered switches that combine requests to one word of memory.

    N processing elements and N memory modules are joined by K = log_r N stages of r × r switches
    (Gottlieb et al., "The NYU Ultracomputer", IEEE Trans. Computers C-32, 1983; Rosenblum & Mayr,
    "Simulation of an Ultracomputer with several hot spots", STAN-CS-86-1119, 1986, section 2).
    Packets move by one stage a step at most; replies go back the way their requests came.

    Attributes
    ----------
    pes
        N: a power of the switch size, 4 to 65536.
    switch_size
        r: 2, 4 or 8.
    queue, wait_buffer
        Packets that each queue, and each pool of waiting partners, holds; None: any number.
    combining
        Which requests to one word become one. ``waiting``: two that enter a switch for the same
        output, or one that enters and one that waits in the output queue already, which needs no
        room there; this is what reproduces the published tables. ``slot``: the same, but only
        where the queue has room. ``entering``: only two that enter together, as the report's text
        has it. ``none``: no combining.
    unlimited
        Whether a request may combine any number of times at a switch, not once. Requests that
        enter together then look for one that waits in the queue before they become a pair, and
        partners leave one by one, as there is room on the way back.
    order
        ``forward``: stages move in the order of a request's path, so that room made in a step
        can be used in the next one only. ``backward``: in the reverse order (report, 3.1).
    digits
        Which digits of a module's number the stages look at: ``most-significant-first``, as in
        Lawrie's Omega network, or ``least-significant-first``.
    service_steps
        Steps that a module takes for a request.
    operation
        What a request does to its word while it fetches it: ``add``, ``or``, ``and``, ``xor``,
        ``max``, ``min``, ``swap`` or ``load``.

    Raises
    ------
    InputError
        If a field is none of these.

    Examples
    --------
    >>> CombiningNetwork(512, queue=4).stages
    9
    """

    pes: int
    switch_size: int = 2
    queue: int | None = None
    wait_buffer: int | None = None
    combining: Literal["waiting", "slot", "entering", "none"] = "waiting"
    unlimited: bool = False
    order: Literal["forward", "backward"] = "forward"
    digits: Digits = "most-significant-first"
    service_steps: int = 1
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = "add"

    def __post_init__(self) -> None:
        checked_stages(self.pes, self.switch_size)
        for field in ("queue", "wait_buffer"):
            capacity = getattr(self, field)
            if capacity is not None and not 1 <= capacity < UNBOUNDED:
                raise InputError(field, f"{capacity}", "at least 1 packet, or unbounded")
        if not 1 <= self.service_steps <= LONGEST_SERVICE:
            wanted = f"1 to {LONGEST_SERVICE} steps"
            raise InputError("service_steps", f"{self.service_steps}", wanted)
        for field, allowed in (
            ("combining", RULES),
            ("order", ORDERS),
            ("digits", DIGITS),
            ("operation", OPERATIONS),
        ):
            if getattr(self, field) not in allowed:
                wanted = f"one of {', '.join(allowed)}"
                raise InputError(field, f"'{getattr(self, field)}'", wanted)

    @property
    def digit_bits(self) -> int:
        """Bits of a line's number that a stage decides: log₂ r."""
        return self.switch_size.bit_length() - 1

    @property
    def stages(self) -> int:
        """K = log_r N."""
        return (self.pes.bit_length() - 1) // self.digit_bits

    @property
    def unhindered_steps(self) -> int:
        """Steps of a request that nothing holds up: 2 K + 2, and what memory takes beyond 1."""
        return 2 * self.stages + 1 + self.service_steps

    def lines_of(self, modules: ArrayLike) -> NDArray[np.int32]:
        """Return the line behind the last stage that each module is on; also the other way round.

        Examples
        --------
        >>> CombiningNetwork(8, digits="least-significant-first").lines_of([1, 6])
        array([4, 3], dtype=int32)
        """
        if self.digits == "most-significant-first":
            return np.asarray(modules, np.int32)
        return digit_reversed(modules, self.pes, self.switch_size)
