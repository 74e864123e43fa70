"""A machine whose constants come from measured times: which, from which rows, and how sure.

So two computers predict two hundred. Constants are factors of those that a machine has already: of
the rates of cards and cables, of the rates inside computers, and of the times of hops. The time
that every collective takes to start is added. They are found by least squares of the logarithms of
measured over expected times. Times count less that are starts alone, or that are as much start as
transfer. What the rows cannot tell stays as it was: inner rates while cards are slower, or starts
and hops apart from each other while all runs have as many computers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from math import exp, inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
from netloom.questions.defects import Run, least_seconds, runs_of, whitening
from netloom.questions.measured import MeasuredPoint
from netloom.simulation.network.routers import Router

if TYPE_CHECKING:
    from netloom.questions.collective_prepared import PreparedCollective

SURE = 0.2
"""The largest standard error of a constant that rows tell."""

MATTERS = 0.2
"""The least change of a time by that of a constant, as a part of it, if its row is to tell it."""

LEAST_SPREAD = 0.3
"""Of measured times, in deviations that are usual."""

LAW_ERROR, EARLY_NOISE = 0.5, 0.15
"""Errors of the law of pipelines, as a part of what it adds to start and transfer, and of times
that are starts alone, as protocols change there."""

USUAL = 2.0
"""Deviation of constants: of two that rows do not part, the one that is less far off is taken."""

STEPS = np.array([-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Of a search for constants, as what is faster than something else tells nothing by small steps."""

RATES, INSIDE, HOPS, START = range(4)
TITLES = (
    "rates of cards and cables",
    "rates inside computers",
    "times of hops",
    "start of a collective",
)
"""Constants: logarithms of three factors, and what is added. Those are kept first, of some that the
rows do not part, which stand first."""

START_US = 10.0
"""The unit of added starts, so that all constants are about 1."""


class Told(NamedTuple):
    """A constant that the rows tell.

    Attributes
    ----------
    kind
        Its place in ``TITLES``.
    value, error
        A factor and its standard error as a part of it, or both in microseconds.
    rows
        The measured points whose times it changes.
    wires
        Whether it is a rate that is all that its wires carry.
    """

    kind: int
    value: float
    error: float
    rows: list[MeasuredPoint]
    wires: bool

    def __str__(self) -> str:
        value = f"×{self.value:.4g} ± {100 * self.error:.1f} %" + ", as its wires" * self.wires
        if self.kind == START:
            value = f"{self.value:+.3g} ± {self.error:.2g} µs"
        sizes = [each.size for each in self.rows]
        span = f"{units.size(min(sizes))} to {units.size(max(sizes))}"
        return f"{TITLES[self.kind]} {value} ({counted(len(sizes), 'row')}, {span})"


class Fitted(NamedTuple):
    """What measured rows tell of a machine.

    ``misfit``: root mean square of the logarithms of measured over expected times, afterwards.
    """

    machine: Machine
    told: list[Told]
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
        If the rows tell no constant.
    """
    from scipy.optimize import least_squares

    known = runs_of(points, collective, library)
    runs, rows = [run for run, _ in known], [points[at] for _, places in known for at in places]
    measured = np.log([each.measured for each in rows])
    white = whitening(runs, 0.0, 0.0, LAW_ERROR, early_noise=EARLY_NOISE)
    free, most = [RATES, INSIDE, *[HOPS] * bool(machine.protocols), START], _most(machine)

    def all_of(values: Floats) -> Floats:
        found = np.zeros(len(TITLES))
        found[free] = values
        return found

    def off(values: Floats) -> Floats:
        apart = _logarithms(runs, all_of(values)) - measured
        return np.append(white @ apart, values / USUAL)

    begin = _begun(off, np.zeros(len(free)))
    while free:
        within = np.minimum(begin, most[free] / 2)
        found = least_squares(off, within, diff_step=[1e-4], bounds=(-inf, most[free]))
        slopes, deviations = np.asarray(found.jac), found.fun[: len(rows)]
        spread = max(float(np.sqrt(np.mean(deviations**2))), LEAST_SPREAD)
        errors = spread * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
        changes = np.abs(np.linalg.solve(white, slopes[: len(rows)]))  # of logarithms of times
        small = changes.max(axis=0) < MATTERS
        zero = (np.array(free) == START) & (np.abs(found.x) < 2 * errors)
        unsure = np.flatnonzero((errors > SURE) | small | zero).tolist()
        if not unsure:
            break
        gone = max(unsure, key=lambda at: (small[at], at))
        begin = np.delete(found.x, gone)
        del free[gone]
    if not free:
        wanted = "small and large sizes of the same machine, within a factor of two"
        raise InputError("fit", f"{counted(len(rows), 'row')} that tell no constant", wanted)
    told, values = [], all_of(found.x)
    for at, kind in enumerate(free):
        unit, value = (
            (START_US, values[kind] * START_US) if kind == START else (1, exp(values[kind]))
        )
        here = [rows[each] for each in np.flatnonzero(changes[:, at] >= MATTERS)]
        wires = bool(values[kind] > 0.99 * most[kind])
        told.append(Told(kind, float(value), float(errors[at]) * unit, here, wires))
    misfit = float(np.sqrt(np.mean(np.linalg.solve(white, deviations) ** 2)))
    return Fitted(_changed(machine, values), told, misfit)


def _begun(off: Callable[[Floats], Floats], found: Floats) -> Floats:
    """Return constants near the best: one after the other, that which gains most by a step."""

    def cost(values: Floats) -> float:
        return float((off(values) ** 2).sum())

    while True:
        moved = found + STEPS[:, None, None] * np.eye(len(found))
        best = min(moved.reshape(-1, len(found)), key=cost)
        if cost(best) > 0.99 * cost(found):
            return found
        found = best


def _logarithms(runs: Sequence[Run], values: Floats) -> Floats:
    """Return the logarithms of expected times with constants, run by run."""
    rates, inside, hops = np.exp(values[:START] * (-1, -1, 1)).tolist()
    found = []
    for run in runs:
        start = max(run.launch + float(values[START]) * START_US * 1e-6, 0.0)
        parts = [
            Parts((a - run.launch) * hops + start, b * inside, c * rates, d * rates)
            for a, b, c, d in run.parts.values()
        ]
        found.append(np.log(least_seconds(parts, run.sizes)))
    return np.concatenate(found)


def _most(machine: Machine) -> Floats:
    """Return the largest constants: rates are at most those of wires."""
    shares = [machine.efficiency, *(each.efficiency or 0.0 for each in machine.links)]
    inside = machine.computer.efficiency if machine.computer else 1.0
    return np.array([max(-log(max(shares)), 1e-6), max(-log(inside), 1e-6), inf, inf])


def _changed(machine: Machine, values: Floats) -> Machine:
    """Return a machine with other constants."""
    rates, inside, hops = np.exp(values[:START]).tolist()

    def times(factor: float, table: Any, *names: str) -> Any:
        known = [(name, getattr(table, name)) for name in names]
        return table.model_copy(update={name: was and was * factor for name, was in known})

    costs, computer = ("base_us", "inside_us", "between_us"), machine.computer
    change = {
        "start_us": max(machine.start_us + float(values[START]) * START_US, 0.0),
        "links": tuple(times(rates, each, "efficiency") for each in machine.links),
        "protocols": tuple(times(hops, each, *costs) for each in machine.protocols),
        "computer": computer and times(inside, computer, "efficiency"),
    }
    found: Machine = times(rates, machine, "efficiency").model_copy(update=change)
    return found


# -- machine files ---------------------------------------------------------------------------------


def machine_text(machine: Machine, remarks: Sequence[str] = ()) -> str:
    """Return the text of a machine file, with remarks as comments at its head."""
    lines = [f"# {each}" for each in remarks]
    return "\n".join([*lines, *_lines(machine)]) + "\n"


def _lines(table: Any) -> list[str]:
    """Return the lines of a table, its own keys first. Those with their defaults are left out."""
    keys, tables = list[str](), list[str]()
    for name, field in type(table).model_fields.items():
        value, key = getattr(table, name), field.alias if field.alias is not None else name
        if not key or value == field.default:
            continue
        if isinstance(value, tuple):
            tables += [line for each in value for line in (f"\n[[{key}]]", *_lines(each))]
        elif isinstance(value, Table):
            tables += [f"\n[{key}]", *_lines(value)]
        elif isinstance(value, Router):
            tables += [f"\n[{key}]", *(f"{part} = {_word(of)}" for part, of in vars(value).items())]
        else:
            unit = "MB/s" if name.endswith("_bytes_per_us") else "us" * name.endswith("_us")
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
    told = [TITLES[each.kind] for each in found.told]
    untold = listed([each for each in TITLES if each not in told])
    said = [
        f"Constants of {machine.full_name}, times what {files} tells:",
        *(f"  {each}" for each in found.told),
        *[f"Not told by these rows: {untold}."] * bool(untold),
        f"Afterwards measured times are within {100 * found.misfit:.1f} % (root mean square).",
    ]
    named = {"full_name": f"{machine.full_name}, fitted", "source": f"measured: {files}"}
    write_text(path, machine_text(machine.model_copy(update=named), said))
    return f"Machine: {path}, {listed([str(each) for each in found.told])}"


FIT = outputs.Output(
    "fit", "Machine file with constants that measured times tell.", _write, _check, _refuse
)
