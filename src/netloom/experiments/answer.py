"""Answer one point, on any machine: plain data in, plain data out."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.provenance import code_version
from netloom.experiments.inputs import renamed, unpack
from netloom.questions.recorded import Recorded, record
from netloom.questions.register import by_verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

SATURATED = "stable"
"""The column of a table that says whether the network kept up."""


SOUND = "the store as netloom run wrote it"
"""What would do in place of a damaged one."""


class AskedPoint(NamedTuple):
    """What a worker is told of a point: its question, and the files that this names.

    Attributes
    ----------
    module, verb, fields
        Where the question is declared, and the rest as ``Point`` has it.
    paths
        Where files are, by the names that ``fields`` has for them, on this machine.
    contents
        Their digests and contents by the same names, for other machines. Else empty.
    """

    module: str
    verb: str
    fields: Mapping[str, Any]
    paths: Mapping[str, str]
    contents: Mapping[str, tuple[str, Mapping[str, bytes]]]


class KeptAnswer(NamedTuple):
    """What a worker has found out, as a store keeps it.

    Attributes
    ----------
    figures
        The JSON of the verb's answer. "" where the question was refused.
    tables
        Its tables as Parquet, by name.
    refusal
        Why the question has no answer. "" where it has.
    saturated
        Whether the network fell behind. None where that was no matter.
    version, finished, wall_seconds, cpu_seconds
        The netloom that answered, when (UTC), and what it took.
    """

    figures: str
    tables: Mapping[str, bytes]
    refusal: str
    saturated: bool | None
    version: str
    finished: str
    wall_seconds: float
    cpu_seconds: float

    def record(self, verb: str, where: str = "answer", wanted: str = SOUND) -> Recorded:
        """Return the answer as reports take it.

        Parameters
        ----------
        where, wanted
            How the point is called, and what would do, in errors.

        Raises
        ------
        InputError
            If it is damaged. Of what is looked up in it later, when that is.
        """

        def named(data: dict[str, Any]) -> dict[str, Any]:
            return _Figures(data, where, wanted)

        try:
            figures = json.loads(self.figures, object_hook=named)
        except ValueError as error:
            raise InputError(where, f"figures that are no JSON ({error})", wanted) from None
        if not isinstance(figures, dict) or "table" not in self.tables:
            raise InputError(where, "an answer without figures, or without a table", wanted)
        return Recorded(verb, figures, _Tables(self.tables, where, wanted))


class _Figures(dict[str, Any]):
    """Figures of a point, which names itself if one of them is missing."""

    def __init__(self, data: dict[str, Any], where: str, wanted: str) -> None:
        super().__init__(data)
        self.where, self.wanted = where, wanted

    def __missing__(self, name: str) -> Any:
        raise InputError(self.where, f"no '{name}' in its figures", self.wanted)


class _Tables(Mapping[str, "pl.DataFrame"]):
    """Tables that are read when they are asked for."""

    def __init__(self, data: Mapping[str, bytes], where: str, wanted: str) -> None:
        self.data, self.where, self.wanted = data, where, wanted

    def __getitem__(self, name: str) -> pl.DataFrame:
        import polars as pl

        data = self.data[name]
        try:
            return pl.read_parquet(data)
        except Exception as error:  # noqa: BLE001  # whatever the parser says, the table is damaged
            found = f"a table '{name}' that is no Parquet ({' '.join(str(error).split())})"
            raise InputError(self.where, found, self.wanted) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Interrupted(Exception):  # noqa: N818 (nothing is wrong)
    """The point was stopped from outside: what it has found is not what was asked."""


def refusal(asked: AskedPoint) -> str:
    """Return why a point cannot be asked, or "": what is said before any work is done on it."""
    from netloom.questions.base import ask

    paths = dict(asked.paths)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            import_module(asked.module)
            kind = by_verb(asked.verb)
            kind.prepare(ask(kind.question, renamed(dict(asked.fields), paths)))
    except InputError as error:
        return _as_written(str(error), paths)
    return ""


def answer(asked: AskedPoint) -> KeptAnswer:
    """Answer a point. What it finds does not depend on where it runs, or on what else does.

    Raises
    ------
    Interrupted
        If it was stopped by Ctrl-C.
    """
    paths = dict(asked.paths)
    for name, (digest, contents) in asked.contents.items():
        paths[name] = unpack(name, digest, contents)
    wall, cpu = time.perf_counter(), time.process_time()
    figures, tables, refusal, saturated = "", {}, "", None
    try:
        with warnings.catch_warnings():  # advice to a person at one command; figures say it too
            warnings.simplefilter("ignore", UserWarning)
            import_module(asked.module)  # not all questions are netloom's own
            found = by_verb(asked.verb).ask(**renamed(dict(asked.fields), paths))
        if getattr(found, "interrupted", False):
            raise Interrupted
        kept = record(found)
    except InputError as error:
        refusal = _as_written(str(error), paths)
    else:
        text = json.dumps(kept.figures, ensure_ascii=False, allow_nan=False)
        figures = _as_written(text, paths)
        tables = {name: _parquet(table, paths) for name, table in kept.tables.items()}
        saturated = _saturated(kept.tables["table"])
    return KeptAnswer(
        figures=figures,
        tables=tables,
        refusal=refusal,
        saturated=saturated,
        version=code_version(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        wall_seconds=time.perf_counter() - wall,
        cpu_seconds=time.process_time() - cpu,
    )


def _saturated(table: pl.DataFrame) -> bool | None:
    """Whether the network fell behind in all that was run. None where nothing says so."""
    if SATURATED not in table.columns:
        return None
    known = table[SATURATED].drop_nulls()
    return not known.any() if len(known) else None


def _as_written(text: str, paths: Mapping[str, str]) -> str:
    """Return text in which files have the names that the experiment has for them."""
    for name, path in sorted(paths.items(), key=lambda each: -len(each[1])):
        text = text.replace(json.dumps(path)[1:-1], json.dumps(name)[1:-1])
    return text


def _parquet(table: pl.DataFrame, paths: Mapping[str, str]) -> bytes:
    import polars as pl

    words = [name for name, dtype in table.schema.items() if dtype == pl.String]
    plain = (
        table.with_columns(pl.col(words).replace({path: name for name, path in paths.items()}))
        if words and paths
        else table
    )
    data = BytesIO()
    plain.write_parquet(data)
    return data.getvalue()
