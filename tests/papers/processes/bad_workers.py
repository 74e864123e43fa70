"""Stand-ins for workers that come to a bad end; they import nothing, to be quickly started."""

import os
import signal


def dies_at_start(pipe):
    """End before anything is said."""
    del pipe
    os.kill(os.getpid(), signal.SIGKILL)


def dies_later(pipe):
    """Start, take the programs, and end as if all were well."""
    from netloom_papers.processes import runtime

    runtime.Worker = lambda *_: os._exit(0)
    runtime._work(pipe)


def never_starts(pipe):
    """Wait for what does not come."""
    pipe.recv_bytes()
