"""The tables of a machine file, key by key: links, costs, computers, and what libraries take."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from netloom.base.errors import InputError
from netloom.base.units import RATE, SIZE, TIME, Quantity
from netloom.simulation.network.routers import Router, router


def _with_unit(quantity: Quantity, given: Any) -> Any:
    """Return a value exactly. A number without a unit is none, except 0 of times."""
    plain = given == 0 and isinstance(given, int | float) and quantity is TIME
    if isinstance(given, str) or plain:
        return quantity.exact(str(given), where="")
    raise InputError("", f"{given!r} without a unit", quantity.wanted)


def _bytes(given: Any) -> float:
    found = SIZE.parse(given, where="")
    if found == 0:
        raise InputError("", repr(given), f"{SIZE.wanted}: above 0")
    return whole(found)


def _ends(given: Any) -> str | tuple[str, str]:
    if isinstance(given, str):
        return given
    if isinstance(given, list) and len(given) == 2 and all(isinstance(e, str) for e in given):
        return given[0], given[1]
    raise InputError("", repr(given), 'a class such as "hosts", or ["leaf*", "spine*"]')


def whole(value: float) -> float:
    """Return a whole number as such."""
    return int(value) if value.is_integer() else value


Rate = Annotated[float, BeforeValidator(lambda given: float(_with_unit(RATE, given) / 10**6))]
Time = Annotated[float, BeforeValidator(lambda given: float(_with_unit(TIME, given) * 10**6))]
Bytes = Annotated[int | float, BeforeValidator(_bytes)]
Share = Annotated[float, Field(gt=0, le=1)]


def router_of(given: Any) -> Router | None:
    """Return the router of fields, and perhaps of the preset that they change."""
    if not isinstance(given, dict):
        raise InputError("", repr(given), "a table")
    fields = dict(given)
    preset = fields.pop("preset", "three-stage")
    try:
        return router(str(preset), **fields)
    except TypeError:
        found = ", ".join(f"{key} = {value!r}" for key, value in fields.items())
        raise InputError("", found, "numbers and words") from None


class Table(BaseModel):
    """A table of a machine file, whose keys are called as the file calls them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LinkClass(Table):
    """Some of a network's links, both directions, and what a machine says of them.

    Attributes
    ----------
    between
        A word of ``link_classes``, or two patterns of the names of hosts and routers.
    bandwidth_bytes_per_us
        Of each channel. None where it is that of the other links.
    latency_us
        Of each channel with the router that it leaves. None as well.
    efficiency
        Payload over what each channel carries, as ``Machine.efficiency``. None as well.
    """

    between: Annotated[Any, BeforeValidator(_ends)] = Field(
        description='a class such as "hosts", or ["leaf*", "spine*"]'
    )
    bandwidth_bytes_per_us: Rate | None = Field(None, alias="bandwidth")
    latency_us: Time | None = Field(None, alias="latency")
    efficiency: Share | None = None

    @property
    def words(self) -> str:
        """What it is called in messages."""
        return self.between if isinstance(self.between, str) else " and ".join(self.between)


class MessageCost(Table):
    """Time of a message of at most ``up_to_bytes``: startup_us + per_byte_us × its bytes.

    Attributes
    ----------
    up_to_bytes
        Largest message that this line holds for. Infinite in the last.
    startup_us
        α, microseconds that every message costs.
    per_byte_us
        β, microseconds a byte.
    """

    up_to_bytes: Bytes = Field(inf, alias="up_to")
    startup_us: Time = Field(alias="startup", description=TIME.wanted)
    per_byte_us: Time = Field(alias="per_byte", description=TIME.wanted)


class Computer(Table):
    """A computer with an inside: GPUs on an inner network, and network cards.

    GPU i is near card i · cards // gpus, so that cards are shared evenly. A machine's bandwidth is
    that of a card.

    Attributes
    ----------
    gpus, cards
        How many there are. 0 cards in a computer that stands alone.
    inner_bytes_per_us
        What a GPU sends, and receives at once, on the inner network.
    efficiency
        Payload over what the inner network carries.
    adding_bytes_per_us
        Bytes of an all-reduce per microsecond where inner switches add. None where they do not.
    """

    gpus: int = Field(ge=1, le=1024)
    cards: int = Field(ge=0, le=1024)
    inner_bytes_per_us: Rate = Field(alias="inner")
    efficiency: Share = 1.0
    adding_bytes_per_us: Rate | None = Field(None, alias="adding")


class ErrorShare(Table):
    """How far times of collectives are from those that a machine's figures give.

    Attributes
    ----------
    up_to_bytes
        Largest size that this line holds for. Infinite in the last.
    share
        Measured over expected times, or the reverse, are 1 + share at most, nine times out of ten.
    """

    up_to_bytes: Bytes = Field(inf, alias="up_to")
    share: Share = Field(description="a share such as 0.2")


class Protocol(Table):
    """A protocol by which a library runs its algorithms: what hops and bytes cost.

    Attributes
    ----------
    algorithm
        ``ring``, ``tree``, ``in-switch``, ``rails``, ``all-pairs`` or ``pairs`` (of all-to-all).
    name
        As the library calls it.
    base_us, inside_us, between_us
        Microseconds of a collective, of a hop inside a computer, and of one between computers.
    inside_factor, hops_factor
        What hops inside, and all hops, take times as long where there are several computers.
    payload
        Payload over what it sends.
    """

    algorithm: Literal["ring", "tree", "in-switch", "rails", "all-pairs", "pairs"]
    name: str
    base_us: Time = Field(alias="base")
    inside_us: Time = Field(alias="inside")
    between_us: Time = Field(alias="between")
    inside_factor: Annotated[float, Field(ge=1)] = 1.0
    hops_factor: Annotated[float, Field(ge=1)] = 1.0
    payload: Share = 1.0
