"""Hypothesis: no deadline (kernels compile on first use), and the same cases each time in CI."""

import os
import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("netloom", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloom")
