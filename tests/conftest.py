"""Hypothesis: no deadline (kernels compile on first use), and the same cases each time in CI."""

import os

from hypothesis import settings

settings.register_profile("netloom", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloom")
