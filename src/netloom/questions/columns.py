"""The columns of answers, each declared once: tables, JSON, pages and curves follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from netloom.base.figures import Figures, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from netloom.topology import Topology


AnyAnswer = TypeVar("AnyAnswer")

USED = "flits/cycle"

FLITS, CYCLES = "flits/node/cycle", "cycles"
"""Units of traffic and of time."""


def known(value: Any) -> float | None:
    """Return a number as JSON has it: None for NaN, which stands for what is not known.

    Examples
    --------
    >>> import numpy as np
    >>> known(np.float64(1.5)), known(float("nan"))
    (1.5, None)
    """
    return None if value != value else float(value)


def tidy(data: Any) -> Any:
    """Return data as types of Python only: no NumPy scalars and arrays, no tuples, no -0.0.

    Examples
    --------
    >>> import numpy as np
    >>> tidy({"mean": np.float64(-0.0), "of": (np.int32(1), np.array([True]))})
    {'mean': 0.0, 'of': [1, [True]]}
    """
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, dict):
        return {key: tidy(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [tidy(value) for value in data]
    return data + 0.0 if isinstance(data, float) else data  # -0.0 + 0.0 is 0.0


@dataclass(frozen=True)
class Column:
    """One figure of an answer, wherever it is shown.

    Attributes
    ----------
    name
        What it is called in tables and JSON.
    title
        What it is called before people. Its name in words by default.
    unit
        Its unit. Perhaps "".
    value
        What gives it for an observation: a function, or the name of an attribute or key, perhaps
        with dots (its own name by default). NaN and None stand for what is not known.
    kind
        ``float``, ``int``, ``str``, ``bool``. ``Real``, a number that is mostly whole, such as a
        count that may also be expected; or ``dict`` or ``list``, which is for JSON only.
    key
        Whether it is one of the few figures that lists of answers and pages show.
    json
        Where it is in JSON, with a dot between an object and what is in it; by default at its
        name. None: it is not there.
    table
        Whether tables have it.
    optional
        Whether a table may lack it.
    """

    name: str
    title: str = ""
    unit: str = ""
    value: Callable[[Any], Any] | str = ""
    kind: type = float
    key: bool = False
    json: str | None = ""
    table: bool = True
    optional: bool = False

    @property
    def named(self) -> str:
        """What it is called before people."""
        return self.title or self.name.replace("_", " ")

    @property
    def head(self) -> str:
        """Its title with its unit, as the head of a table.

        Examples
        --------
        >>> Column("accepted", unit="flits/node/cycle").head
        'accepted, flits/node/cycle'
        """
        return f"{self.named}, {self.unit}" if self.unit else self.named

    def of(self, observation: Any) -> Any:
        """Return its value for an observation: a plain value, None where it is not known."""
        if callable(self.value):
            found = self.value(observation)
        else:
            found = observation
            for part in (self.value or self.name).split("."):
                found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        if self.kind in (dict, list) or found is None:
            return found
        if self.kind is Real and isinstance(found, Integral):
            return int(found)
        return known(found) if self.kind in (float, Real) else self.kind(found)


class Columns:
    """The columns of an answer, in order.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns = Columns(
    ...     Column("offered"), Column("latency_mean", key=True, json="latency.mean"))
    >>> columns.row(SimpleNamespace(offered=0.1, latency_mean=float("nan")))
    {'offered': 0.1, 'latency_mean': None}
    >>> columns.nested(SimpleNamespace(offered=0.1, latency_mean=12))
    {'offered': 0.1, 'latency': {'mean': 12.0}}
    >>> columns["load"]
    Traceback (most recent call last):
        ...
    LookupError: no column 'load'; there are offered, latency_mean
    """

    def __init__(self, *columns: Column) -> None:
        self._of = {each.name: each for each in columns}
        assert len(self._of) == len(columns), "two columns of one name"

    def __iter__(self) -> Iterator[Column]:
        return iter(self._of.values())

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, name: str) -> bool:
        return name in self._of

    def __getitem__(self, name: str) -> Column:
        if name not in self._of:
            raise LookupError(f"no column '{name}'; there are {', '.join(self._of)}")
        return self._of[name]

    def __add__(self, other: Columns) -> Columns:
        return Columns(*self, *other)

    def __or__(self, other: Columns) -> Columns:
        """Return these and the other's, whose columns take the place of those of their name."""
        return Columns(*(self._of | other._of).values())

    def pick(self, *names: str) -> Columns:
        """Return some of them. An unknown name is a LookupError."""
        return Columns(*(self[name] for name in names))

    @property
    def key(self) -> Columns:
        """The few that lists of answers show: all of a table where none is marked."""
        marked = [each for each in self if each.key]
        return Columns(*(marked or [each for each in self if each.table]))

    @property
    def names(self) -> list[str]:
        """The names of those that tables have."""
        return [each.name for each in self if each.table]

    def row(self, observation: Any) -> dict[str, Any]:
        """Return an observation as a row of the table."""
        return {each.name: each.of(observation) for each in self if each.table}

    def nested(self, observation: Any) -> dict[str, Any]:
        """Return an observation as JSON has it."""
        found: dict[str, Any] = {}
        for each in self:
            if each.json is None:
                continue
            *path, last = (each.json or each.name).split(".")
            place = found
            for name in path:
                place = place.setdefault(name, {})
            place[last] = each.of(observation)
        return found

    def frame(self, observations: Iterable[Any]) -> pl.DataFrame:
        """Return one row per observation."""
        return self.frame_of([self.row(each) for each in observations])

    def frame_of(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        """Return rows that have these columns as a table with their types."""
        import polars as pl

        types: dict[type, Any] = {
            float: pl.Float64, int: pl.Int64, str: pl.String, bool: pl.Boolean,
        }  # fmt: skip
        series = {}
        for each in self:
            if each.table:
                values = [row[each.name] for row in rows]
                whole = not any(isinstance(value, float) for value in values)
                kind = (int if whole else float) if each.kind is Real else each.kind
                series[each.name] = pl.Series(values, dtype=types[kind])
        return pl.DataFrame(series)

    def checked(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return a table of these columns. One with others, or without some, is a bug."""
        lacks = {each.name for each in self if each.table and not each.optional}
        other = (set(found.columns) - set(self.names)) | (lacks - set(found.columns))
        assert not (other and found.columns), f"other columns: {', '.join(sorted(other))}"
        return found


INSIDE = Columns(Column("inside_nodes"))
"""The share of the traffic that stays inside nodes: what answers of placed programs say of it."""


def table(
    columns: Columns,
) -> Callable[[Callable[[AnyAnswer], pl.DataFrame]], Callable[[AnyAnswer], pl.DataFrame]]:
    """Declare that a method of an answer returns one of its tables, with these columns.

    A method that is a table already, of another class of answers, gets these columns instead.
    """

    def declare(method: Callable[[AnyAnswer], pl.DataFrame]) -> Callable[[AnyAnswer], pl.DataFrame]:
        method = getattr(method, "__wrapped__", method)

        @wraps(method)
        def checked(self: AnyAnswer) -> pl.DataFrame:
            return columns.checked(method(self))

        checked.columns = columns  # type: ignore[attr-defined]
        return checked

    return declare


def asked(name: str) -> Callable[[Any], Any]:
    """Return what gives a field of the question: the value of a column of ``about``."""
    return lambda answer: answer.provenance.configuration[name]


Found: TypeAlias = Callable[[Any, str], list[tuple[float, float]]]
Detail: TypeAlias = Callable[[Any, float, str], Any]
"""What reads a record of an answer: where a network saturates, and the record of one point."""

MEASURED = ("seed", "cycles", "precision", "most_cycles")
"""Fields of questions that say how well a point is known."""


class Axes(NamedTuple):
    """The words of a curve's axes: what loads, latencies and throughput are, and their units.

    Curves of the same axes are compared. A model has those of what it predicts. ``open`` says
    whether load is offered regardless of what is accepted, so that a network can saturate.
    """

    load: str
    latency: str
    latency_unit: str
    accepted: str
    open: bool = True


def in_figures(name: str) -> Found:
    """Return what reads a model's load of saturation from a figure."""

    def found(record: Any, technique: str) -> list[tuple[float, float]]:  # noqa: ARG001
        place = record.figures[name]
        return [] if place is None else [(float(place), 0.0)]

    return found


@dataclass(frozen=True, eq=False)
class CurveKind:
    """Where an answer's table has what a curve is drawn from. "" where it has no such thing.

    A question declares one as ``CURVE`` beside its answer, and ``LEVELS``, which reads the
    field in which it rises. Without it that holds numbers above 0.

    Attributes
    ----------
    axes
        The words of the axes.
    load, latency, idle
        Columns: offered traffic or rate, mean latency, latency of the idle network. ``idle`` may
        be a figure of the whole answer.
    half_width, accepted
        Columns: half of the latency's 95 % interval, throughput.
    stable
        The column that says whether the network kept up. With ``-`` before it, the opposite.
    model
        Whether a model says so, and not a simulator.
    ends
        What a model's latencies lack beside those of the simulator, in the unit of latency.
    besides
        Fields of the question that say where on a curve a point is, beside those of ``MEASURED``.
    about
        What the answer is of, and does not say with its figures.
    found
        Returns where the network was found to saturate, and half the width of that; [] if nowhere.
    detail
        Returns the answer of which one point is a picture. None if there is none.
    """

    axes: Axes
    load: str
    latency: str
    idle: str
    half_width: str = ""
    accepted: str = ""
    stable: str = ""
    model: bool = False
    ends: float = 0.0
    besides: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    found: Found = lambda *_: []
    detail: Detail = lambda *_: None

    @property
    def columns(self) -> list[str]:
        """The columns of the answer's table that it names."""
        names = (self.load, self.latency, self.half_width, self.accepted, self.stable.lstrip("-"))
        return [name for name in names if name]

    @property
    def of_the_run(self) -> frozenset[str]:
        """Fields of the question that say where a point is, or how well it is known."""
        return frozenset({*MEASURED, *self.besides})


def use_of_channels(channels: Callable[[Any], NDArray[Any]]) -> Columns:
    """Return the columns of the mean and the largest of what channels carry, flits per cycle."""

    def mean(found: Any) -> float:
        used = channels(found)
        return float(used.sum() / max(len(used), 1))

    def most(found: Any) -> float:
        return float(channels(found).max(initial=0.0))

    return Columns(
        Column("utilisation_mean", "mean channel", USED, mean, json="utilisation.mean"),
        Column("utilisation_max", "busiest channel", USED, most, key=True, json="utilisation.max"),
    )


def channel_columns(load: Column) -> Columns:
    """Return the columns of ``channels_by`` for such a load, the last two if hosts have routers."""
    return Columns(
        load,
        Column("source_node", kind=int),
        Column("target_node", kind=int),
        Column("utilisation", "carried by the channel", USED),
        Column("name", "channel", kind=str, optional=True),
        Column("bandwidth", unit=USED, optional=True),
    )


class ChannelUse(Figures):
    """What a channel between routers carries. Names and bandwidths only if hosts have routers."""

    channel: int = figure()
    source_node: int = figure()
    target_node: int = figure()
    utilisation: float = figure("carried by the channel", USED)
    name: str | None = figure("channel", optional=True)
    bandwidth: float | None = figure(unit=USED, optional=True)


def channel_uses(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> dict[str, Any]:
    """Return the columns of ``ChannelUse`` behind that of a load, channel by channel at each load.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_network_channels], flits per cycle.
    """
    import numpy as np

    listed = list(runs)
    many = len(listed)
    ends, named = channel_ends(topology)
    return {
        load: np.repeat([value for value, _ in listed], topology.num_network_channels),
        "channel": np.tile(np.arange(topology.num_network_channels), many),
        "utilisation": np.concatenate([used for _, used in listed]) if many else [],
        **{name: np.tile(values, many) for name, values in (ends | named).items()},
    }


def channel_ends(topology: Topology) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what tables say of the channels between routers: their nodes. Names and bandwidths.

    The latter only if hosts hang on routers.
    """
    inside = topology.num_network_channels
    ends = {
        "source_node": topology.source_end[:inside],
        "target_node": topology.target_end[:inside],
    }
    if topology.direct:
        return ends, {}
    names = [topology.channel_name(channel) for channel in range(inside)]
    return ends, {"name": names, "bandwidth": topology.channel_bandwidth[:inside]}


def channels_by(
    load: str, runs: Iterable[tuple[float, NDArray[Any]]], topology: Topology
) -> pl.DataFrame:
    """Return one row per load and channel: its two nodes, and flits per cycle on it.

    Parameters
    ----------
    load
        Name of the column of loads.
    runs
        The loads, each with float[num_network_channels], flits per cycle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> import numpy as np
    >>> table = channels_by("rate", [(0.1, np.array([0.5, 0.25]))], topology("mesh:2"))
    >>> table.rows()
    [(0.1, 0, 1, 0.5), (0.1, 1, 0, 0.25)]
    """
    import numpy as np
    import polars as pl

    ends, named = channel_ends(topology)
    tables = [
        pl.DataFrame(
            {
                load: np.full(len(used), value),
                **ends,
                "utilisation": np.asarray(used, np.float64),
                **named,
            }
        )
        for value, used in runs
    ]
    return pl.concat(tables) if tables else pl.DataFrame()
