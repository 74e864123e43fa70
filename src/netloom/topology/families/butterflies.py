"""Butterflies: stages of routers that packets cross one way."""

from __future__ import annotations

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import check_sizes, numbers
from netloom.topology.family import StagesShape

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
    >>> net, net.channel_target[:2] - net.num_hosts
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
