"""A machine whose constants come from measured times: which, from which rows, and how sure.

So two computers predict two hundred. Constants are factors of those that a machine has already: of
the rates of cards and cables, of the rates inside computers, and of the times of hops. The time
that every collective takes to start is added. They are found by least squares of the logarithms of
measured over expected times. What the rows cannot tell stays as it was: inner rates while cards are
slower, or starts and hops apart from each other while all runs have as many computers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netloom.base import units
from netloom.base.arrays import Floats
from netloom.base.errors import InputError
from netloom.base.spec import split_spec
from netloom.base.textfiles import write_text
from netloom.base.words import counted, listed
from netloom.machines.libraries import Library, Parts
from netloom.machines.named_machines import OF_FILES, Machine
from netloom.machines.tables import Table
from netloom.questions import outputs
from netloom.questions.defects import Run, least_seconds, runs_of
from netloom.questions.measured import MeasuredPoint
from netloom.simulation.network.routers import Router

if TYPE_CHECKING:
    from netloom.questions.collective_prepared import PreparedCollective

SURE = 0.2
"""The largest standard error of a factor that rows tell."""

MATTERS = 0.2
"""The least change of a time by a factor's change, as a part of it, if its row is to tell it."""

LEAST_ERROR = 0.01
"""Of measured times, as a part of them."""

ABOVE = 0.03
"""Of a rate above that of its wire, what is taken for noise."""

STARTS, MOST_STARTS = (0.0, 0.3, -0.3), 4
"""Constants from which searches begin, as what is slower than something else tells nothing, and how
many of their combinations are taken: the nearest."""

MICROSECONDS = 10.0
"""The unit of added starts, so that all constants are about 1."""


class Kind(NamedTuple):
    """A constant that rows may tell.

    Attributes
    ----------
    title, key
        What it is, and the key of a machine file.
    change
        Changes a part by the constant: its logarithm, or its addition.
    plain
        The value at which nothing changes.
    """

    title: str
    key: str
    change: Callable[[Parts, float], Parts]
    factor: bool = True


def _of_rates(each: Parts, by: float) -> Parts:
    slower = float(np.exp(-by))
    return each._replace(card=each.card * slower, network=each.network * slower)


def _of_inside(each: Parts, by: float) -> Parts:
    return each._replace(inside=each.inside * float(np.exp(-by)))


def _of_hops(each: Parts, by: float) -> Parts:
    return each._replace(start=each.start * float(np.exp(by)))


def _of_start(each: Parts, by: float) -> Parts:
    return each._replace(start=max(each.start + by * MICROSECONDS * 1e-6, 0.0))


KINDS = (
    Kind("rates of cards and cables", "efficiency", _of_rates),
    Kind("rates inside computers", "computer.efficiency", _of_inside),
    Kind("times of hops", "protocols", _of_hops),
    Kind("start of a collective", "start", _of_start, factor=False),
)
"""Constants, those first that are kept before others which the rows do not part from them."""


class Told(NamedTuple):
    """A constant that the rows tell.

    ``value``: a factor, or microseconds. ``error``: its standard error, as a part of it or in
    microseconds. ``rows``: the measured points whose times it changes.
    """

    kind: Kind
    value: float
    error: float
    rows: list[MeasuredPoint]

    def __str__(self) -> str:
        if not self.kind.factor:
            value = f"{self.value:+.3g} ± {self.error:.2g} µs"
        else:
            value = f"×{self.value:.4g} ± {100 * self.error:.1f} %"
        sizes = sorted(each.size for each in self.rows)
        span = f"{units.size(sizes[0])} to {units.size(sizes[-1])}"
        return f"{self.kind.title} {value} ({counted(len(self.rows), 'row')}, {span})"


class Fitted(NamedTuple):
    """What measured rows tell of a machine.

    ``misfit``: root mean square of the logarithms of measured over expected times, afterwards.
    """

    machine: Machine
    told: list[Told]
    untold: list[Kind]
    misfit: float


def fitted(
    points: Sequence[MeasuredPoint], collective: str, library: Library, machine: Machine
) -> Fitted:
    """Return a machine with the constants that measured rows tell.

    Parameters
    ----------
    points, collective, library
        As of ``explained``.
    machine
        The machine that is changed, with whose constants the library was made.

    Raises
    ------
    InputError
        If the rows tell no constant, or rates above those of the machine's wires.
    """
    from scipy.optimize import least_squares

    known = runs_of(points, collective, library)
    rows = [at for _, places in known for at in places]
    measured = np.log([points[at].measured for at in rows])
    kinds = [*KINDS] if machine.protocols else [kind for kind in KINDS if kind.key != "protocols"]

    def off(values: ArrayLike) -> Floats:
        return _logarithms([run for run, _ in known], kinds, np.asarray(values)) - measured

    while kinds:
        starts = sorted(product(STARTS, repeat=len(kinds)), key=lambda each: _squared(off(each)))
        solved = [least_squares(off, each, diff_step=[1e-4]) for each in starts[:MOST_STARTS]]
        found = min(solved, key=lambda each: _squared(each.fun))
        spread = max(float(np.sqrt(np.mean(found.fun**2))), LEAST_ERROR)
        slopes = np.asarray(found.jac)
        most = np.abs(slopes).max(axis=0)
        errors = spread * np.sqrt(
            np.diag(np.linalg.inv(slopes.T @ slopes + 1e-9 * np.eye(len(kinds))))
        )
        nothing = [not kind.factor for kind in kinds] & (np.abs(found.x) < 2 * errors)
        unsure = np.flatnonzero((errors > SURE) | (most < MATTERS) | nothing).tolist()
        if not unsure:
            break
        del kinds[max(unsure, key=lambda at: (most[at] < MATTERS, at))]
    if not kinds:
        wanted = "small and large sizes of the same machine, within a factor of two"
        raise InputError("fit", f"{counted(len(rows), 'row')} that tell no constant", wanted)
    told = []
    for at, kind in enumerate(kinds):
        value = float(np.exp(found.x[at]) if kind.factor else found.x[at] * MICROSECONDS)
        unit = 1.0 if kind.factor else MICROSECONDS
        here = np.flatnonzero(np.abs(slopes[:, at]) >= MATTERS)
        told.append(
            Told(kind, value, float(errors[at]) * unit, [points[rows[each]] for each in here])
        )
    untold = [kind for kind in KINDS if kind not in kinds]
    by = {each.kind.key: each.value for each in told}
    misfit = float(np.sqrt(np.mean(found.fun**2)))
    return Fitted(_changed(machine, by), told, untold, misfit)


def _squared(values: Floats) -> float:
    return float(values @ values)


def _logarithms(runs: Sequence[Run], kinds: Sequence[Kind], values: Floats) -> Floats:
    """Return the logarithms of expected times with constants, run by run."""
    found = []
    for run in runs:
        parts = run.parts
        for kind, value in zip(kinds, values.tolist(), strict=True):
            parts = tuple(kind.change(each, value) for each in parts)
        found.append(np.log(least_seconds(parts, run.sizes)))
    return np.concatenate(found)


def _changed(machine: Machine, by: dict[str, float]) -> Machine:
    """Return a machine with constants times factors, and a start with an addition.

    Raises
    ------
    InputError
        If a rate would be above that of its wire.
    """

    def share(was: float | None, factor: float, what: str) -> float | None:
        if was is None or was * factor <= 1 + ABOVE:
            return was and min(was * factor, 1.0)
        found = f"{what} at {was * factor:.3g} times the machine's bandwidth"
        raise InputError("fit", found, "a machine with the bandwidth of its wires")

    rates, hops = by.get("efficiency", 1.0), by.get("protocols", 1.0)
    change: dict[str, Any] = {
        "efficiency": share(machine.efficiency, rates, "cards"),
        "start_us": max(machine.start_us * hops + by.get("start", 0.0), 0.0),
        "links": tuple(
            each.model_copy(update={"efficiency": share(each.efficiency, rates, each.words)})
            for each in machine.links
        ),
        "protocols": tuple(
            each.model_copy(
                update={
                    name: getattr(each, name) * hops
                    for name in ("base_us", "inside_us", "between_us")
                }
            )
            for each in machine.protocols
        ),
    }
    if machine.computer is not None:
        inside = share(
            machine.computer.efficiency, by.get("computer.efficiency", 1.0), "inner links"
        )
        change["computer"] = machine.computer.model_copy(update={"efficiency": inside})
    return machine.model_copy(update=change)


# -- machine files ---------------------------------------------------------------------------------


def machine_text(machine: Machine, remarks: Sequence[str] = ()) -> str:
    """Return the text of a machine file, with remarks as comments at its head."""
    lines = [f"# {each}" for each in remarks]
    return "\n".join([*lines, *_lines(machine)]) + "\n"


def _lines(table: Table) -> list[str]:
    """Return the lines of a table, its own keys first. Those with their defaults are left out."""
    keys, tables = list[str](), list[str]()
    for name, field in type(table).model_fields.items():
        value, key = getattr(table, name), field.alias if field.alias is not None else name
        if not key or value == field.default:
            continue
        if isinstance(value, Router):
            tables += [
                f"\n[{key}]",
                *(f"{part} = {_word(each)}" for part, each in vars(value).items()),
            ]
        elif isinstance(value, Table):
            tables += [f"\n[{key}]", *_lines(value)]
        elif isinstance(value, tuple) and value and isinstance(value[0], Table):
            for each in value:
                tables += [f"\n[[{key}]]", *_lines(each)]
        else:
            unit = (
                "MB/s" if name.endswith("_bytes_per_us") else "us" if name.endswith("_us") else ""
            )
            keys.append(f"{key} = {_word(f'{value:.9g}{unit}' if unit else value)}")
    return keys + tables


def _word(value: Any) -> str:
    """Return a value as TOML has it."""
    return f"{value:.9g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


# -- the output ------------------------------------------------------------------------------------


def _refuse(question: Any, ready: PreparedCollective) -> None:
    """Raise InputError if nothing is measured, or there is no machine to change."""
    if not question.measured:
        raise InputError("fit", "nothing measured", "measured, and the output of a benchmark")
    if ready.library is None or ready.machine is None:
        wanted = "the machine to begin with, such as leaf-spine:2x4x8@dgx-h100"
        raise InputError("fit", f"no computers of a machine in {ready.network.name}", wanted)


def _check(path: Path) -> None:
    if path.suffix != ".toml":
        raise InputError("fit", f"'{path}'", "a file that ends in .toml")
    outputs.check_in_folder(path)


def _write(answer: Any, path: Path) -> str:
    """Write the machine that the measured rows of an answer tell."""
    ready, points = answer.ready, answer.measured.points
    found = fitted(points, answer.collective, ready.library, ready.machine)
    machine, files = found.machine, listed([*dict.fromkeys(each.file for each in points)])
    kind, file = split_spec(machine.topology)
    if kind in OF_FILES and file:
        near = os.path.relpath(file, path.absolute().parent)
        machine = machine.model_copy(update={"topology": f"{kind}:{near}"})
    said = [f"Constants of {machine.full_name}, times what {files} tells:"]
    said += [f"  {each}" for each in found.told]
    if found.untold:
        said.append(f"Not told by these rows: {listed([each.title for each in found.untold])}.")
    said.append(
        f"Afterwards measured times are within {100 * found.misfit:.1f} % (root mean square)."
    )
    named = {"full_name": f"{machine.full_name}, fitted", "source": f"measured: {files}"}
    write_text(path, machine_text(machine.model_copy(update=named), said))
    return f"Machine: {path}, {listed([str(each) for each in found.told])}"


FIT = outputs.Output(
    "fit", "Machine file with constants that measured times tell.", _write, _check, _refuse
)
