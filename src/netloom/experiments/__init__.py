"""Experiments: many questions in one file, asked on all cores, kept in one store."""

from netloom.experiments.file import Experiment, Point, read_experiment, schema
from netloom.experiments.findings import Answered, Results, all_results, load_results, results
from netloom.experiments.runner import Estimate, estimate, run
from netloom.experiments.store import Store

__all__ = [
    "Answered",
    "Estimate",
    "Experiment",
    "Point",
    "Results",
    "Store",
    "all_results",
    "estimate",
    "load_results",
    "read_experiment",
    "results",
    "run",
    "schema",
]
