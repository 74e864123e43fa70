"""What one release before spelt otherwise: kinds of simulation, told by which field is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEAD, USUAL = "simulate", "load"

BY_FIELD = {
    "applied": "loop",
    "transactions": "transactions",
    "trace": "trace",
    "broadcast": "broadcast",
    "rate": "broadcast",
    "pattern": "pattern",
}
"""The simulation that each of these fields of ``simulate`` asked for."""

ARGUMENTS = {"--trace": "trace FILE", "--pattern": "pattern NAME"}
"""Options that are arguments now, and how they are spelt."""


def simulation_of(given: Iterable[str]) -> str:
    """Return the simulation that fields ask for: exactly one. ``load`` by default.

    Raises
    ------
    InputError
        If the fields ask for several at once.

    Examples
    --------
    >>> simulation_of(["on", "applied"]), simulation_of(["on", "load"]), simulation_of(["on"])
    ('loop', 'load', 'load')
    """
    named = {BY_FIELD[name]: name for name in given if name in BY_FIELD}
    if USUAL in given and named:
        named[USUAL] = USUAL
    if len(named) > 1:
        raise InputError(HEAD, " and ".join(named.values()), "one of them at a time")
    return next(iter(named), USUAL)


def asked_by_options(args: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the simulation that options ask for, its arguments, and what is to be said of it.

    Examples
    --------
    >>> asked_by_options(["--on", "mesh:4x4", "--trace", "run.goal"])[:2]
    ('trace', ['--on', 'mesh:4x4', 'run.goal'])
    >>> asked_by_options(["--on", "mesh:4x4", "--load=0.2"])
    ('load', ['--on', 'mesh:4x4', '--load=0.2'], '')
    """
    options = [each.partition("=")[0] for each in args if each.startswith("--")]
    word = simulation_of([each.removeprefix("--").replace("-", "_") for each in options])
    if word == USUAL:
        return word, list(args), ""
    kept: list[str] = []
    spelt = next(each for each in options if BY_FIELD.get(each.removeprefix("--")) == word)
    for each in args:
        name, sign, value = each.partition("=")
        if name in ARGUMENTS:
            kept += [value] if sign else []
        elif name != "--transactions":
            kept.append(each)
    now = ARGUMENTS.get(spelt, f"{word} {spelt}" if spelt != "--transactions" else word)
    said = f"'{HEAD} {spelt}' is now '{HEAD} {now}'; the next release knows only that"
    return word, kept, said
