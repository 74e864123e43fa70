"""Workers that are processes: started, supervised, and heard by the one that started them.

Each has a pipe to this process, which passes on what they tell each other. So the end of one is
seen at once, whenever it comes, and none holds a lock that others wait for.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection as pipes
from multiprocessing import get_context
from queue import Empty, SimpleQueue
from struct import Struct
from threading import Thread
from typing import TYPE_CHECKING, Any

from netloom.phases.execute.worker import START_SECONDS, Network, Report, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from netloom.phases.execute.node_programs import NodeProgram
    from netloom.phases.execute.worker import Message

HEAD = Struct("<i")
"""Before every message of a worker: the worker that it is for, or one of those below."""

READY, DONE, FAILED = -1, -2, -3

END_SECONDS = 5.0
"""How long a process that has closed its pipe may take to end."""


class WorkerLostError(Exception):
    """A worker that does not come to its end, and why, in one line."""


@dataclass(frozen=True)
class _Member:
    number: int
    process: BaseProcess
    pipe: Connection

    def lost(self, when: str) -> WorkerLostError:
        """Return the error that says how it ended."""
        self.process.join(END_SECONDS)
        code = self.process.exitcode
        how = f"exit code {code}"
        if code is None:
            how = "its pipe is closed"
        elif code < 0:
            with suppress(ValueError):
                how = f"killed by {signal.Signals(-code).name}"
        return WorkerLostError(f"worker {self.number} died {when} ({how})")


def run_in_processes(
    network: Network,
    parts: Sequence[Sequence[NodeProgram]],
    *,
    start_seconds: float = START_SECONDS,
) -> list[Report]:
    """Run each part by a worker in a process of its own, and return what they saw.

    They may take ``start_seconds`` to start, together.

    Raises
    ------
    WorkerLostError
        If one cannot be started, has not started in time, fails or dies.
    """
    fresh = get_context("spawn")  # a copy of a process with threads may not work
    crew: list[_Member] = []
    try:
        for number in range(len(parts)):
            ours, theirs = fresh.Pipe()
            process = fresh.Process(target=_work, args=(theirs,), daemon=True)
            try:
                process.start()  # what it is told is short: the rest waits until it listens
            except OSError as error:
                why = f"worker {number} cannot be started ({error.strerror})"
                raise WorkerLostError(why) from None
            theirs.close()
            crew.append(_Member(number, process, ours))
        _start(crew, start_seconds)
        for member in crew:
            try:
                member.pipe.send_bytes(pickle.dumps((network, parts[member.number], member.number)))
            except OSError:
                raise member.lost("before it began") from None
        return _relay(crew)
    finally:
        for member in crew:
            member.pipe.close()
            if member.process.is_alive():
                member.process.kill()
            member.process.join()


def _start(crew: list[_Member], seconds: float) -> None:
    """Wait until all have started."""
    end = time.monotonic() + seconds
    waiting: dict[Any, _Member] = {member.pipe: member for member in crew}
    while waiting:
        heard = pipes.wait([*waiting], timeout=max(0.0, end - time.monotonic()))
        if not heard:
            late = min(member.number for member in waiting.values())
            raise WorkerLostError(f"worker {late} has not started within {seconds:g} s")
        for pipe in heard:
            _receive(waiting.pop(pipe), "while it started")


def _relay(crew: list[_Member]) -> list[Report]:
    """Pass on what workers tell each other until all have reported."""
    reports: dict[int, Report] = {}
    working: dict[Any, _Member] = {member.pipe: member for member in crew}
    while working:
        for pipe in pipes.wait([*working]):
            member = working[pipe]
            to, data = _receive(member, "while it ran")
            if to == DONE:
                reports[member.number] = pickle.loads(data)  # noqa: S301 (our own process)
                del working[member.pipe]
            else:
                with suppress(OSError):  # that it has ended will be heard, if it should not have
                    crew[to].pipe.send_bytes(data)
    return [reports[number] for number in range(len(crew))]


def _receive(member: _Member, when: str) -> tuple[int, bytes]:
    """Return for whom a message of a worker is, and the message."""
    try:
        data = member.pipe.recv_bytes()
    except (EOFError, OSError):
        raise member.lost(when) from None
    (to,) = HEAD.unpack_from(data)
    if to == FAILED:
        said = data[HEAD.size :].decode()
        raise WorkerLostError(f"worker {member.number} failed {when} ({said})")
    return to, data[HEAD.size :]


def _work(pipe: Connection) -> None:
    """Be a worker, in a process of its own. End with the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send_bytes(HEAD.pack(READY))
        network, programs, number = pickle.loads(pipe.recv_bytes())  # noqa: S301 (from our parent)
        inbox: SimpleQueue[Message] = SimpleQueue()
        Thread(target=_listen, args=(pipe, inbox), daemon=True).start()
        try:
            post, take = partial(_post, pipe), partial(_take, inbox)
            report = Worker(network, programs, number, post, take).run()
            end = HEAD.pack(DONE) + pickle.dumps(report)
        except Exception as error:  # noqa: BLE001 (told in one line there)
            said = " ".join(f"{type(error).__name__} {error}".split())
            end = HEAD.pack(FAILED) + said.encode()
        pipe.send_bytes(end)
    except (EOFError, OSError):  # nobody is there
        os._exit(1)


def _listen(pipe: Connection, inbox: SimpleQueue[Message]) -> None:
    """Take in what comes at any time, so that who sends never waits."""
    try:
        while True:
            inbox.put(pickle.loads(pipe.recv_bytes()))  # noqa: S301 (from other workers)
    except (EOFError, OSError):
        os._exit(1)


def _post(pipe: Connection, worker: int, message: Message) -> None:
    pipe.send_bytes(HEAD.pack(worker) + pickle.dumps(message))


def _take(inbox: SimpleQueue[Message], seconds: float) -> Message | None:
    try:
        return inbox.get(timeout=seconds)
    except Empty:
        return None
