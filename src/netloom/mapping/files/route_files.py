"""Route files: routes that were chosen for a mapping, as ``routing.read_routes`` takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom._version import __version__
from netloom.textfiles import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.routing import SourceRoutes
    from netloom.topology import Topology


def write_routes(path: str | Path, topology: Topology, routing: SourceRoutes) -> None:
    """Write routes, one a line: the numbers of the nodes that it visits, source first.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom.routing import source_routes
    >>> from netloom.topology import mesh
    >>> file = Path(mkdtemp()) / "routes.txt"
    >>> write_routes(file, mesh(2, 2), source_routes(mesh(2, 2), [[0, 2, 3], [3, 1]]))
    >>> file.read_text().splitlines()[1:]
    ['0 2 3', '3 1']
    """
    lines = [f"# netloom {__version__}: routes on {topology.name}, the nodes that each visits"]
    for route, source in enumerate((routing.pairs // topology.num_nodes).tolist()):
        visited = [source, *topology.channel_target[routing.routes[route]].tolist()]
        lines.append(" ".join(map(str, visited)))
    write_text(path, "\n".join(lines) + "\n")
