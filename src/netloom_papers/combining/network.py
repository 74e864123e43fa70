"""A combining network: what it is made of, its hot spots as they come and go, and its runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.simulation import steady
from netloom.topology.families import checked_stages
from netloom.workload.counter_random import stream_keys, uniforms
from netloom_papers.combining import layout
from netloom_papers.combining.hot_spots import HotSpotTraffic

LONGEST_SERVICE = 10_000
"""Most steps that a memory module takes for a request."""


@dataclass(frozen=True)
class CombiningNetwork:
    """An Omega network of buffered switches that combine requests to one word of memory.

    N processing elements and N memory modules are joined by K = log_r N stages of r × r switches
    (Gottlieb et al., "The NYU Ultracomputer", IEEE Trans. Computers C-32, 1983; Rosenblum & Mayr,
    "Simulation of an Ultracomputer with several hot spots", STAN-CS-86-1119, 1986, section 2).
    Packets move by one stage a step at most. Replies go back the way their requests came.

    Attributes
    ----------
    pes
        N: a power of the switch size, 4 to 65536.
    switch_size
        r: 2, 4 or 8.
    queue, wait_buffer
        Packets that each queue, and each pool of waiting partners, holds. None: any number.
    combining
        Which requests to one word become one. ``waiting``: two that enter a switch for the same
        output, or one that enters and one that waits in the output queue already, which needs no
        room there. This is what reproduces the published tables. ``slot``: the same, but only
        where the queue has room. ``entering``: only two that enter together, as the report's text
        has it. ``none``: no combining.
    unlimited
        Whether a request may combine any number of times at a switch, not once. Requests that enter
        together then first look for a partner that waits in the queue; if there is none, they
        become a pair. Partners leave one by one as soon as there is room on the way back.
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
    digits: Literal["most-significant-first", "least-significant-first"] = "most-significant-first"
    service_steps: int = 1
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = "add"

    def __post_init__(self) -> None:
        checked_stages(self.pes, self.switch_size)
        for field in ("queue", "wait_buffer"):
            capacity = getattr(self, field)
            if capacity is not None and not 1 <= capacity < layout.UNBOUNDED:
                raise InputError(field, f"{capacity}", "at least 1 packet, or unbounded")
        if not 1 <= self.service_steps <= LONGEST_SERVICE:
            wanted = f"1 to {LONGEST_SERVICE} steps"
            raise InputError("service_steps", f"{self.service_steps}", wanted)
        for field, kind in get_type_hints(CombiningNetwork).items():
            given, allowed = getattr(self, field), get_args(kind)
            if get_origin(kind) is Literal and given not in allowed:
                raise InputError(field, f"'{given}'", f"one of {', '.join(allowed)}")

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

    def lines_of(self, modules: ArrayLike) -> Ints:
        """Return the line behind the last stage that each module is on. Also the other way round.

        Examples
        --------
        >>> CombiningNetwork(8, digits="least-significant-first").lines_of([1, 6])
        array([4, 3], dtype=int32)
        """
        if self.digits == "most-significant-first":
            return np.asarray(modules, np.int32)
        return digit_reversed(modules, self.pes, self.switch_size)


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


MOST_PACKETS = 2**26
"""Requests in flight after which a run is given up: 2 GB."""

MOST_STEPS = 2**26
"""Steps of a run: sums over each are kept."""


class CombiningEngine:
    """A combining network, the requests that its processing elements make, and the step it is at.

    Parameters
    ----------
    network, traffic, seed
        The network and the requests, of one size. The seed of these and of who goes first.

    Attributes
    ----------
    step
        Steps that have been simulated.
    issued, completed
        Requests made and not discarded, and those whose replies have come back.
    discarded_waiting, discarded_full
        Requests discarded since the last one for the same hot spot was not completed, and since
        their element's queue was full.
    moves
        How often a packet has moved by a stage, alone or into its partner.
    latency_counts
        int64[any]: how many completed requests took so many steps, from 0 on.
    per_step
        int64[step, 3]: requests issued, completed, and the steps that the latter took.
    hot_spots
        The hot spots as they are now, by module number.
    assigned
        int32[N, per_pe], the hot spots that each element has now, -1 behind the last.
    population_sums, wait_sums
        int64[2 K + 2], int64[K]: packets in the queues of each level, and in the wait pools of each
        stage, at the end of a step, summed.
    queue_max, pool_max
        int32[2 K + 2, N], int32[K, N]: the most packets that were ever in each queue, by level and
        line, and in each wait pool, by stage and line.
    combined
        int64[K]: requests that were absorbed by another at each stage.
    returned
        int64[N]: the sum of what the completed requests of each element fetched, modulo 2^64.

    Raises
    ------
    InputError
        If network and traffic have different sizes.

    Examples
    --------
    >>> from netloom_papers.combining import CombiningNetwork
    >>> from netloom_papers.combining.hot_spots import HotSpotTraffic
    >>> one_for_all = HotSpotTraffic(np.array([5]), np.full((8, 1), 5), rate=1)
    >>> engine = CombiningEngine(CombiningNetwork(8), one_for_all)
    >>> engine.advance(1)
    >>> engine.drain()
    >>> engine.latency_counts[:10]
    array([0, 0, 0, 0, 0, 0, 0, 0, 8, 0])
    >>> int(engine.accesses[5])
    1
    """

    def __init__(
        self, network: CombiningNetwork, traffic: HotSpotTraffic, *, seed: int = DEFAULT_SEED
    ) -> None:
        if traffic.pes != network.pes:
            raise InputError("assigned", f"{traffic.pes} PEs", f"{network.pes}, as the network has")
        self.network, self.traffic = network, traffic
        self._line_of = network.lines_of(np.arange(network.pes))
        self.hot_spots = traffic.hot_spots.tolist()
        self.assigned = traffic.assigned.copy()
        self._seed, self._drained = seed, False
        quiet = {0.0: 0.0, 1.0: -np.inf}.get(traffic.rate)
        switches = network.pes // network.switch_size
        self._setup = layout.Setup(
            lines=network.pes,
            stages=network.stages,
            radix=network.switch_size,
            radix_bits=network.digit_bits,
            line_bits=network.pes.bit_length() - 1,
            queue=network.queue or layout.UNBOUNDED,
            pool=network.wait_buffer or layout.UNBOUNDED,
            rule=layout.RULES.index(network.combining),
            unlimited=network.unlimited,
            forward=network.order == "forward",
            service_steps=network.service_steps,
            operation=layout.OPERATIONS.index(network.operation),
            wait=traffic.wait,
            places=traffic.per_pe,
            hot_fraction=float(traffic.hot_fraction),
            log_quiet=float(np.log1p(-traffic.rate)) if quiet is None else quiet,
            words=-(-switches // 8),
        )
        self._state = state = _state(self._setup, seed)
        self.population_sums = state.levels["population_sum"]
        self.wait_sums, self.combined = state.stages["wait_sum"], state.stages["combined"]
        self.returned = state.lines["returned"]
        self.queue_max = np.asarray(state.queues["longest"]).reshape(-1, network.pes)
        self.pool_max = np.asarray(state.pools["longest"]).reshape(-1, network.pes)
        self._give_hot_spots()
        self._count()

    @property
    def in_flight(self) -> int:
        """Requests issued and not completed."""
        return self.issued - self.completed

    @property
    def arrived(self) -> Ints:
        """Requests that entered each stage, those that combined there included: int64[K]."""
        entered = self._state.levels["entered"][1 : self.network.stages + 1]
        return np.asarray(entered + self.combined)

    @property
    def issued_to(self) -> Ints:
        """Requests issued for the hot word of each module: int64[N]."""
        return self._state.lines["issued_to"][self._line_of]

    @property
    def accesses(self) -> Ints:
        """Requests that each module executed, many of which stand for several: int64[N]."""
        return self._state.lines["accesses"][self._line_of]

    @property
    def memory(self) -> Ints:
        """The hot word of each module, and the one for its other requests: int64[2, N]."""
        return self._state.memory.reshape(2, -1)[:, self._line_of]

    def advance(self, until: int) -> None:
        """Run to the step ``until``. Requests are made all the time.

        Raises
        ------
        InputError
            If so many requests are in flight that there is no memory for them.
        """
        assert not self._drained, "requests have ended"
        assert until <= MOST_STEPS, f"{until} steps"
        traffic, steps = self.traffic, np.arange(self.step, until)
        if traffic.new or traffic.remove:
            goes, comes = uniforms(self._seed, layout.CHANGES, steps, [[0], [2]])
            for step in steps[(goes < traffic.remove) | (comes < traffic.new)].tolist():
                self._run(step, generate=True)
                self._change(step)
                self._give_hot_spots()
        self._run(until, generate=True)

    def drain(self, most_steps: int = MOST_STEPS) -> None:
        """Run without making requests until all are completed, or for ``most_steps`` more."""
        self._drained = True
        self._run(self.step + most_steps, generate=False)

    def _run(self, until: int, *, generate: bool) -> None:
        """Run to a step, with room for what comes until then, and for packets if that is short."""
        from netloom_papers.combining.kernels.combining import run

        while self.step < until and (generate or self.in_flight):
            end = min(until, self.step + max(1024, self.step))
            state, more = self._state, dict[str, Records]()
            if len(state.latency_counts) < end + 2:
                more["latency_counts"] = _longer(state.latency_counts, 2 * end + 2)
                more["per_step"] = _longer(state.per_step, 3 * (2 * end + 2))
            if generate and len(state.packets) - self.in_flight < self.network.pes:
                size = 2 * len(state.packets)
                if size > MOST_PACKETS:
                    found = f"over {len(state.packets)} requests in flight in step {self.step}"
                    raise InputError("steps", found, "fewer steps, a lower rate, or finite queues")
                more["packets"] = _longer(state.packets, size)
            self._state = state._replace(**more)
            ended = run(self._setup, self._state, end, generate)
            self._count()
            assert ended != layout.LOST, f"a packet was lost in step {self.step}"
            assert ended != layout.STUCK, f"nothing moves since step {self.step}"

    def _count(self) -> None:
        """Take over what the kernel has counted."""
        state, counts = self._state, self._state.counts[0]
        self.step, self.issued = int(counts["step"]), int(counts["issued"])
        self.completed = int(counts["completed"])
        self.discarded_waiting, self.discarded_full = int(counts["waiting"]), int(counts["full"])
        self.moves = int(state.levels["left"].sum())
        self.latency_counts = state.latency_counts
        self.per_step = state.per_step.reshape(-1, 3)[: self.step]

    def _change(self, step: int) -> None:
        """Let hot spots come and go before the requests of a step.

        First a random one goes with probability ``traffic.remove``, but never the last one. The
        places behind it move down by one, and what elements wait for moves with them. Then a module
        becomes one with probability ``new``, if there is one that is none and has no request in
        flight. Elements with a free place take it with probability ``assign``.
        """
        traffic, state, assigned = self.traffic, self._state, self.assigned
        drawn = uniforms(self._seed, layout.CHANGES, step, np.arange(4))
        goes, which, comes, where = drawn.tolist()
        if goes < traffic.remove and len(self.hot_spots) > 1:
            module = self.hot_spots.pop(int(which * len(self.hot_spots)))
            outstanding = state.outstanding.reshape(assigned.shape)
            for pe, place in np.argwhere(assigned == module).tolist():
                for row, empty in ((assigned[pe], -1), (outstanding[pe], 0)):
                    row[place:-1] = row[place + 1 :]
                    row[-1] = empty
        cold = (state.lines["issued_to"] == state.lines["answered_to"])[self._line_of]
        cold[self.hot_spots] = False
        modules = np.flatnonzero(cold)
        if comes < traffic.new and len(modules):
            self.hot_spots.append(int(modules[int(where * len(modules))]))
            taken = (assigned >= 0).sum(axis=1)
            drawn = uniforms(self._seed, layout.TAKES, step, np.arange(len(taken)))
            takes = np.flatnonzero((taken < assigned.shape[1]) & (drawn < traffic.assign))
            assigned[takes, taken[takes]] = self.hot_spots[-1]

    def _give_hot_spots(self) -> None:
        """Tell the kernel which lines each element asks for."""
        lines = np.where(self.assigned >= 0, self._line_of[self.assigned], -1)
        self._state.assigned[:] = lines.ravel()
        self._state.lines["hot_spots"] = (self.assigned >= 0).sum(axis=1)


def _state(setup: layout.Setup, seed: int) -> layout.State:
    levels, lines = 2 * setup.stages + 2, setup.lines
    counts = np.zeros(1, layout.COUNTS)
    counts["next_chance"] = counts["free_packet"] = -1
    queues = np.zeros(levels * lines, layout.QUEUE)
    queues["head"] = -1
    memory = np.full(2 * lines, layout.IDENTITIES[setup.operation], np.int64)
    return layout.State(
        counts=counts,
        packets=np.zeros(4 * lines, layout.PACKET),
        queues=queues,
        pools=np.zeros(setup.stages * lines, layout.POOL),
        groups=np.zeros(levels * setup.words, np.uint64),
        levels=np.zeros(levels, layout.LEVEL),
        stages=np.zeros(setup.stages, layout.STAGE),
        lines=np.zeros(lines, layout.LINE),
        memory=memory,
        assigned=np.full(lines * setup.places, -1, np.int32),
        outstanding=np.zeros(lines * setup.places, np.uint8),
        latency_counts=np.zeros(0, np.int64),
        per_step=np.zeros(0, np.int64),
        stream_keys=stream_keys(seed, layout.STREAMS),
        **{name: np.zeros(8, np.int32) for name in ("heads", "ports", "rivals")},
    )


def _longer(array: Records, size: int) -> Records:
    return np.concatenate([array, np.zeros(size - len(array), array.dtype)])


THROUGHPUT = "requests/PE/step"

BATCHES = 64
"""Batches that a run is cut into, for confidence intervals and for the growth of the backlog."""

HEARING = 2**18
"""Steps times processing elements between two looks at whether to stop: some 10 ms at a usual load,
some tenths of a second where every element asks in every step."""


class CombiningRun(Figures):
    """What a run was like. Means and sums are those of Rosenblum & Mayr 1986, section 2.4.

    Means of queues and pools are sums over all steps, divided by ``steps`` and by the number of
    queues of the level that were ever used. The steps include those in which the last requests
    return. Maxima are taken within a step, after packets have entered a queue and before they
    leave.

    Attributes
    ----------
    rate, seed
        The probability that an element makes a request in a step, and the seed.
    steps, finalisation_steps
        Steps in which requests were made (Z, or as far as it came), and those after them until all
        were completed.
    requests
        Requests made. Those discarded are not among them.
    discarded_waiting, discarded_full
        Requests discarded since one for the same hot spot was on its way (policy ``wait``), and
        since the processing element's queue was full.
    steps_mean, steps_ci95, steps_min, steps_p50, steps_p99, steps_max
        Steps from making a request to its reply, over all. NaN if there are none. The interval is
        from batch means of this one run, NaN if requests pile up, because the mean never settles.
        Seeds differ by more, because their hot spots do.
    latency_counts
        int64[any]: requests that took so many steps, from 0 on.
    queue_mean, queue_max, queue_used
        float64, int32, int64[2 K + 2], by level: processing elements, requests behind stages 0 to
        K − 1, memory modules, replies behind stages K − 1 to 0.
    wait_mean, wait_max, wait_used
        float64, int32, int64[K]: packets in wait pools, by stage.
    combining_rate
        float64[K]: of the requests that come to a stage, those that another takes along.
    hot_spots
        All that were hot spots at the beginning, in the order drawn, then those that came later
        and were asked for. ``elements`` had the ``module`` at first. ``requests`` were for it, and
        of these and the background's it executed ``accesses``. Both stand there per step of the
        run, too. ``busy`` is the part of the run in which the module worked.
    throughput, throughput_ci95
        Requests completed per element and step, after the start-up and before requests end.
    stable, reason
        Whether the network keeps up with its requests, and why. None if the run is too short to
        tell, which one of 128 steps or more never is. Judged by growth in the run: one in which
        finite queues are still filling does not keep up. In 1000 steps, 1 in 8 runs at 95 % of what
        a module serves are called unstable, and 3 in 4 at 105 %. In 8000, none and all of 60. If
        requests pile up, means depend on how long it lasts. If they are refused, means
        are of those that are not.
    growth
        By how much requests in flight grow, as a fraction of those made. NaN in a run that is too
        short to tell.
    piles_up
        Whether requests in flight grow on and on. Not where what is too much is refused.
    interrupted
        Whether it was stopped from outside. Figures are of the steps it came to.
    mean_queue, longest_queue, mean_wait, longest_wait
        The mean over all levels of the mean queue, each level alike, as the tables have it, and the
        longest. The same of the wait pools.
    moves
        Moves of packets by a stage.
    cpu_seconds
        Time it took one processor.
    """

    rate: float = figure(unit=THROUGHPUT, key=True)
    seed: int = figure()
    stable: bool | None = figure("keeps up", key=True)
    requests: int = figure()
    requests_per_pe: float = figure()
    discarded_waiting: int = figure()
    discarded_full: int = figure()
    steps_mean: float = figure("round trip", "steps", key=True)
    steps_min: float = figure("shortest", "steps")
    steps_p50: float = figure("half up to", "steps")
    steps_p99: float = figure("99 % up to", "steps", key=True)
    steps_max: float = figure("longest", "steps")
    steps_ci95: float = figure("± 95 %", "steps")
    mean_queue: float = figure("mean queue", "packets", at="queue_mean", key=True)
    longest_queue: int = figure("longest queue", "packets", at="queue_max", key=True)
    mean_wait: float = figure("mean wait buffer", "packets", at="wait_buffer_mean")
    longest_wait: int = figure("longest wait buffer", "packets", at="wait_buffer_max")
    throughput: float = figure(unit=THROUGHPUT, key=True)
    throughput_ci95: float = figure("± 95 %", THROUGHPUT)
    finalisation_steps: int = figure("until all are answered", "steps")
    reason: str = figure()
    interrupted: bool = figure()
    moves: int = figure()
    cpu_seconds: float = figure(unit="s")
    steps: int = unseen()
    growth: float = unseen()
    latency_counts: Ints = unseen()
    queue_mean: Floats = unseen()
    queue_max: Ints = unseen()
    queue_used: Ints = unseen()
    wait_mean: Floats = unseen()
    wait_max: Ints = unseen()
    wait_used: Ints = unseen()
    combining_rate: Floats = unseen()
    hot_spots: dict[str, NDArray[Any]] = unseen()
    piles_up: bool = unseen()


def run_combining(
    network: CombiningNetwork,
    traffic: HotSpotTraffic,
    steps: int,
    *,
    seed: int = DEFAULT_SEED,
    stopped: Callable[[], bool] = lambda: False,
) -> CombiningRun:
    """Simulate a combining network until all requests that are made in ``steps`` are completed.

    Parameters
    ----------
    steps
        Z: steps in which requests are made, at least 1.
    seed
        Of the requests and of the order of packets that meet.
    stopped
        Asked now and then: whether to end at once.

    Raises what ``CombiningEngine`` does.

    Examples
    --------
    >>> from netloom_papers.combining import CombiningNetwork
    >>> from netloom_papers.combining.hot_spots import HotSpotTraffic
    >>> one_for_all = HotSpotTraffic(np.array([5]), np.full((16, 1), 5), rate=0.15)
    >>> run = run_combining(CombiningNetwork(16), one_for_all, 1000)
    >>> run.steps_min, run.steps_mean, run.steps_max
    (10.0, 10.0, 10.0)
    >>> int(run.queue_max.max()), round(float(run.wait_mean[3]), 1)
    (2, 1.1)
    """
    assert 1 <= steps <= MOST_STEPS, f"{steps} steps"
    began = time.thread_time()
    engine = CombiningEngine(network, traffic, seed=seed)
    hearing = max(1, HEARING // network.pes)
    while engine.step < steps and not stopped():
        engine.advance(min(steps, engine.step + hearing))
    made = engine.step
    while engine.in_flight and not stopped():
        engine.drain(hearing)
    arrived, counts = engine.arrived, np.trim_zeros(engine.latency_counts, "b")
    kept_up = _kept_up(engine, made)
    counted = ("discarded_waiting", "discarded_full", "moves")
    took: dict[str, Any] = {"steps_ci95": np.nan}
    took |= {f"steps_{name}": float(value) for name, value in steps_of(counts).items()}
    if engine.completed and not kept_up["piles_up"]:
        _, completed, spent = _batches(engine.per_step)
        _, took["steps_ci95"] = steady.run_interval(spent, completed)
    return CombiningRun(
        rate=traffic.rate,
        seed=seed,
        steps=made,
        finalisation_steps=engine.step - made,
        requests=engine.issued,
        requests_per_pe=engine.issued / network.pes,
        **{name: getattr(engine, name) for name in counted},
        **took,
        latency_counts=counts,
        **_use(engine, max(made, 1)),
        combining_rate=np.divide(
            engine.combined, arrived, out=np.zeros(len(arrived)), where=arrived > 0
        ),
        hot_spots=_hot_spots(engine),
        **kept_up,
        interrupted=made < steps or engine.in_flight > 0,
        cpu_seconds=time.thread_time() - began,
    )


def steps_of(counts: Ints) -> dict[str, Any]:
    """Return the mean of steps, the least, two percentiles and the most. NaN if there are none.

    ``counts`` is int64[any]: how many requests took so many steps, from 0 on.
    """
    seen = np.flatnonzero(counts)
    if not len(seen):
        return dict.fromkeys(("mean", "min", "p50", "p99", "max"), np.nan)
    middle, high = steady.percentiles(counts, (50, 99)).tolist()
    mean = float(counts @ np.arange(len(counts)) / counts.sum())
    return {"mean": mean, "min": int(seen[0]), "p50": middle, "p99": high, "max": int(seen[-1])}


def _hot_spots(engine: CombiningEngine) -> dict[str, NDArray[Any]]:
    """Return the hot spots at first, and those that came later and were asked for, as columns."""
    traffic = engine.traffic
    came = np.setdiff1d(np.flatnonzero(engine.issued_to), traffic.hot_spots)
    modules = np.concatenate([traffic.hot_spots, came])
    elements = np.bincount(traffic.assigned[traffic.assigned >= 0], minlength=traffic.pes)
    found = {"requests": engine.issued_to[modules], "accesses": engine.accesses[modules]}
    steps = max(engine.step, 1)
    rates = {f"{name}_per_step": each / steps for name, each in found.items()}
    busy = found["accesses"] * engine.network.service_steps / steps
    return {"module": modules, "elements": elements[modules], **found, **rates, "busy": busy}


def _use(engine: CombiningEngine, steps: int) -> dict[str, Any]:
    """Return means, maxima and numbers of the queues by level and of the pools by stage."""
    found: dict[str, Any] = {}
    for what, sums, longest in (
        ("queue", engine.population_sums, engine.queue_max),
        ("wait", engine.wait_sums, engine.pool_max),
    ):
        used = np.count_nonzero(longest, axis=1)
        means, most = sums / steps / np.maximum(used, 1), longest.max(axis=1)
        found |= {f"{what}_mean": means, f"{what}_max": most, f"{what}_used": used}
        found |= {f"mean_{what}": float(means.mean()), f"longest_{what}": int(most.max())}
    return found


def _kept_up(engine: CombiningEngine, made: int) -> dict[str, Any]:
    """Return what was completed per element and step, and whether that is what was asked for."""
    figures = ("throughput", "throughput_ci95", "growth")
    per_step = engine.per_step[:made].astype(np.float64)
    begin = steady.warmup_packets(per_step[:, 1])
    per_step = per_step[made // 2 if begin is None else begin :]
    many = len(per_step)
    if many < BATCHES:
        reason = f"too short to tell: {made} steps"
        unknown = {"stable": None, "piles_up": False, "reason": reason}
        return dict.fromkeys(figures, np.nan) | unknown
    _, completed, _ = _batches(per_step)
    edges = _edges(many)
    throughput, half = steady.run_interval(completed, np.diff(edges) * float(engine.network.pes))
    in_flight = np.cumsum(engine.per_step[:made, 0] - engine.per_step[:made, 1])[-many:]
    backlog = in_flight[edges[1:] - 1].astype(np.float64)
    slope, straight = steady.fitted_line(edges[1:].astype(np.float64), backlog)
    refused = engine.discarded_full / max(engine.issued + engine.discarded_full, 1)
    asked = float(per_step[:, 0].mean())
    growth = slope / asked if asked else 0.0
    said = f"{100 * growth:.2g} % of the requests made (R² = {straight:.2f})"
    stable, reason = False, f"requests in flight grow by {slope:.3g} a step, {said}"
    if refused > steady.BEHIND:
        reason = f"{100 * refused:.3g} % of the requests find the queue of their PE full"
    elif not (growth > steady.BEHIND and straight > steady.STRAIGHT):
        stable = True
        reason = f"requests in flight change by {said}, and {100 * refused:.2g} % are refused"
    piles_up = not stable and refused <= steady.BEHIND
    found = dict(zip(figures, (throughput, half, growth), strict=True))
    return found | {"stable": stable, "piles_up": piles_up, "reason": reason}


def _edges(length: int) -> Ints:
    return np.linspace(0, length, min(BATCHES, length) + 1).astype(np.int64)


def _batches(per_step: NDArray[np.generic]) -> Floats:
    """Return sums over batches of equal length: float64[3, batches]."""
    starts = _edges(len(per_step))[:-1]
    return np.add.reduceat(per_step, starts, axis=0).T.astype(np.float64)
