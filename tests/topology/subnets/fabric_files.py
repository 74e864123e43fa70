"""Files of fabrics for tests: those beside this module, and texts that a test makes."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.topology import topology
from netloom.topology.subnets.files import read_fabric
from tests.reference.ibsim import ibsim_text

if TYPE_CHECKING:
    from netloom.topology.core import Topology

DATA = Path(__file__).parent / "data"

GOLDEN = (
    "dragonfly_p2a4h2", "hypercube5", "k4n3", "leafspine_4x2x4_x2", "leafspine_8x4x8", "mesh4x4",
    "torus444", "xgft_2_8x8_1x8",
)  # fmt: skip


def unpacked(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes()).decode()


def text_of(name: str) -> str:
    return (DATA / name).read_text()


def read_text_as_fabric(text: str) -> Topology:
    """Read a text as a file called ``net``; messages begin with ``net:LINE``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "net"
        path.write_text(text)
        try:
            with warnings.catch_warnings():  # what a file leaves open is noted
                warnings.simplefilter("ignore", UserWarning)
                return read_fabric(str(path), "fabric:net")
        except ValueError as error:
            error.args = (str(error).replace(str(path), "net"),)
            raise


def read_or_refused(text: str) -> Topology | str:
    """Return the network that a text describes, or the line that says why it is none."""
    try:
        return read_text_as_fabric(text)
    except InputError as error:
        return str(error)


def written_and_read(net: Topology | str) -> Topology:
    """Return a network as it comes back from ibsim's form."""
    return read_text_as_fabric(ibsim_text(topology(net) if isinstance(net, str) else net))
