"""JSON, YAML and XML of bounded size and depth, where each value knows its place.

JSON and YAML become plain data, whose records know the lines that they begin on. XML becomes plain
elements that know theirs. References of YAML and entities of XML are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.textfiles import MOST_DEPTH, parse_json
from netloom.topology.names import unfolded, words_of
from netloom.topology.subnets.records import MOST_DEVICES

if TYPE_CHECKING:
    from yaml import BaseLoader, MappingNode


MOST_BYTES = 2**25
"""Most characters of a document: a parser needs many times as much memory."""

MOST_ENTRIES = 2**16
"""Most lines, and entries of lists and records on one line, of YAML: it takes long to read."""


class Record(dict[str, Any]):
    """What stands between braces, or indented below a key. ``line`` is 0 where it is not known."""

    line = 0


class Document(NamedTuple):
    """A file, for messages, and what it holds."""

    path: str
    top: Any

    def at(self, record: Any) -> str:
        """Return the file, and the line where a record begins."""
        line = record.line if isinstance(record, Record) else 0
        return f"{self.path}:{line}" if line else self.path

    def _read(self, record: Record, key: str, kind: Any, wanted: str, default: Any = None) -> Any:
        """Return what a key has, which must be of a kind. The default if there is nothing."""
        value = _value(record, key)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self._wrong(record, key, wanted)
        return value

    def text(self, record: Record, key: str, default: str | None = None) -> str:
        """Return a name, or a number as a name. An error if there is none and no default."""
        return str(self._read(record, key, str | int, "a name", default))

    def number(self, record: Record, key: str, default: int | None = None, *, most: int) -> int:
        """Return a whole number from 0 to ``most``."""
        wanted = f"a whole number up to {most}"
        value = self._read(record, key, str | int, wanted, default)
        try:
            return whole_number(str(value), where=self.at(record), most=most)
        except ValueError:
            raise self._wrong(record, key, wanted) from None

    def records(self, record: Record, key: str) -> list[Record]:
        """Return the records of a list. None if the key is not there."""
        found: list[Record] = self._read(record, key, list, "a list of records", [])
        if not all(isinstance(each, Record) for each in found):
            raise self._wrong(record, key, "a list of records")
        return found

    def record(self, record: Record, key: str) -> Record:
        """Return a record. An empty one if the key is not there."""
        found: Record = self._read(record, key, Record, "a record", Record())
        return found

    def names(self, record: Record, key: str) -> list[str]:
        """Return the names of a list such as ``n[1-3],m4``, or of a list of such."""
        value = _value(record, key)
        parts = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in parts):
            raise self._wrong(record, key, "names such as n[1-3],m4")
        where = self.at(record)
        return list(unfolded_names((str(part) for part in parts), where))

    def _wrong(self, record: Record, key: str, wanted: str) -> InputError:
        value = _value(record, key)
        kinds = {list: "a list", Record: "a record", type(None): "nothing"}
        found = kinds.get(type(value)) or f"'{value!s:.60}'"
        return InputError(self.at(record), f"{found} as {key}", wanted)


def _value(record: Record, key: str) -> Any:
    """Return what a key has. None where there is nothing, however that is spelled."""
    value = record.get(key)
    return None if value in ("", "~", "null", "Null", "NULL") else value


def unfolded_names(words: Iterable[str], where: str) -> Iterator[str]:
    """Yield the names that lists such as ``n[1-3],m4`` stand for, in order.

    Raises
    ------
    InputError
        Naming ``where``.
    """
    for word in words:
        for each in words_of(word):
            yield from unfolded(each, where=where, most=MOST_DEVICES)


def read_document(path: str, text: str, *, wanted: str) -> Document:
    r"""Return what a file holds, as JSON if it begins with a brace or a bracket, else as YAML.

    Raises
    ------
    InputError
        If it is neither, is too large or too deep, has a key twice in one record, or is YAML that
        refers back to its own parts. The error names file and line.

    Examples
    --------
    >>> found = read_document("net.yaml", "switches:\n  s1:\n    nodes: [a, b]\n", wanted="YAML")
    >>> found.top["switches"]["s1"], found.at(found.top["switches"]["s1"])
    ({'nodes': ['a', 'b']}, 'net.yaml:3')
    """
    if len(text) > MOST_BYTES:
        raise InputError(path, f"over {MOST_BYTES} characters", f"at most {MOST_BYTES}")
    if text.lstrip()[:1] not in ("{", "["):
        return Document(path, _yaml(path, text, wanted))

    def record(pairs: list[tuple[str, Any]]) -> Record:
        found = Record(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(path, f"the key '{twice:.40}' twice in one record", "each key once")
        return found

    return Document(path, parse_json(text, path, wanted="whole JSON", record=record))


def _yaml(path: str, text: str, wanted: str) -> Any:
    import yaml

    base: type[BaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Loader(base):  # type: ignore[misc]
        """Makes records of mappings, and texts of all else: ``007`` is a name."""

        def construct_mapping(self, node: MappingNode, deep: bool = False) -> Record:  # noqa: ARG002, FBT001, FBT002
            found = Record()
            found.line = node.start_mark.line + 1
            for key_node, value_node in node.value:
                key = self.construct_object(key_node, deep=True)
                where = f"{path}:{key_node.start_mark.line + 1}"
                if not isinstance(key, str):
                    raise InputError(where, "a key that is a list or a record", "a name")
                if key in found:
                    said = f"the key '{key:.40}' twice in one record"
                    raise InputError(where, said, "each key once")
                found[key] = self.construct_object(value_node, deep=True)
            return found

    entries = text.count("\n") + text.count(",") + text.count("{") + text.count("[")
    if entries > MOST_ENTRIES:
        wanted = f"at most {MOST_ENTRIES:,}: the same as JSON is read faster"
        raise InputError(path, f"YAML of over {MOST_ENTRIES:,} lines and entries", wanted)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=base):
            if isinstance(event, yaml.AliasEvent):
                where = f"{path}:{event.start_mark.line + 1}"
                raise InputError(where, f"a reference '*{event.anchor}'", "YAML without references")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                where = f"{path}:{event.start_mark.line + 1}"
                raise InputError(where, f"over {MOST_DEPTH} records inside each other", "fewer")
        return yaml.load(text, Loader)  # noqa: S506 (it makes texts, lists and records only)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else path
        raise InputError(where, f"YAML that cannot be read ({error.problem})", wanted) from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, "YAML that cannot be read", wanted) from None


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
