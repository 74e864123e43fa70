"""Write an explorer: one HTML file, from answers, stores of experiments, or JSON of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.textfiles import parse_json, read_text, write_text
from netloom.drawing.save import check_writable, make_folder
from netloom.explore import EXPLORED
from netloom.explore.page_file import render
from netloom.explore.views import views_of
from netloom.questions.recorded import Recorded, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netloom.explore.view import View

SUFFIXES = (".html", ".htm")
SOURCES = "a store, .sqlite, an experiment file, .toml, or an answer, .json"
PRINTED = "what netloom … --json printed"
MOST_VIEWS = 12
"""Most answers on one page."""


def explore(results: Any, path: str | Path, *, on: str = "") -> Path:
    """Write a page in which answers about one network are explored. Return its path.

    Parameters
    ----------
    results
        An answer of a verb, or a record of one. Or the name of a store (.sqlite), of an experiment
        file (.toml) whose store is beside it, or of the JSON of an answer (.json). Or a list.
    path
        The page, ``.html``. It needs no network: everything is inside.
    on
        The network, if answers are about several: its name as the question had it.

    Raises
    ------
    InputError
        If something is none of these, says nothing of channels, or a file cannot be read or
        written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from netloom import analyze
    >>> with TemporaryDirectory() as folder:
    ...     found = analyze("ring:8", "mesh:2x4", random_mappings=0)
    ...     explore(found, f"{folder}/ring.html").stat().st_size < 150_000
    True
    """
    path = check_page(path)
    several = results if isinstance(results, list | tuple) else [results]
    records = [each for given in several for each in records_of(given)]
    chosen = _on_one_network(records, on)
    live = several[0] if len(several) == 1 and not isinstance(several[0], str | Path) else None
    with patience("Walking through the network"):
        text = render(named_views(chosen, None if isinstance(live, Recorded) else live))
    make_folder(path.parent)
    write_text(path, text)
    return path


def check_page(path: str | Path) -> Path:
    """Return the path of a page to write, or refuse it before any work is done.

    Raises
    ------
    InputError
        If it is no .html file, or nothing can be written there.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(str(path), f"suffix '{path.suffix}'", "a page, .html")
    return check_writable(path)


def records_of(given: Any) -> Iterator[Recorded]:
    """Yield the records of answers, from whatever a user has of them.

    Raises
    ------
    InputError
        If there are none.
    """
    if isinstance(given, Recorded):
        yield given
    elif hasattr(given, "provenance") and hasattr(given, "to_dict"):
        yield record(given)
    elif isinstance(given, str | Path):
        yield from _of_file(Path(given))
    else:
        raise InputError("explore", f"a {type(given).__name__}", f"an answer, {SOURCES}")


def _of_file(path: Path) -> Iterable[Recorded]:
    if path.suffix == ".json":
        return [_asked_again(path)]
    if path.suffix not in (".sqlite", ".toml"):
        found = "a folder" if path.is_dir() else f"suffix '{path.suffix}'"
        raise InputError(str(path), found, SOURCES)
    from netloom.experiments.findings import all_results, located

    return [located(each, found.folder) for found in all_results(path) for each in found.answered]


def _asked_again(path: Path) -> Recorded:
    """Return the answer to the question of an answer's JSON: that has no tables of channels."""
    from netloom.questions.base import ask
    from netloom.questions.register import by_verb

    told = parse_json(read_text(path, wanted="an answer, .json"), path, wanted=PRINTED)
    try:
        provenance = told["provenance"]
        kind = by_verb(provenance["verb"])
        fields = dict(provenance["configuration"])
    except (ValueError, KeyError, TypeError, LookupError):
        found = "no answer as --json prints it"
        raise InputError(str(path), found, PRINTED) from None
    question = ask(kind.question, fields)
    return record(kind.find(question, kind.prepare(question)))


def _on_one_network(records: Sequence[Recorded], on: str) -> list[Recorded]:
    """Return the records about one network that say what channels carry."""
    known = by_network(records)
    if not known:
        words = sorted({each.kind.words.replace(".", " ") for each in records})
        found = f"answers of {', '.join(words)}" if words else "no answers"
        wanted = "answers that say what channels carry, such as those of analyze, map or simulate"
        raise InputError("explore", found, wanted)
    if on and on not in known:
        raise InputError("on", f"'{on}'", f"one of {', '.join(known)}")
    if not on and len(known) > 1:
        raise InputError("on", f"answers about {len(known)} networks", f"one of {', '.join(known)}")
    chosen = known[on or next(iter(known))]
    if len(chosen) > MOST_VIEWS:
        found = f"{len(chosen)} answers about {on or next(iter(known))}"
        raise InputError("explore", found, f"at most {MOST_VIEWS} on a page")
    return chosen


def by_network(records: Iterable[Recorded]) -> dict[str, list[Recorded]]:
    """Return the records that say what channels carry, by the network that was named."""
    found: dict[str, list[Recorded]] = {}
    for each in records:
        if each.verb in EXPLORED:
            found.setdefault(str(each.configuration["on"]), []).append(each)
    return found


def named_views(records: Sequence[Recorded], answer: Any = None) -> list[View]:
    """Return the views of all records, each with a name of its own. ``answer`` if it is known."""
    found: list[View] = []
    for each in records:
        told = _told_apart(each, records)
        for view in views_of(each, answer):
            if found and not _same_network(found[0], view):
                wanted = "answers about one network with the same parts broken"
                raise InputError("explore", f"other channels of {view.topology.name}", wanted)
            name = f"{view.name} {told}".strip() if told and told not in view.name else view.name
            found.append(replace(view, name=name))
    names = [each.name for each in found]
    return [
        replace(each, name=f"{each.name} ({place + 1})") if names.count(each.name) > 1 else each
        for place, each in enumerate(found)
    ]


def _told_apart(own: Recorded, records: Sequence[Recorded]) -> str:
    """Return the fields by which the question of an answer differs from others."""
    from netloom.explore.views.tables import table_name

    same = [each for each in records if each.verb == own.verb]
    fields = [
        name for name, value in own.configuration.items()
        if any(each.configuration.get(name) != value for each in same)
    ]  # fmt: skip
    shown = [str(own.configuration[name]) for name in fields if own.configuration[name] is not None]
    words = [table_name(each) for each in shown]
    if len({each.verb for each in records}) > 1:
        words.insert(0, own.kind.words.replace(".", " "))
    return " ".join(words)


def _same_network(one: View, other: View) -> bool:
    first, second = one.topology, other.topology
    return np.array_equal(first.channel_source, second.channel_source) and np.array_equal(
        first.channel_target, second.channel_target
    )
