"""Words for numbers."""

from __future__ import annotations


def counted(many: float | str, what: str, form: str = "") -> str:
    """Return how many there are of something: a number, or one in words, and its noun.

    Examples
    --------
    >>> counted(1, "path"), counted(1200, "path", ","), counted(1.0, "cycle", ".4g")
    ('1 path', '1,200 paths', '1 cycle')
    >>> counted(0, "entry"), counted("1", "switch"), counted(2, "switch")
    ('0 entries', '1 switch', '2 switches')
    """
    shown = f"{many:{form}}"
    if shown == "1":
        return f"1 {what}"
    if what.endswith("y") and what[-2] not in "aeiou":
        return f"{shown} {what[:-1]}ies"
    return f"{shown} {what}{'es' if what.endswith(('ch', 'sh', 's', 'x')) else 's'}"
