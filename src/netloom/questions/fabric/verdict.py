"""What the check of a fabric comes to: mark, answer, place, cause, next command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from netloom.topology.subnets.names import short_switch_name
from netloom.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netloom.questions.fabric.answer import FabricCheck

FAIR, UNEVEN = 1.1, 1.5
"""Times the bound up to which the busiest cable is fairly, and tolerably, loaded."""

PROVED = 1 + 1e-6
"""Times the bound up to which a busiest cable is as good as can be."""

MARKS = {"good": "✓", "fair": "!", "bad": "✗"}


@dataclass(frozen=True)
class FabricVerdict:
    """The verdict.

    Attributes
    ----------
    level
        ``lost`` (pairs of hosts have no path), ``loop`` (packets can wait in a circle), ``uneven``
        (the busiest cable carries more than it must), ``good``.
    mark
        ``good``, ``fair`` or ``bad``.
    sentence
        The answer with its number.
    place
        Both ends of the cable, with ports, or the circle; "" where there is none.
    cause
        Why; "" where that is not known.
    next
        The command that comes next; "" where nothing helps.
    """

    level: str
    mark: str
    sentence: str
    place: str
    cause: str
    next: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def verdict_of(check: FabricCheck) -> FabricVerdict:
    """Return the verdict of a check: the worst of what was found."""
    figures, ratio = check.figures, check.found["all_to_all"]["ratio"]
    if figures.unrouted:
        pairs = figures.routed + figures.unrouted
        return FabricVerdict(
            "lost", "bad",
            f"{figures.unrouted:,} of {pairs:,} pairs of hosts have no path: their packets are "
            "lost.",
            "", ". ".join(plainly(check, each.words) for each in check.faults.faults[:2]),
            better(check),
        )  # fmt: skip
    if figures.circle:
        many = counted(len(figures.circle), "cable")
        return FabricVerdict(
            "loop", "bad",
            f"Packets can wait for each other in a circle of {many} (credit loop): the fabric can "
            "lock up.",
            circle_in_words(check, figures.circle), "", better(check),
        )  # fmt: skip
    if ratio is None:
        return FabricVerdict("good", "good", "No packet crosses a cable between switches.",
                             "", "", "")  # fmt: skip
    mark = "good" if ratio <= FAIR else "fair" if ratio <= UNEVEN else "bad"
    level = "good" if mark == "good" else "uneven"
    return FabricVerdict(
        level, mark, busiest_in_words(check), cable_in_words(check, figures.busiest(1)[0].channel),
        "" if ratio <= PROVED else cause_in_words(check),
        "" if ratio <= PROVED else better(check),
    )  # fmt: skip


def busiest_in_words(check: FabricCheck) -> str:
    """Return what the busiest cable carries, and what it must."""
    data = check.found["all_to_all"]
    ratio, bound = data["ratio"], amount(data["bound"])
    paths = f"{counted(check.figures.busiest(1)[0].paths, 'path', ',')} of an all-to-all"
    if ratio <= PROVED:
        return f"The busiest cable carries {paths}: no routing can do better (proved)."
    if ratio < 1.095:
        more = f"{100 * (ratio - 1):.2g}\u00a0% more than it must ({bound})"
    else:
        more = f"{ratio:.2g} times what it must ({bound})"
    return f"The busiest cable carries {paths}, {more}."


def cause_in_words(check: FabricCheck) -> str:
    """Return why the busiest cable is as busy; "" where that is not known."""
    cause, busy = check.cause, check.figures.busiest(1)[0]
    if cause is None or cause.beside < 2:
        return ""
    source, target = shown(check, busy.source), shown(check, busy.target)
    other = cause.beside - 1
    carry = f"{amount(cause.least)} to {amount(cause.most)}"
    if cause.least == cause.most:
        carry = amount(cause.least)
    rest = f"the other {other} carry {carry}" if other > 1 else f"the other carries {carry}"
    share = "all" if cause.share == 1 else percent(cause.share)
    said = {
        "down": f"One of {cause.beside} cables from above into {target}, it brings {share} of "
        f"what comes by them; {rest}.",
        "up": f"One of {cause.beside} uplinks of {source}, it takes {share} of what leaves by "
        f"them; {rest}.",
        "across": f"One of {cause.beside} cables from {source} to other switches, it takes "
        f"{share} of what leaves by them; {rest}.",
    }[cause.way]
    if cause.alike < cause.usual and cause.way != "across":
        only = "the only cable" if cause.alike == 1 else f"one of {cause.alike} cables"
        said += f" It is {only} between the two switches, where most have {cause.usual}."
    return said + _destinations(check)


def _destinations(check: FabricCheck) -> str:
    """Say of how many hosts most of the paths are, where these are few."""
    cause = check.cause
    assert cause is not None
    if len(cause.hosts) < 2:
        who = f" All its paths lead to {shown(check, check.network.name_of(cause.hosts[0]))}."
        return who if cause.hosts else ""
    total, few = sum(cause.paths), 0
    for many in range(1, len(cause.hosts)):
        if sum(cause.paths[:many]) >= 0.5 * total:
            few = many
            break
    if not 0 < few <= 4:
        return ""
    names = [check.network.name_of(host) for host in cause.hosts[:few]]
    part = percent(sum(cause.paths[:few]) / total)
    return f" {part} of its paths lead to {listed(names)}."


def circle_in_words(check: FabricCheck, circle: Iterable[tuple[int, int]], most: int = 10) -> str:
    """Return a circle of channels as the names of the routers that it goes round."""
    listed_ = list(circle)
    names = [shown(check, check.network.cable_end(channel)[0]) for channel, _ in listed_]
    if len(names) > most:
        return f"{' → '.join(names[: most - 1])} → … ({len(names)} switches) → {names[0]}"
    return " → ".join([*names, names[0]])


def cable_in_words(check: FabricCheck, channel: int) -> str:
    """Return both ends of a channel, with ports where a file says them."""
    source, out_port, target, in_port = check.network.cable_end(channel)
    ends = [
        shown(check, name) + (f" port {port}" if port else "")
        for name, port in ((source, out_port), (target, in_port))
    ]
    return " → ".join(ends)


def shown(check: FabricCheck, name: str) -> str:
    """Return a name as people see it: without what a switch's firmware adds, if that is unique."""
    return check.short.get(name, name)


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return the short form of each name that no other has.

    Examples
    --------
    >>> short_names(["MF0;leaf1:MQM9701/U1", "leaf2", "MF0;x:M1/U1", "MF0;x:M2/U1"])
    {'MF0;leaf1:MQM9701/U1': 'leaf1'}
    """
    labels = list(labels)
    short = [short_switch_name(label) for label in labels]
    taken: dict[str, int] = {}
    for name in short:
        taken[name] = taken.get(name, 0) + 1
    return {
        label: name
        for label, name in zip(labels, short, strict=True)
        if name != label and taken[name] == 1
    }


def amount(value: float) -> str:
    """Return a number of paths: whole ones with all digits, others with one behind the point.

    Examples
    --------
    >>> amount(2168), amount(628.8), amount(66.4)
    ('2,168', '628.8', '66.4')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"


def percent(share: float) -> str:
    r"""Return a share in per cent, whole ones where it is large.

    Examples
    --------
    >>> percent(0.234), percent(0.0123), percent(1)
    ('23\xa0%', '1.2\xa0%', '100\xa0%')
    """
    return f"{100 * share:.0f}\u00a0%" if share >= 0.0995 else f"{100 * share:.2g}\u00a0%"


def plainly(check: FabricCheck, said: str) -> str:
    """Return words with the names of switches as people see them."""
    for label, name in check.short.items():
        said = said.replace(label, name)
    return said


def better(check: FabricCheck) -> str:
    """Return the command that looks for better tables."""
    name = check.network.whole.name
    return f"netloom route {name.removeprefix('fabric:')} --out better.lfts"
