"""What verdicts of simulations have in common: how figures are said, and the next command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import number
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import percent, plain_table, size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.table import Table


SLOW = 3.0
"""Latency, in times that of the idle network, from which a network counts as saturated."""


def rough(share: float | None) -> str:
    r"""Return a share in per cent with two digits, near 1 with three.

    Examples
    --------
    >>> [rough(each).replace("\u00a0", " ") for each in (0.347, 0.0148, 0.9967, 0)]
    ['35 %', '1.5 %', '99.7 %', '0 %']
    """
    if share is None or abs(share) > 0.95:
        return percent(share)
    return percent(float(f"{share:.2g}"))


def around(value: float | None, half: float | None) -> str:
    r"""Return a value of three digits with half of its interval in one, as sentences have it.

    Examples
    --------
    >>> around(0.67084, 0.001919).replace("\u00a0", " "), around(0.67084, None)
    ('0.671 ± 0.002', '0.671')
    """
    if value is None or not half:
        return number(value)
    return f"{number(value)}\u00a0±\u00a0{number(float(f'{half:.1g}'))}"


def configuration(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of the question of an answer."""
    found: Mapping[str, Any] = figures["provenance"]["configuration"]
    return found


def again(words: str, figures: Mapping[str, Any], **changed: Any) -> str:
    """Return the command that asks a question about the same things, some fields changed."""
    return command_line(kind_of(words), configuration(figures), **changed)


def longer(words: str, figures: Mapping[str, Any]) -> str:
    """Return the command that asks the same question again, with runs that are longer."""
    asked = configuration(figures)
    if asked.get("cycles") is not None:
        return again(words, figures, cycles=None)
    return again(words, figures, most_cycles=10 * asked["most_cycles"])


def setup_of(network: Any) -> str:
    """Return the engine, the routing and the size of the network that ran a program."""
    return f"{network.router_name}, {network.routing_name}, {size_of(network.topology)}"


def table_with_units(heads: Iterable[tuple[str, str]]) -> Table:
    """Return a table of columns with units below their heads. What has no unit is words."""
    heads = tuple(heads)
    words = tuple(name for name, unit in heads if not unit)
    return plain_table((f"{name}\n{unit}" if unit else name for name, unit in heads), words)


def state(point: Mapping[str, Any], *, known: bool) -> str:
    """Return in a word what is to be known of a run beside its figures.

    ``known`` tells whether it was long enough for them.
    """
    if point["interrupted"]:
        return "interrupted"
    if not point["stable"]:
        return "✗ overloaded"
    if not known:
        return "? too short"
    return "" if point["warmed_up"] and point["precise"] else "? less precise"
