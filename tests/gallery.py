"""Write one page with every kind of picture: `python -m tests.gallery out/gallery.html [words]`.

Of each small answer there is the whole picture, and each part as on a page: on white, on near-black
and for a window of 390 pixels. Switches show all in grey, as print does. With words only the
answers whose names contain one of them are drawn. A person looks at it before a release.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import vl_convert

from netloom import predict_latency, simulate
from netloom.drawing.frame import narrow_page
from netloom.pages.curves import find_curves
from netloom.pages.figure import Figure, curve_figures, make_figure
from netloom.pages.write import THEMES
from netloom.questions.recorded import record
from netloom_papers.exhibits import COMPUTED, PRINTED, Plot, exhibit_chart
from tests.questions.small_answers import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from netloom.questions.recorded import Recorded

PAGE = Path("out/gallery.html")

WIDE, NARROW = 110, 44
"""Letters of a line of a title on a wide page, and on one of 390 pixels."""

PAPERS = {"light": "#ffffff", "dark": "#181c22"}

STYLE = """
body { font: 15px system-ui, sans-serif; margin: 24px; color: #1c232b; background: #fbfbfa; }
h2 { margin: 40px 0 8px; border-top: 1px solid #e1e5e9; padding-top: 16px; }
section { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
figure { margin: 0; max-width: 100%; } figcaption { color: #4f5a66; font-size: 13px; }
img { max-width: 100%; border: 1px solid #e1e5e9; } img.narrow { max-width: 390px; }
#grey:checked ~ main img { filter: grayscale(1); }
#only-narrow:checked ~ main figure:not(.narrow) { display: none; }
#only-dark:checked ~ main figure:not(.dark) { display: none; }
"""

SWITCHES = {"grey": "in grey", "only-narrow": "390 pixels only", "only-dark": "near-black only"}


class Shown(NamedTuple):
    """One picture: what it is of, and as which variant, and its SVG."""

    said: str
    variant: str
    svg: str


def whole(found: Recorded) -> Shown:
    """Return the picture that a command writes."""
    svg = vl_convert.vegalite_to_svg(found.answer.picture().to_dict())
    return Shown("the whole picture", "light", svg)


def parts(found: Recorded) -> Iterator[Shown]:
    """Yield each part as pages have it: on white, on near-black, and narrow."""
    with narrow_page():
        narrow = found.answer.parts()
    for name, part in found.answer.parts().items():
        yield from variants(name, make_figure(part), make_figure(narrow[name]))


def variants(name: str, wide: Figure, narrow: Figure | None) -> Iterator[Shown]:
    """Yield a figure of a page on white, on near-black, and narrow."""
    for theme in PAPERS:
        yield Shown(name, theme, themed(wide.spec, wide.title, theme))
    if narrow is not None:
        yield Shown(name, "narrow", themed(narrow.spec, narrow.title, "light", NARROW))


def themed(spec: Mapping[str, object], title: str, theme: str, letters: int = WIDE) -> str:
    """Return the SVG of a chart in the colors of a theme of pages, its title in lines."""
    config = {**THEMES[theme], "background": PAPERS[theme], "padding": 10}
    head = {"text": wrap(title, letters), "anchor": "start", "offset": 10}
    inside = {key: value for key, value in spec.items() if key != "datasets"}
    resolve = {"scale": {"color": "independent", "stroke": "independent"}}
    alone = {"datasets": spec.get("datasets", {}), "hconcat": [inside], "resolve": resolve}
    return vl_convert.vegalite_to_svg({**alone, "title": head, "config": config})


def curves() -> Iterator[Shown]:
    """Yield the curves of a page: two networks, simulated and as the model has them."""
    loads, found = "0.1:0.7:0.2", []
    for on in ("torus:4x4", "mesh:4x4"):
        found += [simulate(on, load=loads, cycles=1500), predict_latency(on, offered=loads)]
    for group in find_curves([record(each) for each in found]):
        for figure in curve_figures(group):
            narrow = None
            if figure.narrow:
                sets = {**figure.spec.get("datasets", {}), **figure.narrow.get("datasets", {})}
                narrow = Figure(figure.title, "", "", figure.data,
                                {**figure.narrow, "datasets": sets})  # fmt: skip
            yield from variants("curves", figure, narrow)


def exhibit() -> Iterator[Shown]:
    """Yield the picture of a paper's figure: printed and computed."""
    rows = [
        {"series": name, "x": x, "y": 10.0 * at + at * x + whose.count("p"), "whose": whose,
         "low": 10.0 * at + at * x - 1, "high": 10.0 * at + at * x + 1}
        for at, name in enumerate(("rate 0.1", "rate 0.2", "rate 0.3"), 1)
        for x in (1, 2, 4, 8)
        for whose in (COMPUTED, PRINTED)
    ]  # fmt: skip
    plot = Plot("Steps by queue size", "queue size (packets)", "steps", pl.DataFrame(rows),
                log_x=True)  # fmt: skip
    spec = exhibit_chart("A figure of a paper", [plot]).to_dict()
    yield Shown("an exhibit", "light", vl_convert.vegalite_to_svg(spec))


def entries(words: Sequence[str]) -> Iterator[tuple[str, list[Shown]]]:
    """Yield each kind of picture that is asked for, with its pictures."""
    for name, ask in ANSWERS.items():
        if not words or any(word in name for word in words):
            found = record(ask())
            yield name, [whole(found), *parts(found)]
    for name, make in (("curves of a page", curves), ("exhibit of a paper", exhibit)):
        if not words or any(word in name for word in words):
            yield name, list(make())


def page(entries: Iterable[tuple[str, Sequence[Shown]]]) -> str:
    """Return the page."""
    boxes = "".join(
        f'<input type="checkbox" id="{name}"><label for="{name}"> {said} </label>'
        for name, said in SWITCHES.items()
    )
    body = "".join(_section(name, shown) for name, shown in entries)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Gallery of pictures'
        f"</title><style>{STYLE}</style></head><body><h1>Gallery of pictures</h1>"
        f"{boxes}<main>{body}</main></body></html>\n"
    )


def _section(name: str, shown: Sequence[Shown]) -> str:
    figures = "".join(
        f'<figure class="{each.variant}"><figcaption>{escape(each.said)}, {each.variant}'
        f'</figcaption><img class="{each.variant}" alt="{escape(_title(each.svg))}" '
        f'src="data:image/svg+xml;base64,{b64encode(each.svg.encode()).decode()}"></figure>'
        for each in shown
    )
    return f"<h2>{escape(name)}</h2><section>{figures}</section>"


def _title(svg: str) -> str:
    found = re.search(r"aria-label=\"Title text '([^\"]*)'\"", svg)
    return found[1] if found else "a picture"


def main(arguments: Sequence[str]) -> None:
    """Write the page."""
    path = Path(arguments[0]) if arguments else PAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(entries(arguments[1:])), encoding="utf-8")
    sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
