"""Hypothesis: no deadline (kernels compile on first use), and the same cases each time in CI.

Files that take longest begin, and the garbage collector leaves alone what lasts. A browser for
pages. And Ctrl-C at a point of the work that a test names, whatever the machine does meanwhile.
"""

import gc
import itertools
import os
import signal
import threading
from collections import Counter

import pytest
from hypothesis import settings

from netloom.base import progress
from tests.browser import launched

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("netloom", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("netloom")
progress.LINE_SECONDS = 86_400.0  # no line on progress, however slow the machine is


LONGEST = (
    "docs/test_docs_commands.py",
    "properties/test_hosted_network.py",
    "properties/test_by_hop.py",
    "properties/test_flow.py",
    "questions/test_recorded.py",
    "questions/test_allocations.py",
    "simulation/network/test_engine.py",
    "simulation/network/test_run.py",
    "routing/forwarding/test_engines.py",
    "fabrics/test_balancing.py",
    "papers/published/test_feldmann.py",
    "papers/published/test_router.py",
    "machines/test_machine_files.py",
    "properties/test_hosted_mapping.py",
    "experiments/test_runner.py",
    "experiments/test_cluster.py",
    "questions/test_signatures.py",
    "docs/test_site.py",
    "pages/explorer/test_views.py",
    "pages/explorer/test_page_looks.py",
    "pages/explorer/test_hover_and_click.py",
)
"""Files whose tests take some 15 s or more of a run that compiles all kernels. Neighbours compile
different ones, so that two workers seldom compile the same at once."""


def pytest_configure(config):
    """Let workers take files in the order below, not by the number of their tests alone."""
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist is there
        config.option.loadscopereorder = False
    gc.disable()  # until all is collected: what is imported stays


def pytest_collection_modifyitems(items):
    """Begin with the longest files, then those of many tests: no worker waits long in the end."""
    rank = {f"tests/{file}": place for place, file in enumerate(LONGEST)}
    file_of = {item: item.nodeid.partition("::")[0] for item in items}
    tests = Counter(file_of.values())
    items.sort(
        key=lambda item: (rank.get(file_of[item], len(rank)), -tests[file_of[item]], file_of[item])
    )


def pytest_collection_finish():
    """Have the garbage collector pass over what lasts: it took an eighth of the time."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.fixture(scope="module")
def browser():
    """A browser, one for all tests of a file."""
    with launched() as found:
        yield found


ASKED_IN = ("netloom.simulation.side_by_side.Event", "netloom.simulation.network.run.Event")
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
