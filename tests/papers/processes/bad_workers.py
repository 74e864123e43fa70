"""Stand-ins for workers that come to a bad end."""

import os
import signal
import time


def dies_at_start(pipe):
    """End before anything is said."""
    os.kill(os.getpid(), signal.SIGKILL)


def dies_later(pipe):
    """End once there is something to do."""
    pipe.send(pipe.recv())
    pipe.recv()
    os._exit(3)


def never_begins(pipe):
    """Say nothing."""
    time.sleep(60)
