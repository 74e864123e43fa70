"""Which format a file is in, and the network that it describes: ``fabric:FILE``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netloom.errors import InputError
from netloom.textfiles import read_text
from netloom.topology.subnets.built import subnet_topology
from netloom.topology.subnets.ibnetdiscover import read_ibnetdiscover
from netloom.topology.subnets.records import Subnet

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.topology.core import Topology


class Format(NamedTuple):
    """A kind of file that describes a network.

    Attributes
    ----------
    name
        What messages call it, in a word or two.
    says
        What it is, in plain words.
    looks
        Whether a text is of this kind; the first format of ``FORMATS`` that says so reads it.
    read
        Fills a ``Subnet`` from the text, or raises ``InputError`` naming file and line.
    """

    name: str
    says: str
    looks: Callable[[str], bool]
    read: Callable[[Subnet, str], None]


def read_fabric(path: str, name: str = "") -> Topology:
    """Return the network that an administrator's file describes; its format is recognised.

    Raises
    ------
    InputError
        If the format is not known, or naming file and line.
    """
    wanted = f"one of {', '.join(each.name for each in FORMATS)}"
    text = read_text(path, wanted=wanted)
    if not text.strip():
        raise InputError(path, "an empty file", wanted)
    zero = text.find("\0")
    if zero >= 0:
        where = f"{path}:{text.count(chr(10), 0, zero) + 1}"
        raise InputError(where, "a byte that is zero", f"a text: {wanted}")
    form = next((each for each in FORMATS if each.looks(text)), None)
    if form is None:
        raise InputError(f"{path}:1", "a format that is not known", wanted)
    subnet = Subnet(name or f"fabric:{path}", path)
    form.read(subnet, text)
    if not subnet.devices:
        raise InputError(path, f"no device in what begins as {form.name}", "a whole file")
    return subnet_topology(subnet)


def _has(pattern: str) -> Callable[[str], bool]:
    """Return whether a line of a text begins in a way."""
    found = re.compile(pattern, re.MULTILINE | re.IGNORECASE)
    return lambda text: found.search(text) is not None


FORMATS: tuple[Format, ...] = (
    Format(
        "ibnetdiscover", "the output of ibnetdiscover, or what ibsim reads",
        _has(r'^(vendid=|switchguid=|caguid=|(Switch|Ca|Hca|Rt)\s+\d+\s+")'), read_ibnetdiscover,
    ),
)  # fmt: skip
"""Every kind of file that ``fabric:FILE`` takes; the first that recognises a text reads it."""
