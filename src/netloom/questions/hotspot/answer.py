"""The answer of ``simulate_hot_spots``: what shared words do to a combining network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.errors import InputError
from netloom.questions.answers import Answer
from netloom.questions.hotspot.figures import (
    hot_spots_of,
    queue_figures,
    run_row,
    stage_rows,
    steps_interval,
)
from netloom.questions.numbers import known, plainly
from netloom.simulation.combining.replications import Replications, Steps
from netloom.simulation.intervals import interval_over_runs

if TYPE_CHECKING:
    import polars as pl

    from netloom.provenance import Provenance
    from netloom.simulation.combining import CombiningNetwork


@dataclass(frozen=True, eq=False, kw_only=True)
class HotSpotLoad(Replications):
    """What a network does with requests at one rate.

    Attributes
    ----------
    rate
        Probability that a processing element makes a request in a step.
    """

    rate: float

    @property
    def reason(self) -> str:
        """Why it keeps up, or does not; of several runs the first that does not."""
        which = [place for place, run in enumerate(self.runs) if run.stable is self.stable]
        said, many = self.runs[which[0]].reason, len(self.runs)
        if many == 1:
            return said
        count = f"all {many}" if len(which) == many else f"{len(which)} of {many}"
        return f"in {count} replications; with seed {self.seeds[which[0]]}, {said}"

    @property
    def note(self) -> str | None:
        """What to know before relying on the figures."""
        if self.interrupted:
            return "interrupted: figures are of the steps it came to"
        if any(run.piles_up for run in self.runs):
            return (
                "figures depend on how long a run lasts: requests pile up, and means of queues "
                "take in the time until the last is answered"
            )
        if self.stable is False:
            return "figures are of the requests that are not refused"
        return None

    @property
    def sentence(self) -> str:
        """What it comes to, for whoever has to choose the sizes."""
        if not self.latency_counts.sum():
            return "No request was completed."
        kept = {True: "Keeps up", False: "Falls behind", None: "Not known to keep up"}[self.stable]
        where, mean = self.fullest
        queue, pool = self.sizes_used
        network = self.network
        packets = "packet was" if queue == 1 else "packets were"
        sizes = f"{queue} {packets} in a queue{_full(network.queue, queue)}"
        if network.combining != "none":
            sizes += f" and {pool} in a wait buffer{_full(network.wait_buffer, pool)}"
        return (
            f"{kept}: {self.reason}. The longest queues are those of {where}, {mean:.4g} on "
            f"average; at most {sizes}."
        )

    def row(self) -> dict[str, Any]:
        """Return the figures as one row of a table: means over runs, and the largest maxima."""
        data = self.to_dict()
        flat = ("steps", "queue", "wait_buffer")
        return {
            "rate": self.rate,
            "stable": self.stable,
            "replications": len(self.runs),
            "requests_per_pe": data["requests"]["mean_per_pe"],
            **{f"{name}_{part}": value for name in flat for part, value in data[name].items()},
            "throughput": data["throughput"],
            "throughput_ci95": data["throughput_ci95"],
            "refused": data["discarded"]["full_share"],
            "waited": data["discarded"]["waiting_share"],
            "finalisation_steps": data["finalisation_steps"],
            "fullest": self.fullest[0],
        }

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data: means over runs with their intervals, largest maxima.

        Means of steps are over all requests alike, other means over all runs alike. Of one run
        the intervals are from batch means, where there are any: steps have none where requests
        pile up.
        """
        runs, first = self.runs, self.runs[0]
        alone = len(runs) == 1
        throughput, throughput_half = interval_over_runs([run.throughput for run in runs])
        requests, requests_half = interval_over_runs([run.requests_per_pe for run in runs])
        finalisation, _ = interval_over_runs([run.finalisation_steps for run in runs])
        made = sum(run.requests for run in runs)
        waiting = sum(run.discarded_waiting for run in runs)
        full = sum(run.discarded_full for run in runs)
        wanted = max(made + waiting + full, 1)
        levels, stages = queue_figures(self)
        return {
            "rate": self.rate,
            "replications": len(runs),
            "requests": {
                "total": made,
                "mean_per_pe": known(requests),
                "mean_per_pe_ci95": known(requests_half),
            },
            "discarded": {
                "waiting": waiting,
                "waiting_share": waiting / wanted,
                "full": full,
                "full_share": full / wanted,
            },
            "combined_share": self.combined_share,
            "steps": self.steps(),
            **levels,
            "stages": stages,
            "hot_spots": hot_spots_of(self.network, runs, self.seeds),
            "throughput": known(throughput),
            "throughput_ci95": known(first.throughput_ci95 if alone else throughput_half),
            "finalisation_steps": first.finalisation_steps if alone else known(finalisation),
            "moves": sum(run.moves for run in runs),
            "cpu_seconds": sum(run.cpu_seconds for run in runs),
            "stable": self.stable,
            "reason": self.reason,
            "note": self.note,
            "verdict": self.sentence,
            "runs": [run_row(self.rate, *each) for each in zip(runs, self.seeds, strict=True)],
        }

    def __repr__(self) -> str:
        steps = self.steps()
        mean = "no" if steps["mean"] is None else f"{steps['mean']:.4g}"
        note = f" ({self.note})" if self.note else ""
        return (
            f"rate {self.rate:.4g}: {mean} steps, {steps['unhindered']} unhindered. "
            f"{self.sentence}{note}"
        )

    def steps(self) -> dict[str, Any]:
        """Return the steps that requests took, over those of all runs alike."""
        found, unhindered = self.steps_taken, {"unhindered": self.network.unhindered_steps}
        if found is None:
            return dict.fromkeys(Steps._fields) | unhindered
        half = steps_interval(self.runs[0]) if len(self.runs) == 1 else known(found.ci95)
        return found._asdict() | {"ci95": half} | unhindered


@dataclass(frozen=True, eq=False)
class HotSpotSimulation(Answer):
    """What ``simulate_hot_spots`` found, at one rate or at several.

    Attributes
    ----------
    network
        What was simulated.
    points
        One for each rate, rising.
    asked
        The rates that were asked for.
    finished
        Whether all runs came to their end.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "rates", "stages", "latencies")

    network: CombiningNetwork
    points: tuple[HotSpotLoad, ...]
    asked: tuple[float, ...]
    finished: bool
    provenance: Provenance

    @property
    def interrupted(self) -> bool:
        """Whether a run was stopped from outside."""
        return not self.finished

    @property
    def point(self) -> HotSpotLoad:
        """The one point that there is.

        Raises
        ------
        InputError
            If several rates were asked for, or none was come to.
        """
        if len(self.asked) > 1 or not self.points:
            raise InputError("simulation", f"{len(self.points)} rates", "one of its points")
        return self.points[0]

    def table(self) -> pl.DataFrame:
        """Return one row a run: rate and replication."""
        import polars as pl

        rows = [
            run_row(point.rate, *each)
            for point in self.points
            for each in zip(point.runs, point.seeds, strict=True)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def rates(self) -> pl.DataFrame:
        """Return one row a rate: means over its runs with their intervals, largest maxima."""
        import polars as pl

        return pl.DataFrame([point.row() for point in self.points], infer_schema_length=None)

    def latencies(self) -> pl.DataFrame:
        """Return one row a rate and number of steps: how many requests of all runs took so many."""
        import polars as pl

        counted = [(point.rate, point.latency_counts) for point in self.points]
        rows = [
            (rate, steps, int(counts[steps]))
            for rate, counts in counted
            for steps in np.flatnonzero(counts).tolist()
        ]
        schema = {"rate": pl.Float64, "steps": pl.Int64, "requests": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def stages(self) -> pl.DataFrame:
        """Return one row a run, stage and kind of queue: requests, replies or waiting.

        Stage −1 are the processing elements (requests only), stage K the modules (replies only).
        Mean and maximum are over the ``used`` queues that ever held a packet.
        """
        import polars as pl

        rows = [
            row
            for point in self.points
            for run, seed in zip(point.runs, point.seeds, strict=True)
            for row in stage_rows(point.rate, seed, run)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom hotspot``."""
        asked = self.provenance.configuration
        network = self.network
        common = {
            "pes": network.pes,
            "switch_size": network.switch_size,
            "network_stages": network.stages,
            "capacity": {"queue": network.queue, "wait_buffer": network.wait_buffer},
            **{name: asked[name] for name in ("policy", "combining", "operation", "assign")},
            "asked": list(self.asked),
            "unhindered_steps": network.unhindered_steps,
            "requested_steps": asked["steps"],
            "asked_replications": asked["replications"],
            "seed": self.provenance.seed,
            "interrupted": self.interrupted,
            "provenance": self.provenance.to_dict(),
        }
        if len(self.asked) == 1 and self.points:
            return self.point.to_dict() | common
        return common | {"points": [point.to_dict() for point in self.points]}

    def __repr__(self) -> str:
        hot_spots = self.provenance.configuration["hot_spots"]
        head = f"{hot_spots} hot spots of omega:{self.network.pes}"
        seed, version = self.provenance.seed, self.provenance.version
        lines = [f"<{head}; seed {seed}, netloom {version}>", *map(repr, self.points)]
        return "\n".join(lines)


def _full(capacity: int | None, used: int) -> str:
    return " (all that it holds)" if used == capacity else ""
