"""Which answers are points of curves, and where their tables have what a curve is drawn from."""

from __future__ import annotations

from typing import NamedTuple

SIMULATED, MODEL = "simulated", "model"
"""Who says what a curve says."""


class CurveKind(NamedTuple):
    """Where an answer's table has what a curve is drawn from; "" where it has no such thing.

    Attributes
    ----------
    family
        Curves of one family have the same axes; a model is of the family of what it predicts.
    whose
        Who says so: a simulator or a model.
    load, latency, half_width, accepted
        Columns: offered traffic or rate, mean latency, half of its 95 % interval, throughput.
    stable
        The column that says whether the network kept up; with ``-`` before it, the opposite.
    idle
        The column, or the figure, that is the latency of the idle network.
    """

    family: str
    whose: str
    load: str
    latency: str
    half_width: str
    accepted: str
    stable: str
    idle: str

    @property
    def model(self) -> bool:
        """Whether a model says so."""
        return self.whose == MODEL


class Axes(NamedTuple):
    """The words of a family's axes: what loads, latencies and throughput are, and their units.

    ``open`` says whether load is offered whatever becomes of it, so that a network can saturate.
    """

    load: str
    latency: str
    latency_unit: str
    accepted: str
    open: bool = True


KINDS = {
    "simulate": CurveKind(
        "offered", SIMULATED, "offered", "packet_latency_mean", "packet_latency_ci95", "accepted",
        "stable", "zero_load_latency",
    ),
    "find_saturation": CurveKind(
        "offered", SIMULATED, "offered", "packet_latency_mean", "packet_latency_ci95", "accepted",
        "stable", "zero_load_latency",
    ),
    "predict_latency": CurveKind(
        "offered", MODEL, "offered", "latency", "", "", "-saturated", "zero_load_latency"
    ),
    "simulate_broadcast": CurveKind(
        "rate", SIMULATED, "rate", "unicast_latency_mean", "unicast_latency_ci95", "accepted",
        "stable", "zero_load_latency",
    ),
    "predict_torus_broadcast": CurveKind(
        "rate", MODEL, "rate", "latency", "", "", "-saturated", "zero_load_latency"
    ),
    "simulate_hot_spots": CurveKind(
        "steps", SIMULATED, "rate", "steps_mean", "steps_ci95", "throughput", "stable",
        "unhindered_steps",
    ),
    "simulate_loop": CurveKind(
        "applied", SIMULATED, "applied", "message_latency", "", "accepted", "", "unhindered_latency"
    ),
}  # fmt: skip
"""The verbs whose answers are points of curves, or whole ones."""

AXES = {
    "offered": Axes(
        "offered traffic, flits/node/cycle", "packet latency", "cycles",
        "accepted traffic, flits/node/cycle",
    ),
    "rate": Axes(
        "rate, messages/node/cycle", "latency of unicast messages", "cycles",
        "accepted messages/node/cycle",
    ),
    "steps": Axes("rate, requests/PE/step", "round trip", "steps", "throughput, requests/PE/step"),
    "applied": Axes(
        "applied traffic, flits/node/cycle", "message latency", "cycles",
        "accepted traffic, flits/node/cycle", open=False,
    ),
}  # fmt: skip

OF_THE_RUN = frozenset({
    "load", "offered", "rate", "applied", "seed", "cycles", "precision", "most_cycles", "simulate",
    "alone", "steps", "replications", "loops", "skip", "k", "dimensions", "sides", "variant",
})  # fmt: skip
"""Fields of questions that say where on a curve a point is, or how well it is known."""

IN_OTHER_WORDS = frozenset({"app", "on", "message_flits"})
"""Fields for which the answer's figures stand: the traffic, the network, the packets."""

OF_THE_MODEL = {"predict_torus_broadcast": {"traffic": "uniform", "routing": "adaptive"}}
"""What a model is of that does not say it with its figures."""
