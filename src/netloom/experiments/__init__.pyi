from .file import (
    Experiment as Experiment,
    Point as Point,
    read_experiment as read_experiment,
    schema as schema,
)
from .findings import (
    Answered as Answered,
    Results as Results,
    all_results as all_results,
    load_results as load_results,
    results as results,
)
from .runner import Estimate as Estimate, estimate as estimate, run as run
from .store import Store as Store
