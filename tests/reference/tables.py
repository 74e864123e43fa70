"""Tables of messages put together, as an engine sees them that is given one after the other."""

from dataclasses import fields

import numpy as np

from netloom.workload.programs.messages import COLUMNS, Messages


def concatenated(tables):
    """Return tables as one, the rows of each numbered on from the one before.

    ``first`` of the tables after the first must go on where the one before ends.
    """
    arrays = {
        field.name: np.concatenate([getattr(table, field.name) for table in tables])
        for field in fields(Messages)
        if field.name in COLUMNS or field.name == "after"
    }
    counts = np.concatenate([np.diff(table.after_offsets) for table in tables])
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    begin = tables[0]
    ends = [table.first + len(table) for table in tables]
    assert [table.first for table in tables[1:]] == ends[:-1]
    return Messages(begin.num_nodes, begin.first, **arrays, after_offsets=offsets)
