"""A dump tells the LIDs of a fabric whose own file says none."""

import re

import numpy as np
import pytest

from netloom.fabrics.writing import write_lfts
from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import read_lfts
from netloom.topology import topology
from netloom.topology.subnets.files import read_fabric
from tests.reference.dumps import as_dump_fts
from tests.reference.scans import scan


def two_files(folder, **more):
    """Return a fabric with LIDs, and the same of a file that says none."""
    said = scan(topology("leaf-spine:3x2x4"), seed=3, aggregated=(0, 4), **more)
    (folder / "with").write_text(said)
    (folder / "without").write_text(re.sub(r"\blid \d+", "lid 0", said))
    return read_fabric(str(folder / "with")), read_fabric(str(folder / "without"))


@pytest.mark.parametrize("spelling", [str, as_dump_fts])
def test_tables_are_read_by_guid_where_the_file_says_no_lids(tmp_path, spelling):
    known, bare = two_files(tmp_path)
    assert not bare.cabling.port_lid.any()
    table = minhop(known)
    write_lfts(known, table, tmp_path / "dump")
    (tmp_path / "dump").write_text(spelling((tmp_path / "dump").read_text()))
    found = read_lfts(bare, str(tmp_path / "dump"))
    assert np.array_equal(found.next_channel, table.next_channel)
    assert np.array_equal(found.others, table.others)
    assert found.undelivered is None
