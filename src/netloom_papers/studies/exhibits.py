"""Every table and figure of the papers, recomputed by name: ``chittor/fig-5.12``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom._version import __version__
from netloom.base.errors import InputError
from netloom.base.figures import PRINTED, Grid, Plot
from netloom.questions.verdict import Verdict
from netloom_papers.studies.running import STUDIES
from netloom_papers.studies.validation import Validation, published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from netloom_papers.studies.validation import Row


class Shown(NamedTuple):
    """What a table or figure shows, recomputed.

    Attributes
    ----------
    panels
        In the paper's order: pairs of axes, or tables.
    rows
        What is compared, as ``netloom validate`` has it. ``kind`` says what the paper prints.
    remarks
        What to know before comparing: errata, what the paper leaves open, what a quick run leaves
        out.
    """

    panels: Sequence[Plot | Grid]
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()


class Exhibit(NamedTuple):
    """A table or figure, and what recomputes it.

    Attributes
    ----------
    line
        What it shows, in one line.
    show
        Takes whether to be quick (less than half a minute, with the machine cold).
    remarks
        What to know before comparing, after what ``show`` found to say.
    quick, full
        Notes on a quick run, and on a full one. Empty if there are none.
    """

    line: str
    show: Callable[[bool], Shown]
    remarks: Sequence[str] = ()
    quick: str = ""
    full: str = ""

    def recompute(self, quick: bool) -> Shown:
        """Return what is shown, with all remarks on it."""
        shown, last = self.show(quick), self.quick if quick else self.full
        return shown._replace(remarks=(*shown.remarks, *self.remarks, *([last] if last else ())))


PAPERS = {
    "chittor": (
        "chittor_exhibits",
        "chittor_machine",
        "chittor_program_exhibits",
    ),
    "shahrabi": ("shahrabi",),
    "rosenblum-mayr": ("rosenblum_mayr_exhibits",),
    "feldmann": ("feldmann_exhibits",),
    "johnson": ("johnson_exhibits",),
}
"""The modules of this package whose ``EXHIBITS`` recompute those of a paper, by name. What is said
of them is in the data file."""


@dataclass(frozen=True, eq=False)
class Exhibited:
    """A table or figure that was recomputed.

    Attributes
    ----------
    name, line, quick
        Which, what it shows, and whether it was the quick variant.
    shown
        Panels, rows and remarks.
    """

    name: str
    line: str
    quick: bool
    shown: Shown

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its end: never, since what is half done is not shown."""
        return False

    @property
    def sentence(self) -> str:
        """How the printed and the computed numbers compare, in one line."""
        rows = self.shown.rows
        if not rows and any(isinstance(panel, Grid) for panel in self.shown.panels):
            return "No number here is held to a tolerance."
        if not rows and any(_is_printed(panel) for panel in self.shown.panels):
            return "What is printed stands beside what is computed; none is held to a tolerance."
        if not rows:
            return "The paper prints no numbers here to compare with; the shape is what it shows."
        return Validation(rows).sentence

    @property
    def verdict(self) -> Verdict:
        """The same with its mark, what it is of, and what is outside.

        If nothing is compared, nothing is confirmed.
        """
        of = f"{self.name}: {self.line}"
        if self.shown.rows:
            return replace(Validation(self.shown.rows).verdict, of=of)
        return Verdict("unknown", self.sentence, of)

    def table(self) -> pl.DataFrame:
        """Return everything shown, one row per point or cell, with the panel it belongs to."""
        import polars as pl

        parts = [_tidy(panel) for panel in self.shown.panels]
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame({"panel": []})

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, the JSON of ``netloom study run``."""
        return {
            "study": self.name,
            "shows": self.line,
            "quick": self.quick,
            "panels": [
                {"title": panel.title, "table": _tidy(panel).drop("panel").to_dicts()}
                for panel in self.shown.panels
            ],
            "rows": [row.to_dict() for row in self.shown.rows],
            "remarks": list(self.shown.remarks),
            "verdict": self.verdict.to_dict(),
            "netloom": __version__,
        }

    def __repr__(self) -> str:
        return f"<{self.name}: {self.line}{', quick' * self.quick}>\n{self.sentence}"


def exhibits() -> dict[str, Exhibit]:
    """Return all tables and figures, by names such as ``chittor/fig-5.12``, in their order."""
    return {f"{paper}/{item}": each for paper in PAPERS for item, each in _of(paper).items()}


def recompute(name: str, *, quick: bool = False) -> Exhibited:
    """Recompute a table or figure of a paper.

    Parameters
    ----------
    name
        Such as ``chittor/fig-5.12``. See ``exhibits``.
    quick
        Only as much as takes less than half a minute: fewer mappings, seeds or points.

    Raises
    ------
    InputError
        If there is no such table or figure.

    Examples
    --------
    >>> recompute("johnson/table-1").shown.panels[0].columns
    ('network speed', '10³ processors', '10⁶ processors')
    """
    paper, _, item = name.partition("/")
    if paper not in PAPERS or item not in (known := _of(paper)):
        raise unknown(name)
    return Exhibited(name, known[item].line, quick, known[item].recompute(quick))


def unknown(name: str) -> InputError:
    """Return what is wrong with a name that no study has: the nearest one that there is."""
    near = get_close_matches(name, [*exhibits(), *STUDIES], n=1, cutoff=0.5)
    wanted = (
        f"'{near[0]}' perhaps; all: netloom study list" if near else "one of netloom study list"
    )
    return InputError("study", f"'{name}'", wanted)


def _of(paper: str) -> dict[str, Exhibit]:
    data = published("exhibits")[paper]
    notes, found = data.get("notes", {}), {}
    for module in PAPERS[paper]:
        for item, show in import_module(f"netloom_papers.studies.{module}").EXHIBITS.items():
            said = data["exhibits"][item]
            remarks = [each.format_map(notes) for each in said.get("remarks", ())]
            last = (said.get(name, "").format_map(notes) for name in ("quick", "full"))
            found[item] = Exhibit(said["line"], show, remarks, *last)
    return found


def _is_printed(panel: Plot | Grid) -> bool:
    return isinstance(panel, Plot) and PRINTED in panel.table["whose"]


def _tidy(panel: Plot | Grid) -> pl.DataFrame:
    import polars as pl

    if isinstance(panel, Plot):
        return panel.table.select(pl.lit(panel.title).alias("panel"), pl.all())
    cells = [
        {"panel": panel.title, "row": label, "column": column, **cell._asdict()}
        for label, row in panel.rows
        for column, cell in zip(panel.columns[1:], row, strict=True)
        if cell is not None
    ]
    schema = {"printed": pl.Float64, "computed": pl.Float64, "within": pl.Boolean}
    return pl.DataFrame(cells, schema_overrides=schema, infer_schema_length=None)
