"""What the simulator says of a configuration of ``latency_accuracy_draws``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from netloom.questions.simulate.load.question import simulate
from netloom.questions.simulate.saturation.question import find_saturation
from netloom.studies.latency_accuracy_draws import traffic_of
from netloom.studies.model_accuracy_kept import simulate_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from netloom.studies.model_accuracy_kept import Case, Stopped

OF_THE_NETWORK = (
    "on", "vcs", "packet_flits", "buffer_flits", "channel_cycles", "router", "switching",
    "oldest_first", "failed_channels", "seed",
)  # fmt: skip
"""Fields of a configuration that are also those of a question."""


def simulate_configurations(cases: Sequence[Case], kept: str | Path) -> list[dict[str, Any] | None]:
    """Return what simulation finds of each configuration; see ``simulate_all``."""
    return simulate_all(cases, simulated, kept, "random networks")


def asked(case: Case) -> dict[str, Any]:
    """Return the fields of a configuration as those of a question about it."""
    return {name: case[name] for name in OF_THE_NETWORK if name in case} | {
        "traffic": traffic_of(case)
    }


def simulated(case: Case, stopped: Stopped) -> dict[str, Any] | None:
    """Find where it saturates, then latencies at parts of that; None if it is to stop."""
    question = asked(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about buffers: these are the point
        search = find_saturation(**question, most_cycles=case["saturation_cycles"]).searches[0]
        found = search.found
        if stopped() or search.interrupted:
            return None
        curve = simulate(
            **question, load=[part * found.load for part in case["loads"]],
            precision=case["precision"], most_cycles=case["latency_cycles"],
        )  # fmt: skip
    if stopped() or curve.interrupted:
        return None
    return {
        "saturation": found.load,
        "width": found.load_width,
        "idle": found.zero_load_latency,
        "bound": search.setting.bound.load,
        "points": [
            {
                "part": part,
                "load": point.run.load,
                "latency": point.run.measured.packet_latency if point.run.stable else None,
                "ci95": point.run.measured.packet_latency_ci95 if point.run.stable else None,
            }
            for part, point in zip(case["loads"], curve.points, strict=False)
        ],
    }
