"""A training step of a large language model, operation by operation, as each rank does it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.training.llm import ORDER, VALUE_BYTES, Model, parse_llm
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    RECEIVE,
    SEND,
    Builder,
    Ends,
    Pending,
    RankProgram,
    match_calls,
    match_sends,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_OPERATIONS = 2**21
"""Most operations of a step."""

PURPOSES = {
    "tp": "tensor", "cp": "context", "ep": "experts", "all": "data", "expert": "data",
}  # fmt: skip
"""What collectives of each kind of group are for. Messages named otherwise are the pipeline's."""

PER_LAYER = 22
"""Most operations of a layer for one micro-batch, forward and backward."""


def llm_program(spec: str) -> RankProgram:
    """Return a training step of the model that ``llm:dp=8,tp=8,…`` names. See ``llm.Model``.

    Each stage of the pipeline does one forward and one backward in turn (1F1B). Within a rank all
    follows one after the other, but for sends to other stages, which go on beside. Gradients are
    reduced when the last micro-batch is done, parameters gathered after that.

    Raises
    ------
    InputError
        If the name is none, or the step has more than ``MOST_OPERATIONS``.

    Examples
    --------
    >>> llm_program("llm:dp=2,tp=2,layers=2,hidden=1024")
    <llm:dp=2,tp=2,layers=2,hidden=1024: 4 ranks, 40 operations, 20 collectives>
    """
    model = parse_llm(spec)
    per_rank = model.micro_batches * (model.stage_layers * PER_LAYER + 4) + 4
    if model.num_ranks * per_rank > MOST_OPERATIONS:
        found = f"some {model.num_ranks * per_rank} operations of {model.num_ranks} ranks"
        wanted = f"at most {MOST_OPERATIONS}: fewer micro-batches, layers or ranks"
        raise InputError(spec, found, wanted)
    step = _Step(model, spec)
    for rank in range(model.num_ranks):
        _Rank(step, rank).work()
    match_sends(step.builder, step.sends, step.receives)
    match_calls(step.builder, step.calls)
    return step.builder.program(spec)


class _Step:
    """What is known of all ranks."""

    def __init__(self, model: Model, spec: str) -> None:
        self.model, self.spec = model, spec
        self.builder = Builder(model.num_ranks)
        self.sends: defaultdict[tuple[int, int, int], list[Ends]] = defaultdict(list)
        self.receives: defaultdict[tuple[int, int, int], list[Ends]] = defaultdict(list)
        self.calls: defaultdict[Any, defaultdict[int, list[Pending]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.group: dict[str, list[tuple[int, ...]]] = {}  # of each rank, by what it is for
        for name, dims in (
            ("tp", ("tp",)), ("cp", ("cp",)), ("ep", ("ep",)),
            ("all", ("ep", "dp", "cp")), ("expert", ("dp", "cp")),
        ):  # fmt: skip
            self.group[name] = [()] * model.num_ranks
            for ranks in model.groups(*dims).tolist():
                for rank in ranks:
                    self.group[name][rank] = tuple(ranks)
        self.stages = np.moveaxis(model.grid(), ORDER.index("pp"), 0).reshape(model.pp, -1)


def in_turn(stage: int, stages: int, micro_batches: int) -> Iterator[tuple[bool, int]]:
    """Yield what a stage does by 1F1B: whether it is forward, and which micro-batch.

    Examples
    --------
    >>> "".join("BF"[forward] + str(number) for forward, number in in_turn(0, 3, 4))
    'F0F1F2B0F3B1B2B3'
    """
    ahead = min(stages - stage - 1, micro_batches)
    for number in range(ahead):
        yield True, number
    for number in range(micro_batches - ahead):
        yield True, number + ahead
        yield False, number
    for number in range(micro_batches - ahead, micro_batches):
        yield False, number


class _Rank:
    """A rank, whose operations follow one another."""

    def __init__(self, step: _Step, rank: int) -> None:
        self.step, self.model, self.rank = step, step.model, rank
        stage, place = np.argwhere(step.stages == rank)[0]
        self.stage = int(stage)
        self.ring = [int(each) for each in step.stages[:, place]]  # this place in each stage
        self.last: list[int] = []
        self.count = 0

    def work(self) -> None:
        """Add all operations of the step."""
        model = self.model
        for forward, number in in_turn(self.stage, model.pp, model.micro_batches):
            before = self.stage - 1 if forward else self.stage + 1
            after = self.stage + 1 if forward else self.stage - 1
            tag = 2 * number + (not forward)
            if 0 <= before < model.pp:
                self._receive(self.ring[before], tag)
            first = self.stage * model.stage_layers
            layers = range(first, first + model.stage_layers)
            for layer in layers if forward else reversed(layers):
                parts = (self._attention, self._inner)
                for part in parts if forward else reversed(parts):
                    part(layer, forward)
            if 0 <= after < model.pp:
                self._send(self.ring[after], tag)
        dense, experts = model.parameters(self.stage)
        for name, count in (
            ("all", dense / model.tp),
            ("expert", experts / model.ep / model.tp),
        ):
            if count:
                self._call("reduce-scatter", name, count * VALUE_BYTES[model.grads])
                self._call("all-gather", name, count * VALUE_BYTES[model.dtype])

    def _attention(self, layer: int, forward: bool) -> None:  # noqa: ARG002, FBT001
        model = self.model
        tokens = model.batch * model.seq / model.cp
        weights = 2 * model.hidden**2 + 2 * model.hidden * model.kv
        work = 2 * tokens * weights + 4 * tokens * model.seq * model.hidden
        self._opens()
        self._call("all-gather", "cp", model.keys_bytes)
        self._compute(work / model.tp, forward=forward)
        if not forward:
            self._call("reduce-scatter", "cp", model.keys_bytes)
        self._closes()

    def _inner(self, layer: int, forward: bool) -> None:  # noqa: FBT001
        model = self.model
        tokens = model.batch * model.seq / model.cp
        work = 2 * tokens * 2 * model.hidden * model.ffn
        self._opens()
        if model.has_experts(layer):
            group = self.step.group["ep"][self.rank]
            share = model.shares(layer)[group.index(self.rank)] * model.ep
            self._experts(layer, back=False)
            self._compute(work * model.top_k * share / model.tp, forward=forward)
            self._experts(layer, back=True)
        else:
            self._compute(work / model.tp, forward=forward)
        self._closes()

    def _opens(self) -> None:
        if self.model.sp:
            self._call("all-gather", "tp", self.model.activation_bytes)

    def _closes(self) -> None:
        kind = "reduce-scatter" if self.model.sp else "all-reduce"
        self._call(kind, "tp", self.model.activation_bytes)

    def _experts(self, layer: int, *, back: bool) -> None:
        pairs = self.model.pair_bytes(layer, back=back)
        if pairs is None:
            self._call("all-to-all", "ep", self.model.dispatch_bytes)
            return
        row = tuple(pairs[self.step.group["ep"][self.rank].index(self.rank)].tolist())
        self._call("all-to-all", "ep", sum(row), row)

    def _compute(self, operations: float, *, forward: bool) -> None:
        if self.model.tflops:
            seconds = operations * (1 if forward else 2) / (self.model.tflops * 1e12)
            self._follow(COMPUTE, seconds=seconds)

    def _call(self, kind: str, name: str, size: float, row: tuple[float, ...] = ()) -> None:
        group = self.step.group[name][self.rank]
        if len(group) > 1:
            operation = self._follow(CALL)
            purpose = PURPOSES[name]
            call = Pending(operation, kind, group, size, 0, self.step.spec, row, purpose)
            self.step.calls[name, group][self.rank].append(call)

    def _send(self, peer: int, tag: int) -> None:
        size = self.model.activation_bytes / self.model.tp
        sent = self._add(SEND, peer=peer, size=size)
        self.step.sends[self.rank, peer, tag].append(Ends(sent, size, self.step.spec))

    def _receive(self, peer: int, tag: int) -> None:
        got = self._follow(RECEIVE, peer=peer)
        self.step.receives[peer, self.rank, tag].append(Ends(got, 0.0, self.step.spec))

    def _follow(self, kind: int, **more: Any) -> int:
        """Add an operation that the next one awaits."""
        added = self._add(kind, **more)
        self.last = [added]
        return added

    def _add(self, kind: int, **more: Any) -> int:
        self.count += 1
        name = f"{self.rank}.{self.count}"
        return self.step.builder.add(name, kind, self.rank, self.last, **more)
