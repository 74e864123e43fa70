"""Training steps of parallel language models: traffic, and programs.

``llm:dp=8,tp=8,pp=4,…`` names how a large language model is trained. A step is a process graph,
collective by collective, or a program, operation by operation, as each rank does it.

b sequences per micro-batch of s tokens each, hidden size h, e bytes per value. A layer sends per
micro-batch, in groups of each kind:

- tensor (tp): 4 all-reduces of b·(s/cp)·h·e, 2 forward and 2 backward. With sequence parallelism
  (``sp=1``) an all-gather and a reduce-scatter of that size in place of each;
- context (cp): an all-gather of keys and values forward and one backward, and a reduce-scatter of
  their gradients, each of 2·b·s·kv·e/tp;
- expert (ep): of a layer of experts 4 all-to-alls, 2 forward and 2 backward, in which each rank has
  b·(s/cp)/tp·top_k·h·e.

From one stage of the pipeline (pp) to the next, and back, each rank sends b·(s/cp)·h·e/tp per
micro-batch. Forward and backward passes take turns (1F1B). Once per step, data parallelism (dp, cp)
reduce-scatters gradients and all-gathers parameters, params/(tp·pp) of both. Those of experts among
the ranks that have the same ones. Sources: Shoeybi et al. 2019, Narayanan et al. 2021, Korthikanti
et al. 2022, Rajbhandari et al. 2022.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS, check_size, real_number, whole_number
from netloom.workload.graphs.process_graph import ProcessGraph, process_graph
from netloom.workload.programs.collectives.algorithms import (
    collective_program,
    outline,
    with_pair_sizes,
)
from netloom.workload.programs.collectives.program import COLLECTIVES, sizes_in_bytes
from netloom.workload.programs.training.rank_programs import (
    CALL,
    COMPUTE,
    RECEIVE,
    SEND,
    Builder,
    Pending,
    RankProgram,
    parse_algorithms,
)

# -- what groups send ------------------------------------------------------------------------------


class Volume(NamedTuple):
    """What groups of ranks send alike, in one collective or from the first to the second.

    ``groups``: int[n, P], the ranks of each group in its order. ``size_bytes``: as
    ``CollectiveProgram`` means it, or of a message. ``times``: how often each group does it.
    ``pair_bytes``: float64[P, P], of an all-to-all with unequal parts.
    """

    name: str
    collective: str  # or "send"
    groups: Ints
    size_bytes: float
    times: int
    pair_bytes: Floats | None = None


def graph_of_volumes(
    name: str, num_ranks: int, volumes: list[Volume], algorithms: Mapping[str, str]
) -> ProcessGraph:
    """Return bytes and messages by pair of ranks, of all volumes together.

    Raises
    ------
    InputError
        If an algorithm does not fit.

    Examples
    --------
    >>> ring = Volume("gradients", "all-reduce", np.array([[0, 1, 2, 3]]), 4e6, 10)
    >>> graph = graph_of_volumes("four", 4, [ring], {"all-reduce": "ring"})
    >>> graph.target.tolist(), graph.bytes.tolist()[0] == 10 * 2 * 3 * 1e6
    ([1, 2, 3, 0], True)
    """
    alike: dict[int, list[Volume]] = {}  # those of the same groups are added up first
    for each in volumes:
        alike.setdefault(id(each.groups), []).append(each)
    rows: list[tuple[Any, ...]] = [
        (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    ]
    for some in alike.values():
        groups = some[0].groups
        pairs = ((_pairs(each, algorithms), each.times) for each in some)
        parts = [(key, sent * times, count * times) for (key, sent, count), times in pairs]
        key, *weights = _added(*map(np.concatenate, zip(*parts, strict=True)))
        ends = (groups[:, end].ravel() for end in np.divmod(key, groups.shape[1]))
        rows.append((*ends, *(np.tile(each, len(groups)) for each in weights)))
    source, target, sent, messages = map(np.concatenate, zip(*rows, strict=True))
    return process_graph(num_ranks, source, target, bytes=sent, messages=messages, name=name)


def _pairs(volume: Volume, algorithms: Mapping[str, str]) -> tuple[Ints, Floats, Floats]:
    """Return pairs of a group, source · P + target, and bytes and messages of each, once."""
    if volume.collective == "send":
        return np.array([1]), np.array([volume.size_bytes]), np.ones(1)
    num_ranks = volume.groups.shape[1]
    algorithm = algorithms[volume.collective]
    if volume.pair_bytes is not None:
        program = collective_program(volume.collective, algorithm, num_ranks)
        program, size = with_pair_sizes(program, volume.pair_bytes)
        sent = sizes_in_bytes(program.message_size, size)
        key = program.source * np.int64(num_ranks) + program.target
        return _added(key, sent, np.ones(program.num_messages))
    found = outline(volume.collective, algorithm, num_ranks)
    unit, steps = np.float64(found.chunk_size[0]), found.steps
    sizes = (each.times * sizes_in_bytes(each.width * unit, volume.size_bytes) for each in steps)
    keys = (each.source * np.int64(num_ranks) + each.target for each in steps)
    counts = (np.full(len(each.source), float(each.times)) for each in steps)
    none = np.zeros(0)
    return _added(
        np.concatenate([none.astype(np.int64), *keys]),
        np.concatenate([none, *sizes]),
        np.concatenate([none, *counts]),
    )


def _added(key: Ints, sent: Floats, messages: Floats) -> tuple[Ints, Floats, Floats]:
    pairs, place = np.unique(key, return_inverse=True)
    total, count = (np.bincount(place, each).astype(np.float64) for each in (sent, messages))
    return pairs, total, count


# -- models ----------------------------------------------------------------------------------------


ORDER = ("tp", "cp", "ep", "dp", "pp")
"""The order in which ranks are numbered, the fastest first, as in Megatron-LM."""

VALUE_BYTES = {"fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
"""Bytes of a value of each type."""

USUAL_SEQUENCE = 4096

MOST_LAYERS, MOST_RANKS = 2**14, 2**20
"""Most layers of a model, as many experts, and most ranks."""

MOST_SKEWED = 2**24
"""Most pairs of ranks of a group in all-to-alls of all layers, if each layer's are different."""

EXAMPLE = "llm:dp=8,tp=8,pp=4,layers=32,hidden=4096"


@dataclass(frozen=True)
class Model:
    """A model, and how it is trained in parallel.

    Attributes
    ----------
    layers, hidden
        Layers in all, and the hidden size h.
    dp, tp, pp, cp, ep
        Ranks of data, tensor, pipeline, context and expert parallelism: dp·tp·pp·cp in all.
        Groups of ep ranks that have all experts together are parts of data-parallel groups.
    seq, batch, micro_batches
        Tokens of a sequence, sequences of a micro-batch, and micro-batches of a step.
    ffn, kv
        Width of the inner layer, and of keys and values; 4h and h unless given.
    experts, top_k, moe_every, skew
        Experts of a layer (0: none). How many each token goes to. Every how many layers have them,
        and how unequal they are: the i-th most popular one of P gets a share as 1/i^skew. Layer l's
        most popular one is the expert l mod P.
    sp
        1 with sequence parallelism in tensor-parallel groups, else 0.
    dtype, grads
        Types of activations and parameters, and of gradients: see ``VALUE_BYTES``.
    tflops
        What a rank computes per second, in 10^12 operations, or 0: computation takes no time.
    order
        Dimensions, the one first whose ranks are numbered one after the other.
    algorithms
        Of collectives that are not to be done in the usual way.
    """

    layers: int
    hidden: int
    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    seq: int = USUAL_SEQUENCE
    batch: int = 1
    micro_batches: int = 1
    ffn: int = 0
    kv: int = 0
    experts: int = 0
    top_k: int = 2
    moe_every: int = 1
    skew: float = 0.0
    sp: int = 0
    dtype: str = "bf16"
    grads: str = "bf16"
    tflops: float = 0.0
    order: tuple[str, ...] = ORDER
    algorithms: dict[str, str] = field(default_factory=dict)

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def activation_bytes(self) -> float:
        """b·(s/cp)·h·e, what a layer hands on."""
        return self.batch * self.seq / self.cp * self.hidden * VALUE_BYTES[self.dtype]

    @property
    def dispatch_bytes(self) -> float:
        """What a rank has for the experts of a layer."""
        return self.activation_bytes / self.tp * self.top_k

    @property
    def keys_bytes(self) -> float:
        """Keys and values of all tokens of a micro-batch in a tensor-parallel rank."""
        return 2 * self.batch * self.seq * self.kv * VALUE_BYTES[self.dtype] / self.tp

    @property
    def stage_layers(self) -> int:
        """Layers of each stage of the pipeline."""
        return self.layers // self.pp

    def layers_of(self, stage: int) -> range:
        """Return the layers of a stage of the pipeline."""
        return range(stage * self.stage_layers, (stage + 1) * self.stage_layers)

    def has_experts(self, layer: int) -> bool:
        """Return whether a layer, counted from 0, has experts."""
        return self.experts > 0 and layer % self.moe_every == self.moe_every - 1

    def parameters(self, stage: int) -> tuple[float, float]:
        """Return a stage's parameters of which all have a part, and those of experts.

        Attention has 2h² + 2·h·kv, the rest of a layer 2·h·ffn, each expert as much. Embeddings,
        norms and routers are left out.
        """
        layers = self.layers_of(stage)
        some = sum(map(self.has_experts, layers))
        attention = 2 * self.hidden**2 + 2 * self.hidden * self.kv
        inner = 2 * self.hidden * self.ffn
        dense = len(layers) * attention + (len(layers) - some) * inner
        return float(dense), float(some * self.experts * inner)

    def grid(self) -> Ints:
        """Return the ranks by their place in each dimension: int64[tp, cp, ep, dp/ep, pp]."""
        sides = {"tp": self.tp, "cp": self.cp, "ep": self.ep, "dp": self.dp // self.ep}
        sides["pp"] = self.pp
        slowest = self.order[::-1]
        ranks = np.arange(self.num_ranks).reshape([sides[name] for name in slowest])
        return ranks.transpose([slowest.index(name) for name in ORDER])

    def groups(self, *dims: str) -> Ints:
        """Return the groups of ranks that differ in some dimensions only, int64[n, P].

        Examples
        --------
        >>> parse_llm("llm:dp=2,tp=2,layers=2,hidden=8").groups("dp").tolist()
        [[0, 2], [1, 3]]
        """
        grid = self.grid()
        moved = [ORDER.index(name) for name in ORDER[::-1] if name in dims]
        kept = [axis for axis in range(len(ORDER)) if axis not in moved]
        size = prod(grid.shape[axis] for axis in moved)
        found = grid.transpose([*kept, *moved]).reshape(-1, size)
        return np.sort(found[np.argsort(found.min(axis=1))], axis=1)

    def pair_bytes(self, layer: int, back: bool) -> Floats:  # noqa: FBT001
        """Return what ranks of a group send each other to a layer's experts, or back.

        float64[ep, ep]. See ``skew``.
        """
        shares = self.shares(layer)
        found = np.tile(self.dispatch_bytes * shares, (self.ep, 1))
        return np.ascontiguousarray(found.T) if back else found

    def shares(self, layer: int) -> Floats:
        """Return the share of a layer's tokens that goes to the experts of each rank of a group."""
        weight = 1 / np.arange(1, self.experts + 1) ** self.skew
        placed = np.roll(weight / weight.sum(), layer % self.experts)
        shares: Floats = placed.reshape(self.ep, -1).sum(axis=1)
        return shares


def parse_llm(spec: str) -> Model:
    """Return the model that ``llm:dp=8,tp=8,…`` names.

    Raises
    ------
    InputError
        If a name is unknown or twice there, a number is none, or they do not divide each other.

    Examples
    --------
    >>> model = parse_llm("llm:dp=8,tp=8,pp=4,layers=32,hidden=4096,all-reduce=rabenseifner")
    >>> model.num_ranks, model.micro_batches, model.algorithms
    (256, 4, {'all-reduce': 'rabenseifner'})
    """
    known = {each.name: each.type for each in fields(Model) if each.name != "algorithms"}
    said: dict[str, str] = {}
    for word in spec.partition(":")[2].split(","):
        name, sign, value = (part.strip() for part in word.partition("="))
        if name not in known and name not in COLLECTIVES:
            wanted = f"{', '.join(known)}, or a collective: {EXAMPLE}"
            raise InputError(spec, f"'{name}'", wanted)
        if not sign or not value or name in said:
            again = "again" if name in said else "without a value"
            raise InputError(spec, f"{name} {again}", f"{name}=… once")
        said[name] = value
    for name in ("layers", "hidden"):
        if name not in said:
            raise InputError(spec, f"no {name}", EXAMPLE)
    values = {
        name: _value(name, str(kind), said[name], f"{spec}, {name}")
        for name, kind in known.items()
        if name in said
    }
    algorithms = {name: value for name, value in said.items() if name in COLLECTIVES}
    for name, value in algorithms.items():
        parse_algorithms(f"{name}={value}", where=spec)
    values.setdefault("micro_batches", values.get("pp", 1))
    values.setdefault("grads", values.get("dtype", "bf16"))
    values.setdefault("ffn", 4 * values["hidden"])
    values.setdefault("kv", values["hidden"])
    model = Model(**values, algorithms=algorithms)
    _check(model, spec)
    return model


def unsaid(spec: str) -> str:
    """Return the defaults that a name leaves to netloom, as it could say them.

    Examples
    --------
    >>> unsaid("llm:tp=8,pp=4,layers=32,hidden=4096,batch=2")
    'seq=4096, micro_batches=4, dtype=bf16'
    """
    words = [word.partition("=") for word in spec.partition(":")[2].split(",")]
    said = {name.strip(): value.strip() for name, _, value in words}
    usual = {"seq": USUAL_SEQUENCE, "batch": 1, "micro_batches": said.get("pp", 1)}
    usual["dtype"] = "bf16"
    return ", ".join(f"{name}={value}" for name, value in usual.items() if name not in said)


def _value(name: str, kind: str, text: str, where: str) -> Any:
    """Return what is said of a field."""
    if kind == "int":
        number = whole_number(text, where=where, least=0 if name in ("experts", "sp") else 1)
        check_size(number, where=where, what=name)
        return number
    if kind == "float":
        amount = real_number(text, where=where)
        if not 0 <= amount <= MAX_ELEMENTS:
            raise InputError(where, f"'{text}'", f"0 to {MAX_ELEMENTS}")
        return amount
    if name == "order":
        # the dimensions in order: ep stands before dp where it is not said
        names = text.split("-")
        if "ep" not in names and "dp" in names:
            names.insert(names.index("dp"), "ep")
        if sorted(names) != sorted(ORDER):
            raise InputError(where, f"'{text}'", f"{'-'.join(ORDER)} in any order")
        return tuple(names)
    if text not in VALUE_BYTES:
        raise InputError(where, f"'{text}'", ", ".join(VALUE_BYTES))
    return text


def _check(model: Model, spec: str) -> None:
    """Refuse what does not divide."""
    check_size(model.num_ranks, where=spec, what="ranks")
    for name, by in (("layers", "pp"), ("seq", "cp"), ("dp", "ep"), ("experts", "ep")):
        if getattr(model, name) % getattr(model, by):
            found = f"{name}={getattr(model, name)} with {by}={getattr(model, by)}"
            raise InputError(spec, found, f"a {name} that {by} divides")
    if model.ep > 1 and not model.experts:
        raise InputError(spec, f"ep={model.ep} without experts", "experts=…")
    if model.experts and not model.top_k <= model.experts:
        raise InputError(spec, f"top_k={model.top_k}", f"1 to {model.experts} experts")
    for name, most in (("layers", MOST_LAYERS), ("experts", MOST_LAYERS)):
        if getattr(model, name) > most:
            raise InputError(spec, f"{name}={getattr(model, name)}", f"at most {most}")
    if model.num_ranks > MOST_RANKS:
        raise InputError(spec, f"{model.num_ranks} ranks", f"at most {MOST_RANKS}")
    if model.skew and model.layers * model.ep**2 > MOST_SKEWED:
        found = f"{model.layers} layers of groups of {model.ep} ranks with skew"
        raise InputError(spec, found, "fewer, or no skew")
    if model.sp > 1:
        raise InputError(spec, f"sp={model.sp}", "0 or 1")


# -- what a rank does ------------------------------------------------------------------------------


KINDS = {
    "tp": ("tensor", ("tp",)),
    "cp": ("context", ("cp",)),
    "ep": ("experts", ("ep",)),
    "all": ("data", ("ep", "dp", "cp")),
    "expert": ("data", ("dp", "cp")),
}
"""What collectives of each kind of group are for, and in which dimensions its ranks differ."""

PURPOSES = tuple(dict.fromkeys(purpose for purpose, _ in KINDS.values()))
"""What collectives are for. Messages named otherwise are the pipeline's."""


class Work(NamedTuple):
    """A collective that a rank calls in a group, or a computation."""

    collective: str  # "" of a computation
    kind: str  # of the group: see ``KINDS``
    amount: float  # bytes, or operations
    # Of an all-to-all with unequal parts: the layer, and whether tokens come back.
    routed: tuple[int, bool] | None = None


def layer_work(model: Model, layer: int, *, forward: bool, place: int = 0) -> Iterator[Work]:
    """Yield what a rank does for a layer of one micro-batch, one after the other.

    ``place``: that of the rank in its group of experts.
    """
    tokens, times = model.batch * model.seq / model.cp, 1 if forward else 2
    for attention in (forward, not forward):  # backwards it is the last
        if model.sp:
            yield Work("all-gather", "tp", model.activation_bytes)
        if attention:
            weights = 2 * model.hidden**2 + 2 * model.hidden * model.kv
            work = 2 * tokens * weights + 4 * tokens * model.seq * model.hidden
            yield Work("all-gather", "cp", model.keys_bytes)
            yield Work("", "", work / model.tp * times)
            if not forward:
                yield Work("reduce-scatter", "cp", model.keys_bytes)
        else:
            work, ways = 2 * tokens * 2 * model.hidden * model.ffn, list[Work]()
            if model.has_experts(layer):
                work = work * model.top_k * (model.shares(layer)[place] * model.ep)
                routed = [(layer, back) if model.skew else None for back in (False, True)]
                ways = [Work("all-to-all", "ep", model.dispatch_bytes, each) for each in routed]
            yield from ways[:1]
            yield Work("", "", work / model.tp * times)
            yield from ways[1:]
        kind = "reduce-scatter" if model.sp else "all-reduce"
        yield Work(kind, "tp", model.activation_bytes)


def last_work(model: Model, stage: int) -> Iterator[Work]:
    """Yield what ranks of a stage do once per step: with gradients, and with parameters."""
    dense, experts = model.parameters(stage)
    for name, count in (("all", dense / model.tp), ("expert", experts / model.ep / model.tp)):
        if count:
            yield Work("reduce-scatter", name, count * VALUE_BYTES[model.grads])
            yield Work("all-gather", name, count * VALUE_BYTES[model.dtype])


# -- a step as a process graph ---------------------------------------------------------------------


def volumes(model: Model) -> list[Volume]:
    """Return what a step sends, stage by stage: those of this module's formulas.

    Examples
    --------
    >>> model = parse_llm("llm:dp=2,tp=4,layers=4,hidden=1024,seq=2048,micro_batches=3")
    >>> for each in volumes(model):
    ...     print(each.name, each.groups.shape, each.times, f"{each.size_bytes:.0f}")
    tp (2, 4) 48 4194304
    all (4, 2) 1 25165824
    all (4, 2) 1 25165824
    """
    found, handed = [], model.activation_bytes / model.tp
    stages = np.moveaxis(model.grid(), ORDER.index("pp"), 0).reshape(model.pp, -1)
    every = {name: model.groups(*dims) for name, (_, dims) in KINDS.items()}
    for stage, ranks in enumerate(stages):
        groups = {name: each[np.isin(each[:, 0], ranks)] for name, each in every.items()}
        layers = product(model.layers_of(stage), (True, False))
        work = Counter(
            each for layer, way in layers for each in layer_work(model, layer, forward=way)
        )
        counts = {each: count * model.micro_batches for each, count in work.items()}
        for each, times in (counts | dict.fromkeys(last_work(model, stage), 1)).items():
            if each.collective and groups[each.kind].shape[1] > 1:
                pairs = None if each.routed is None else model.pair_bytes(*each.routed)
                many = groups[each.kind], each.amount, times, pairs
                found.append(Volume(each.kind, each.collective, *many))
    ends = [np.stack(pair, axis=1) for a, b in pairwise(stages) for pair in ((a, b), (b, a))]
    if ends:  # what stages of the pipeline send each other, forward and backward
        found.append(Volume("pp", "send", np.concatenate(ends), handed, model.micro_batches))
    return found


def llm_graph(spec: str) -> ProcessGraph:
    """Return bytes and messages of a training step by pair of ranks.

    Raises
    ------
    InputError
        If the name is none.

    Examples
    --------
    >>> llm_graph("llm:dp=2,tp=4,pp=2,layers=8,hidden=1024")
    <llm:dp=2,tp=4,pp=2,layers=8,hidden=1024: 16 tasks, 48 directed edges, 6.912e+09 bytes, 3136 messages>
    """  # noqa: E501
    model = parse_llm(spec)
    algorithms = parse_algorithms("") | model.algorithms
    return graph_of_volumes(spec, model.num_ranks, volumes(model), algorithms)


# -- a step as a program ---------------------------------------------------------------------------


MOST_OPERATIONS = 2**21
"""Most operations of a step."""

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
    builder = Builder(model.num_ranks)
    groups: dict[str, list[tuple[int, ...]]] = {}  # of each rank, by what it is for
    for name, (_, dims) in KINDS.items():
        groups[name] = [()] * model.num_ranks
        for ranks in model.groups(*dims).tolist():
            for rank in ranks:
                groups[name][rank] = tuple(ranks)
    stages = np.moveaxis(model.grid(), ORDER.index("pp"), 0).reshape(model.pp, -1)
    for rank in range(model.num_ranks):
        own = {name: of_rank[rank] for name, of_rank in groups.items()}
        stage, place = np.argwhere(stages == rank)[0].tolist()
        _Rank(model, spec, builder, own, stages[:, place].tolist(), stage, rank).work()
    return builder.program(spec)


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


@dataclass
class _Rank:
    """A rank, whose operations follow one another."""

    model: Model
    spec: str
    builder: Builder
    groups: Mapping[str, tuple[int, ...]]
    ring: list[int]  # this place in each stage
    stage: int
    rank: int
    last: list[int] = field(default_factory=list)
    count: int = 0

    def work(self) -> None:
        """Add all operations of the step."""
        model, place = self.model, self.groups["ep"].index(self.rank)
        for forward, number in in_turn(self.stage, model.pp, model.micro_batches):
            before = self.stage - 1 if forward else self.stage + 1
            after = self.stage + 1 if forward else self.stage - 1
            tag = 2 * number + (not forward)
            if 0 <= before < model.pp:
                got = self._add(RECEIVE, peer=self.ring[before])
                self.builder.seek(got, tag, self.spec)
            layers = model.layers_of(self.stage)
            for layer in layers if forward else reversed(layers):
                for each in layer_work(model, layer, forward=forward, place=place):
                    self._do(each)
            if 0 <= after < model.pp:
                peer = self.ring[after]
                size = self.model.activation_bytes / self.model.tp
                sent = self._add(SEND, peer=peer, size=size)
                self.builder.seek(sent, tag, self.spec)
        for each in last_work(model, self.stage):
            self._do(each)

    def _do(self, work: Work) -> None:
        """Add a computation, if that takes time, or a call, if there are others to call."""
        if not work.collective:
            if self.model.tflops:
                self._add(COMPUTE, seconds=work.amount / (self.model.tflops * 1e12))
            return
        group, size, row = self.groups[work.kind], work.amount, list[float]()
        if len(group) == 1:
            return
        if work.routed:
            row = self.model.pair_bytes(*work.routed)[group.index(self.rank)].tolist()
            size = sum(row)
        said = self.spec, tuple(row), KINDS[work.kind][0]
        call = Pending(self._add(CALL), work.collective, group, size, 0, *said)
        self.builder.pending[work.kind, group][self.rank].append(call)

    def _add(self, kind: int, **more: Any) -> int:
        """Add an operation. The next one awaits it, but for a send, which goes on beside."""
        self.count += 1
        added = self.builder.add(f"{self.rank}.{self.count}", kind, self.rank, self.last, **more)
        if kind != SEND:
            self.last = [added]
        return added
