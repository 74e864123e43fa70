"""The options of ``netloom hotspot``, each said once: its name, its help and its group."""

from typing import Annotated, TypeAlias

import typer

HOT_SPOTS = "Hot spots, and who asks for them"
NETWORK = "Network"
RULES = "Rules of its switches and modules"
RUNS = "Runs"

What: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="critical-queue: find the largest queues that do worse than unbounded ones."
    ),
]

Pes: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Processing elements (PEs), and memory modules: a power of the switch size.",
        rich_help_panel=NETWORK,
    ),
]
SwitchSize: TypeAlias = Annotated[
    int, typer.Option(help="Inputs of a switch: 2, 4 or 8.", rich_help_panel=NETWORK)
]
Queue: TypeAlias = Annotated[
    str, typer.Option(help="Packets that each queue holds, or unbounded.", rich_help_panel=NETWORK)
]
WaitBuffer: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Packets that wait at each output of a switch for the reply of those they combined "
        "with, or unbounded, or as-queue.",
        rich_help_panel=NETWORK,
    ),
]
Digits: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of a module's number, as the stages look at them: most-significant-first or "
        "least-significant-first.",
        rich_help_panel=NETWORK,
    ),
]

HotSpots: TypeAlias = Annotated[
    int,
    typer.Option(help="Modules one word of which is shared.", rich_help_panel=HOT_SPOTS),
]
PerPe: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Hot spots that a PE draws (2, or as many as there are).", rich_help_panel=HOT_SPOTS
    ),
]
Assign: TypeAlias = Annotated[
    float, typer.Option(help="Probability that it gets each.", rich_help_panel=HOT_SPOTS)
]
Rate: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Probability that a PE makes a request in a step: 0.15, 0.05,0.1 or START:STOP:STEP.",
        rich_help_panel=HOT_SPOTS,
    ),
]
Policy: TypeAlias = Annotated[
    str,
    typer.Option(
        help="wait: a PE makes no request for a hot spot before the last is answered; no-wait.",
        rich_help_panel=HOT_SPOTS,
    ),
]
Spacing: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Modules between hot spots; at random without.", rich_help_panel=HOT_SPOTS),
]
Deviation: TypeAlias = Annotated[
    int, typer.Option(help="Of the spacing, either way, at most.", rich_help_panel=HOT_SPOTS)
]
HotFraction: TypeAlias = Annotated[
    float,
    typer.Option(
        help="Part of the requests for hot spots; others go to all modules, uncombined.",
        rich_help_panel=HOT_SPOTS,
    ),
]
New: TypeAlias = Annotated[
    float, typer.Option(help="Probability of a new hot spot in a step.", rich_help_panel=HOT_SPOTS)
]
Remove: TypeAlias = Annotated[
    float, typer.Option(help="Probability that one goes.", rich_help_panel=HOT_SPOTS)
]

Combining: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Which requests for one word become one: waiting (also with one in the output "
        "queue), slot (that too, where the queue has room), entering (two that enter together), "
        "none.",
        rich_help_panel=RULES,
    ),
]
Unlimited: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unlimited", help="A request combines any number of times a switch.",
        rich_help_panel=RULES,
    ),
]  # fmt: skip
Order: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of the stages in a step: forward, along a request's path, or backward.",
        rich_help_panel=RULES,
    ),
]
ServiceSteps: TypeAlias = Annotated[
    int, typer.Option(help="Of a module, for a request.", rich_help_panel=RULES)
]
Operation: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Fetch-and-...: add, or, and, xor, max, min, swap or load.", rich_help_panel=RULES
    ),
]

Steps: TypeAlias = Annotated[
    int, typer.Option(help="Steps in which requests are made.", rich_help_panel=RUNS)
]
Replications: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Runs with hot spots of their own, seeds SEED, SEED + 1 ... (1; 10 for "
        "critical-queue).",
        rich_help_panel=RUNS,
    ),
]
Rise: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Of critical-queue: fraction by which a stage's mean queue is longer that counts "
        "(0.1).",
        rich_help_panel=RUNS,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="Seed of everything random.", rich_help_panel=RUNS)
]
