"""XML files as plain elements that know their lines, read without any entity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.textfiles import MOST_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ELEMENTS = 2**18
"""Most elements of a file."""


@dataclass
class Element:
    """An element: its name, attributes, what is inside, and the file and line where it begins."""

    tag: str
    said: dict[str, str]
    where: str
    inside: list[Element] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        """Yield the element and all that are in it, in the order of the file."""
        yield self
        for each in self.inside:
            yield from each.all()

    def word(self, name: str) -> str:
        """Return an attribute. An error that names file and line if there is none."""
        if name not in self.said:
            raise InputError(self.where, f"<{self.tag:.40}> without {name}", f'{name}="…"')
        return self.said[name]


def read_markup(path: str, text: str, *, wanted: str) -> Element:
    r"""Return the outermost element of an XML file.

    Raises
    ------
    InputError
        Naming file and line, if it is not XML, defines entities, or is too large or too deep.

    Examples
    --------
    >>> top = read_markup("net.xml", "<system>\n<cpu numaid='0'/></system>", wanted="XML")
    >>> top.inside[0].said, top.inside[0].where
    ({'numaid': '0'}, 'net.xml:2')
    """
    from xml.parsers import expat

    open_elements = [Element("", {}, path)]
    count = 0

    def at() -> str:
        return f"{path}:{parser.CurrentLineNumber}"

    def start(tag: str, said: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(open_elements) > MOST_DEPTH:
            many = f"over {MOST_ELEMENTS} elements, or {MOST_DEPTH} inside each other"
            raise InputError(at(), many, "fewer")
        element = Element(tag, said, at())
        open_elements[-1].inside.append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    def entity(name: str, *_: object) -> None:
        raise InputError(at(), f"an entity '{name:.40}' of its own", f"{wanted}, without entities")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)  # noqa: FBT003 (this is all of it)
    except expat.ExpatError as error:
        found = f"XML that cannot be read ({expat.errors.messages[error.code]})"
        raise InputError(f"{path}:{error.lineno}", found, wanted) from None
    return open_elements[0].inside[0]
