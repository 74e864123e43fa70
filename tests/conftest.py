"""Hypothesis: no deadline (kernels compile on first use), and the same cases each time in CI.

And Ctrl-C at a point of the work that a test names, whatever the machine does meanwhile.
"""

import itertools
import os
import signal
import threading

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("netloom", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloom")


ASKED_IN = (
    "netloom.simulation.side_by_side.Event",
    "netloom.simulation.network.sweep.Event",
)
"""The events that work asks whether it is to stop."""


@pytest.fixture
def ctrl_c_after(monkeypatch):
    """Return a function that has Ctrl-C pressed when work next asks ``times`` times if it is over.

    The work that asks waits until the key press has been handled, so that a busy machine changes
    nothing. Questions of the main thread count only if ``main`` is true: it asks before it hands
    out work.
    """
    here = threading.main_thread()

    def press(times: int, *, main: bool = False) -> None:
        asked = itertools.count(1)

        class Stop(threading.Event):
            def is_set(self) -> bool:
                if not main and threading.current_thread() is here:
                    return super().is_set()
                if next(asked) == times:
                    signal.pthread_kill(here.ident, signal.SIGINT)
                    if threading.current_thread() is not here:
                        self.wait()
                return super().is_set()

        for name in ASKED_IN:
            monkeypatch.setattr(name, Stop)

    return press
