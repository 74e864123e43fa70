"""Equal connections shared out such that every processor has as much to do in each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.phases.plan.connections import Connections


def even_phases(given: Connections, num_nodes: int) -> NDArray[np.int64] | None:
    """Return int64[n], a colour for each connection, none twice at a sender or receiver.

    As many colours as the busiest processor sends or receives connections: no fewer will do
    (König's theorem). Phases of whole colours waste no processor's time where connections are
    equally long; None is returned where they are not, or come in an order.
    """
    from netloom.phases.kernels.colouring import edge_colouring

    if len(given.before) or len(np.unique(given.words)) > 1:
        return None
    colours = max(int(np.bincount(end).max(initial=0)) for end in (given.source, given.target))
    colour: NDArray[np.int64] = edge_colouring(
        given.source.astype(np.int64), num_nodes + given.target.astype(np.int64), 2 * num_nodes,
        colours,
    )  # fmt: skip
    return colour
