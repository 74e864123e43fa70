"""Experiments: many questions in one file, asked on all cores, kept in one store."""

from netloom.experiments.estimate import Estimate, estimate
from netloom.experiments.file import Experiment, read_experiment
from netloom.experiments.points import Point
from netloom.experiments.results import Answered, Results, all_results, load_results, results
from netloom.experiments.run import run
from netloom.experiments.schema import schema
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
