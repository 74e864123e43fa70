"""Write an explorer: one HTML file, from answers, stores of experiments, or JSON of answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.textfiles import parse_json, read_text, write_text
from netloom.drawing.frame import COLOURS, DARK_RANGES, DELAYED, RANGES
from netloom.drawing.save import Inline, check_writable, html_page, make_folder, own_file
from netloom.experiments.findings import Results, all_results, located
from netloom.pages.explorer.network import Flows, View, network_json, packed, ports
from netloom.pages.explorer.views import table_name, views_of
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import EXPLORED
from netloom.routing import Paths


def view_json(view: View) -> dict[str, Any]:
    """Return a view as JSON."""
    exact = (view.load == np.floor(view.load)).all()
    frames = None
    if view.frames is not None:  # shares of 250, each but the first as what changed
        shares = np.rint(250 * np.clip(view.frames.busy, 0, 1)).astype(np.uint8)
        changed = np.diff(shares, axis=0, prepend=np.zeros((1, shares.shape[1]), np.uint8))
        frames = {
            "unit": view.frames.unit,
            "edges": packed(view.frames.edges),
            "most": 250,
            "changes": packed(changed),
            "critical": [list(each) for each in view.frames.critical],
        }
    plain = "name", "command", "unit", "missing", "delays", "full", "tie"
    return {each: getattr(view, each) for each in plain} | {
        "verdict": view.verdict.to_dict() | {"of": view.verdict.of},
        "load": packed(view.load if exact else view.load.astype(np.float32)),
        "flows": None if view.flows is None else _flows(view.flows),
        "ways": _ways(view),
        "frames": frames,
    }


def _flows(flows: Flows) -> dict[str, Any]:
    """Return flows as JSON: in one word where all ranks send all others as much."""
    ranks = len(flows.host_of)
    found = {"ranks": ranks, "host_of": packed(flows.host_of), "of_hosts": flows.of_hosts}
    if flows.job_of is not None:
        found["job_of"], found["jobs"] = packed(flows.job_of), list(flows.jobs)
    many = len(flows.source)
    if many and many == ranks * (ranks - 1) and (flows.amount == flows.amount[0]).all():
        source, target = np.divmod(np.arange(many), ranks - 1)
        target += target >= source
        if np.array_equal(flows.source, source) and np.array_equal(flows.target, target):
            return found | {"each": float(flows.amount[0])}
    return found | {
        "source": packed(flows.source, delta=bool((np.diff(flows.source) >= 0).all())),
        "target": packed(flows.target),
        "amount": packed(flows.amount),
    }


def _ways(view: View) -> dict[str, Any] | None:
    ways = view.ways
    if ways is None:
        return None
    if not isinstance(ways, Paths):
        port = np.where(ways >= 0, ports(view.topology)[ways] + 1, 0)
        return {"table": packed(port.T)}  # 0: none
    kept = ways.channels < view.topology.num_network_channels  # without those of hosts
    path = np.repeat(np.arange(len(ways)), ways.lengths)[kept]
    found = {
        "hops": packed(np.bincount(path, minlength=len(ways))),
        "channels": packed(ways.channels[kept]),
    }
    if ways.pair is not None:
        found["flow"] = packed(ways.pair, delta=True)
    if ways.probability is not None:
        found["probability"] = packed(ways.probability)
    return found


ROOM = "netloom.pages.explorer"
"""The package that holds the page's style, script and template."""

MODULES = (
    "walks", "scale", "brushes", "scene", "words", "model", "data", "address", "panel", "matrix",
    "loads", "time", "saved", "side", "main",
)  # fmt: skip
"""The modules of the script, each behind those that it imports from."""


def render(views: Sequence[View]) -> str:
    """Return views of one network as the text of one HTML file.

    Nothing in it is loaded from elsewhere. Whatever comes from data or users is escaped.

    Raises
    ------
    InputError
        If the network cannot be drawn.
    """
    return shell(title_of(views), data_of(views))


def title_of(views: Sequence[View]) -> str:
    """Return what the first answer says, and of what."""
    said = next(each.verdict for each in views if each.verdict.sentence)
    return f"{said.sentence} {said.of}"


def data_of(views: Sequence[View]) -> dict[str, Any]:
    """Return all that the script needs of views, as plain data."""
    changed = (  # a before and an after are compared
        len(views) == 2 and not views[0].verdict.sentence and views[0].unit == views[1].unit
    )
    return {
        "start": {"mode": "change", "view": 0, "beside": 1} if changed else {},
        "network": network_json(views[0].topology),
        "views": [view_json(each) for each in views],
        "colors": {
            "heat": RANGES["heatmap"],
            "dark_heat": DARK_RANGES["heatmap"],
            "change": RANGES["diverging"],
            "dark_change": DARK_RANGES["diverging"],
            "jobs": COLOURS,
            "delayed": DELAYED,
        },
    }


def shell(title: str, data: Any) -> str:
    """Return the page with a title around some plain data."""
    return html_page(own_file("page.html", ROOM), title=title, inline=inline(), data={"data": data})


def inline() -> Inline:
    """Return the style and the script of the page."""
    whole = f'"use strict";\n(() => {{\n{script()}\n}})();\n'
    return Inline(own_file("page.css") + own_file("page.css", ROOM), (whole,))


def script() -> str:
    """Return the modules as one script, without imports, exports, comments and indents."""
    joined = "\n".join(
        re.sub(r"(?m)^import [^;]*;\n", "", own_file(f"{name}.js", ROOM)).replace("\nexport ", "\n")
        for name in MODULES
    )
    return re.sub(r"(?m)^ *//.*\n|^ +", "", joined)


SUFFIXES = (".html", ".htm")
STORES = "a store, .sqlite, or an experiment file, .toml"
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
    network = on or next(iter(known))
    chosen = known[network]
    if len(chosen) > MOST_VIEWS:
        found = f"{len(chosen)} answers about {network}"
        raise InputError("explore", found, f"at most {MOST_VIEWS} on a page")
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

    Examples
    --------
    >>> check_page("report.html").name
    'report.html'
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
    from netloom.questions.base import ask
    from netloom.questions.register import by_verb

    if not isinstance(given, str | Path) or Path(given).suffix != ".json":
        for source in sources_of(given, "explore", SOURCES):
            if isinstance(source, Recorded):
                yield source
            else:
                yield from (located(each, source.folder) for each in source.answered)
        return
    # the question is asked again: the JSON has no tables of channels
    path = Path(given)
    told = parse_json(read_text(path, wanted="an answer, .json"), path, wanted=PRINTED)
    try:
        provenance = told["provenance"]
        kind = by_verb(provenance["verb"])
        fields = dict(provenance["configuration"])
    except (ValueError, KeyError, TypeError, LookupError):
        raise InputError(str(path), "no answer as --json prints it", PRINTED) from None
    question = ask(kind.question, fields)
    yield record(kind.find(question, kind.prepare(question)))


def sources_of(
    given: Any, where: str = "report", wanted: str = STORES
) -> Sequence[Recorded | Results]:
    """Return records of answers and results of experiments, from whatever a user has of them.

    Parameters
    ----------
    where, wanted
        What is said of anything else: where it was given, and which files may be.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if isinstance(given, Recorded | Results):
        return [given]
    if hasattr(given, "provenance") and hasattr(given, "to_dict"):
        return [record(given)]
    if not isinstance(given, str | Path):
        raise InputError(where, f"a {type(given).__name__}", f"an answer, {wanted}")
    if Path(given).suffix not in (".sqlite", ".toml"):
        suffix = "a folder" if Path(given).is_dir() else f"suffix '{Path(given).suffix}'"
        raise InputError(str(given), suffix, wanted)
    return all_results(given)


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
    verbs = {each.verb for each in records}
    for each in records:
        alike = [other.configuration for other in records if other.verb == each.verb]
        values = [  # of the fields in which its question differs from others
            str(value)
            for name, value in each.configuration.items()
            if value is not None and any(other.get(name) != value for other in alike)
        ]
        words = [each.kind.words.replace(".", " ")] if len(verbs) > 1 else []
        told = " ".join([*words, *map(table_name, values)])
        for view in views_of(each, answer):
            one, other = found[0].topology if found else view.topology, view.topology
            ends = (one.source_end, other.source_end), (one.target_end, other.target_end)
            if not all(np.array_equal(*each) for each in ends):
                wanted = "answers about one network with the same parts broken"
                raise InputError("explore", f"other channels of {view.topology.name}", wanted)
            name = f"{view.name} {told}".strip() if told and told not in view.name else view.name
            found.append(replace(view, name=name))
    names = [each.name for each in found]
    return [
        replace(each, name=f"{each.name} ({place + 1})") if names.count(each.name) > 1 else each
        for place, each in enumerate(found)
    ]
