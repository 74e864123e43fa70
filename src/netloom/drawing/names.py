"""Names as pictures and pages show them: of a file its name, without the folders it lies in."""

from __future__ import annotations

import re

_PATH = re.compile(
    r"(?<![\w/.~])"  # not within another word or path
    r"(?P<scheme>[A-Za-z][\w-]*:)?"  # graph:
    r"(?P<folders>(?:~|\.{1,2})?/(?!/)(?:[^\s/:,;()'\"]+/)*|(?:[^\s/:,;()'\"]+/)+)"
    r"(?P<file>[^\s/:,;()'\"]+)"
)


def base_names(text: str) -> str:
    """Return a text whose paths of files have lost their folders.

    A path begins with a folder's sign (``/``, ``./``, ``~/``) or ends in a suffix. Specifications
    and units with strokes are no paths.

    Examples
    --------
    >>> base_names("/home/me/runs/lammps.mtx on graph:./nets/fat.graphml")
    'lammps.mtx on graph:fat.graphml'
    >>> base_names("uniform on hyperx:4x4/4, flits/node/cycle")
    'uniform on hyperx:4x4/4, flits/node/cycle'
    """

    def shown(found: re.Match[str]) -> str:
        rooted = found["folders"][0] in "/.~"
        if not rooted and not re.search(r"\.[A-Za-z]\w*$", found["file"]):
            return found[0]
        return f"{found['scheme'] or ''}{found['file']}"

    return _PATH.sub(shown, text)
