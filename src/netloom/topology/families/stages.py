"""Networks of stages: butterflies and omegas.

Butterflies: stages of routers that packets cross one way.

Omega networks: processing elements and memory modules, joined by stages of small switches.

Lawrie, *Access and alignment of data in an array processor*, IEEE Trans. Computers C-24 (1975).
Dally & Towles, *Principles and practices of interconnection networks* (2004), chapter 4, have
them as butterflies whose stages are drawn in another order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import StagesShape, Topology, attach_hosts
from netloom.topology.families.wires import check_sizes, linked, numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints


MOST_STAGES = 32


def butterfly(k: int, n: int) -> Topology:
    """Return the k-ary n-fly: k^n hosts, n stages of k^(n−1) routers, channels one way.

    Dally & Towles, *Principles and practices of interconnection networks*, 2004, chapter 4. Router
    s · k^(n−1) + i is router i of stage s. Host h injects at router h div k of the first stage and
    receives at router h div k of the last. Let i be written in base k. Router i of stage s leads to
    k routers of the next stage: those whose number is i with any digit at weight k^(n−2−s).

    Raises
    ------
    InputError
        If k is below 2 or n below 1, or the network would be too large.

    Examples
    --------
    >>> net = butterfly(2, 3)
    >>> net, net.channel_target[:2]
    (<butterfly:2x3: 8 hosts, 12 routers, 16 directed channels>, array([4, 6], dtype=int32))
    """
    name = f"butterfly:{k}x{n}"
    if k < 2 or n < 1:
        raise InputError(name, f"{k} ports and {n} stages", "at least 2 ports and 1 stage")
    if n > MOST_STAGES:
        raise InputError(name, f"{n} stages", f"at most {MOST_STAGES}")
    width = k ** (n - 1)
    check_sizes(name, hosts=k * width, routers=n * width, channels=(n + 1) * k * width)
    source, target = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    place = np.arange(width)
    for stage in range(1, n):
        weight = k ** (n - 1 - stage)
        kept = place - place // weight % k * weight
        to = kept[:, None] + weight * np.arange(k)
        source.append(((stage - 1) * width + place).repeat(k))
        target.append((stage * width + to).ravel())
    joined = Topology(
        name, n * width,
        np.concatenate(source).astype(np.int32), np.concatenate(target).astype(np.int32),
        tuple(f"s{stage}.{i}" for stage in range(n) for i in range(width)),
        family=StagesShape(k, n),
    )  # fmt: skip
    first = np.arange(k * width) // k
    return attach_hosts(joined, first, ejection=first + (n - 1) * width, name=name)


def butterfly_of(argument: str, spec: str) -> Topology:
    """Read ``4x3``: ports each way of a router, stages."""
    wanted = "ports of a router and stages, such as butterfly:4x3"
    return butterfly(*numbers(argument, where=spec, count=2, wanted=wanted))


Digits: TypeAlias = Literal["most-significant-first", "least-significant-first"]

DIGITS: tuple[Digits, ...] = ("most-significant-first", "least-significant-first")
"""The order in which the stages look at the base-r digits of a module's number."""

SWITCH_SIZES = (2, 4, 8)

FEWEST_PES, MOST_PES = 4, 65_536


@dataclass(frozen=True, eq=False, repr=False)
class Omega(Topology):
    """N processing elements (PEs), N memory modules and K = log_r N stages of N/r r × r switches.

    Hosts 0 … N − 1 are the PEs, N … 2N − 1 the modules. Router i·N/r + s is switch s of stage i.
    Stage 0 is next to the PEs. N lines lead into every stage, and N to the modules. A line
    enters a stage through a perfect shuffle in base r: line l at switch l mod N/r. Switch s has
    the lines r·s … r·s + r − 1 behind it. Each line is two channels: one for requests, towards the
    modules, and one for replies, back. Those of PEs and modules are their injection and ejection
    channels. Channels between switches are sorted by source, then target.

    A path is unique from a PE to a module, and its K + 1 channels, K − 1 of them between switches,
    are also the fewest hops.

    Attributes
    ----------
    pes
        N, a power of r from 4 to 65,536.
    switch_size
        r: 2, 4 or 8.
    stages
        K.
    """

    pes: int = 0
    switch_size: int = 0
    stages: int = 0

    def lines(
        self, pe: ArrayLike, module: ArrayLike, *, digits: Digits = "most-significant-first"
    ) -> Ints:
        """Return the lines that a request uses, into each stage and to its module.

        At stage i it turns to output port d_i of its switch, which is digit K − 1 − i of its
        destination line D (Lawrie 1975, destination tags). So l_0 = x and l_{i+1} = (l_i mod N/r)·r
        + d_i. Line l_i is then the K digits from the i-th on of x·r^K + D, written with 2K digits
        in base r.

        They are int32[..., K + 1]. The last is D. A reply uses the same lines, last to
        first.

        Parameters
        ----------
        pe, module
            0 … N − 1 each. Whole numbers, or arrays that broadcast to one shape.
        digits
            With ``most-significant-first`` module m is on line m behind the last stage. With
            ``least-significant-first`` it is on ``digit_reversed(m)``: the same switches and lines,
            but the modules are joined to them in another order than here.

        Raises
        ------
        InputError
            If there is no such order of digits.

        Examples
        --------
        >>> net = omega(8)
        >>> net.lines(pe=1, module=6)
        array([1, 3, 7, 6], dtype=int32)
        >>> net.lines([1, 2], 6, digits="least-significant-first")
        array([[1, 2, 5, 3],
               [2, 4, 1, 3]], dtype=int32)
        """
        if digits not in DIGITS:
            raise InputError("digits", f"'{digits}'", f"one of {', '.join(DIGITS)}")
        line = np.asarray(module, np.int64)
        if digits == "least-significant-first":
            line = digit_reversed(line, self.pes, self.switch_size).astype(np.int64)
        both = np.asarray(pe, np.int64) * self.pes + line
        bits = self.switch_size.bit_length() - 1
        shifts = bits * np.arange(self.stages, -1, -1)
        return ((both[..., None] >> shifts) & (self.pes - 1)).astype(np.int32)


def omega(pes: int, switch_size: int = 2) -> Omega:
    """Return the Omega network of ``pes`` PEs and as many memory modules.

    Raises
    ------
    InputError
        If the switch size is not 2, 4 or 8, or ``pes`` is not one of its powers from 4 to 65,536.

    Examples
    --------
    >>> omega(8)
    <omega:8: 16 hosts, 12 routers, 32 directed channels>
    >>> net = omega(8)
    >>> net.name_of(3), net.name_of(13), net.channel_name(0)  # PEs, memory modules, switches
    ('PE 3', 'MM 5', 'switch 0.0 -> switch 1.0')
    >>> omega(4096, switch_size=8).stages
    4
    """
    name = f"omega:{pes}" if switch_size == 2 else f"omega:{pes}/{switch_size}"
    stages = checked_stages(pes, switch_size, where=name)
    width = pes // switch_size
    line, step = np.arange(pes), width * np.arange(stages)[:, None]
    one, other = (step + line // switch_size)[:-1], (step + line % width)[1:]
    switches = linked(
        name, stages * width, one.ravel(), other.ravel(),
        labels=tuple(f"switch {i}.{s}" for i in range(stages) for s in range(width)),
    )  # fmt: skip
    hosts = (*(f"PE {pe}" for pe in range(pes)), *(f"MM {module}" for module in range(pes)))
    last = (stages - 1) * width + line // switch_size
    whole = attach_hosts(
        switches, np.concatenate([line % width, last]), name=name,
        labels=(*hosts, *switches.labels),
    )  # fmt: skip
    given = {each.name: getattr(whole, each.name) for each in fields(Topology) if each.init}
    return Omega(**given, pes=pes, switch_size=switch_size, stages=stages)


def checked_stages(pes: int, switch_size: int, *, where: str = "") -> int:
    """Return K, where ``pes`` is the K-th power of the switch size. Refuse it where it is none.

    ``pes`` is N, ``switch_size`` r. Errors name ``where``, or the field itself by default.

    Raises
    ------
    InputError
        If the switch size is not 2, 4 or 8, or ``pes`` is not one of its powers from 4 to 65,536.

    Examples
    --------
    >>> checked_stages(4096, 8)
    4
    """
    if switch_size not in SWITCH_SIZES:
        raise InputError(where or "switch_size", f"switches of size {switch_size}", "2, 4 or 8")
    powers = [switch_size**exponent for exponent in range(1, 17)]
    allowed = [power for power in powers if FEWEST_PES <= power <= MOST_PES]
    if pes not in allowed:
        wanted = f"a power of {switch_size} from {allowed[0]} to {allowed[-1]}"
        raise InputError(where or "pes", f"{pes} PEs, with switches of size {switch_size}", wanted)
    return powers.index(pes) + 1


def digit_reversed(modules: ArrayLike, pes: int, switch_size: int = 2) -> Ints:
    """Return each number below ``pes`` with its base-r digits in reverse order.

    ``modules``: int[...], 0 … ``pes`` − 1. With N = r^K PEs and switches of size r, numbers
    have K digits.

    Examples
    --------
    >>> digit_reversed([1, 3, 6], 8)
    array([4, 6, 3], dtype=int32)
    >>> digit_reversed(7, 64, 8)
    array(56, dtype=int32)
    """
    bits = switch_size.bit_length() - 1
    left = np.asarray(modules, np.int32)
    found = np.zeros_like(left)
    for _ in range((pes.bit_length() - 1) // bits):
        found = (found << bits) | (left & (switch_size - 1))
        left = left >> bits
    return np.asarray(found)
