"""The options of ``netloom simulate`` that make programs drive the network."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ENGINE = "Lockstep worms"
LOOP = "A program that waits: every task computes, sends, waits, and again"
TRANSACTIONS = "Transactions: contexts that wait for a protocol"
BROADCAST = "Broadcast"
TRACE = "Trace: messages that wait for each other"
PATTERN = "Machine experiment: what nodes and their channels take"

Engine: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="network (virtual channels, flit by flit) or worm (Chittor's simulator: one-flit "
        "buffers, a blocked head stops its message), for programs.",
        rich_help_panel=ENGINE,
    ),
]
Arbitration: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Of worms: timestamp, fifo, fifo-lru, biased or source.", rich_help_panel=ENGINE
    ),
]
ReleaseCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Of worms: cycles from the tail's crossing until a channel is free, 1 or 0.",
        rich_help_panel=ENGINE,
    ),
]
EndChannels: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Of worms: channels between node and router, each way, 1 or 0 (unlimited).",
        rich_help_panel=ENGINE,
    ),
]

Applied: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Applied traffic of every task of --app, flits/cycle: 0.25, 0.1,0.2 or "
        "START:STOP:STEP.",
        rich_help_panel=LOOP,
    ),
]
MessageFlits: TypeAlias = Annotated[
    int | None, typer.Option(help="Message length L.", rich_help_panel=LOOP)
]
Think: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Computation: uniform, fixed or exponential.", rich_help_panel=LOOP),
]
Choice: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Which neighbour is sent to: uniform, bytes or messages.", rich_help_panel=LOOP
    ),
]
GapCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Cut messages into --packet-flits, sent one after the other with this gap (also of "
        "GOAL: the gap g).",
        rich_help_panel=LOOP,
    ),
]
Loops: TypeAlias = Annotated[
    int | None, typer.Option(help="Loops of every task that count.", rich_help_panel=LOOP)
]
Skip: TypeAlias = Annotated[
    int | None, typer.Option(help="Loops before them that do not.", rich_help_panel=LOOP)
]

Transactions: TypeAlias = Annotated[
    bool,
    typer.Option("--transactions", help="Run transactions.", rich_help_panel=TRANSACTIONS),
]
Protocol: TypeAlias = Annotated[
    str | None,
    typer.Option(help="coherence or request-reply.", rich_help_panel=TRANSACTIONS),
]
Contexts: TypeAlias = Annotated[
    int | None, typer.Option(help="Contexts of a node.", rich_help_panel=TRANSACTIONS)
]
RunCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Computation between two transactions.", rich_help_panel=TRANSACTIONS),
]
SwitchCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="From one context to another; hidden while the processor waits.",
        rich_help_panel=TRANSACTIONS,
    ),
]
FixedCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Of a transaction, beside its messages and memory.", rich_help_panel=TRANSACTIONS
    ),
]
MemoryCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="From a request to its answer.", rich_help_panel=TRANSACTIONS),
]

Broadcast: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Part of the messages that go to all nodes.", rich_help_panel=BROADCAST),
]
Rate: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Messages a node and cycle: 0.002 or a range.", rich_help_panel=BROADCAST),
]
Tree: TypeAlias = Annotated[
    str | None, typer.Option(help="balanced or row-first.", rich_help_panel=BROADCAST)
]
StartupCycles: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Of every message that a node sends.", rich_help_panel=BROADCAST),
]
MulticastTargets: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Go to so many nodes instead of all.", rich_help_panel=BROADCAST),
]

Trace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="A .csv, .tsv, .parquet or .goal file; the order of its rows says nothing.",
        rich_help_panel=TRACE,
    ),
]
FlitBytes: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Bytes of a flit; a cycle is the time that a channel takes for them.",
        rich_help_panel=TRACE,
    ),
]
OverheadCycles: TypeAlias = Annotated[
    int | None, typer.Option(help="Of GOAL: the overhead o.", rich_help_panel=TRACE)
]
CalcCycles: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Of GOAL: cycles of a unit of calc.", rich_help_panel=TRACE),
]
SaveMessages: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="The times of every message, .csv or .parquet.", rich_help_panel=TRACE),
]

Pattern: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="ab-1nn, aa-1nn, ab-4nn, aa-4nn, diagonal or transpose (thesis, chapter 4).",
        rich_help_panel=PATTERN,
    ),
]
MessageBytes: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Message length, or several with commas.", rich_help_panel=PATTERN),
]
ThinkUs: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Mean computation of a loop, µs; several, a:b:c.", rich_help_panel=PATTERN),
]
