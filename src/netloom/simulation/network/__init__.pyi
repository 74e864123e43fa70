from .bound import throughput_bound as throughput_bound
from .engine import Reservation as Reservation, reserve as reserve, reserve_paths as reserve_paths
from .routers import (
    PRESETS as PRESETS,
    SWITCHINGS as SWITCHINGS,
    Router as Router,
    router as router,
)
from .run import (
    Run as Run,
    bracket_saturation as bracket_saturation,
    run_loads as run_loads,
    run_network as run_network,
)
