"""A certificate as it is read: strict JSON without numbers, and nodes with every field they must have and no other."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from viameter_check.amounts import Number, read_number, shortened
from viameter_check.losses import Loss, read_loss
from viameter_check.places import Place
from viameter_check.report import Refused

FORMAT = "viameter-certificate/1"
_TOP = ("format", "made_by", "claim", "derivation", "hash")
_NODE = (
    "kind",
    "subject",
    "theorem",
    "numbers",
    "parameters",
    "input",
    "output",
    "given",
    "bound",
    "assumes",
    "premises",
)

# What a file may hold, so that a check ends: characters, levels of nesting, and characters in very long numbers.
MOST_TEXT = 2**26
MOST_LEVELS = 300
MOST_LONG_DIGITS = 2**22


@dataclass(frozen=True, slots=True)
class Node:
    """One use of a theorem, as the certificate tells it."""

    path: str
    kind: str
    subject: str
    theorem: str
    numbers: str
    parameters: dict[str, Any]
    input: Place
    output: Place
    given: Number | Loss | tuple[Loss, ...]
    bound: Number | Loss
    assumes: tuple[str, ...]
    premises: tuple[Node, ...]
    times: int = 1

    def nodes(self) -> Iterator[Node]:
        """This node and all below it, from the top."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.premises))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Every assumption in the tree, each once, from the top."""
        return tuple(dict.fromkeys(text for node in self.nodes() for text in node.assumes))


class NotJson(Refused):
    """The text is not JSON at all."""


class _Repeated(dict[str, Any]):
    """An object in which a name stood twice."""

    name = ""


@dataclass(frozen=True, slots=True)
class _BareNumber:
    """A number that was not written as text."""

    text: str = field(default="")


def parse(text: str) -> Any:
    """JSON as plain values; whatever it should not have is found by `refuse_strange_values`."""
    if len(text) > MOST_TEXT:
        raise Refused(f"has {len(text)} characters: this checker reads up to {MOST_TEXT}")

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        repeated = _Repeated(made)
        repeated.name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        return repeated

    try:
        return json.loads(
            text,
            object_pairs_hook=read_object,
            parse_int=_BareNumber,
            parse_float=_BareNumber,
            parse_constant=_BareNumber,
        )
    except RecursionError:
        raise Refused(f"is nested in more than {MOST_LEVELS} levels") from None
    except ValueError as problem:
        raise NotJson(f"is not JSON: {problem}") from None


def refuse_strange_values(document: Any) -> None:
    """Refuse numbers that are not text, names that stand twice, and what would take forever to look at."""
    long_digits = 0
    waiting: list[tuple[str, int, Any]] = [("", 0, document)]
    while waiting:
        path, level, value = waiting.pop()
        if level > MOST_LEVELS:
            raise Refused(f"is nested in more than {MOST_LEVELS} levels", _cut(path))
        if isinstance(value, _Repeated):
            raise Refused(f"the name {shortened(value.name)} stands twice in one object", _cut(path))
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                raise Refused("has a name that is not text", _cut(path))
            waiting += [(joined(path, name), level + 1, item) for name, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{place}]", level + 1, item) for place, item in enumerate(value)]
        elif isinstance(value, str):
            long_digits += len(value) if value.removeprefix("-").startswith("0x") else 0
            if long_digits > MOST_LONG_DIGITS:
                raise Refused("the certificate has too many very long numbers", _cut(path))
        elif value is not None and not isinstance(value, bool):
            found = value.text if isinstance(value, _BareNumber) else repr(value)
            raise Refused(f'{found[:40]} is a bare number: numbers are written as text, such as "1/10"', _cut(path))


def content_hash(document: dict[str, Any]) -> str:
    """The hash of a certificate without its hash."""
    content = {name: value for name, value in document.items() if name != "hash"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode('ascii')).hexdigest()}"


def read_top(document: Any) -> Node:
    """The tree of a certificate whose frame is as it must be."""
    if not isinstance(document, dict):
        raise Refused("is not a certificate: expected a JSON object")
    if document.get("format") != FORMAT:
        raise Refused(f"is {shortened(document.get('format'))}: this checker reads {FORMAT!r}", "format")
    require_fields(document, _TOP)
    made_by = document["made_by"]
    if not isinstance(made_by, dict) or list(made_by) != ["viameter"] or not isinstance(made_by["viameter"], str):
        raise Refused("expected the version of viameter that wrote it", "made_by")
    if document["hash"] != content_hash(document):
        raise Refused("is not that of the content: the file was changed after it was written", "hash")
    return read_node(document["derivation"], "derivation")


def read_node(record: Any, path: str) -> Node:
    """A node and all below it."""
    try:
        return _read_node(record, path)
    except Refused as problem:
        # A node below has said its whole path.
        below = problem.where.startswith("derivation")
        raise Refused(str(problem), problem.where if below else joined(path, problem.where)) from None


def _read_node(record: Any, path: str) -> Node:
    require_fields(record, _NODE, optional=("times",))
    for name in ("kind", "subject", "theorem", "numbers"):
        if not isinstance(record[name], str):
            raise Refused("expected text", name)
    for name, kind in (("parameters", dict), ("premises", list)):
        if not isinstance(record[name], kind):
            raise Refused(f"expected {'an object' if kind is dict else 'a list'}", name)
    return Node(
        path=path,
        kind=record["kind"],
        subject=record["subject"],
        theorem=record["theorem"],
        numbers=record["numbers"],
        parameters=record["parameters"],
        input=at("input", read_place, record["input"]),
        output=at("output", read_place, record["output"]),
        given=at("given", _read_given, record["given"]),
        bound=at("bound", _read_value, record["bound"]),
        assumes=at("assumes", read_texts, record["assumes"]),
        premises=tuple(read_node(item, f"{path}.premises[{n}]") for n, item in enumerate(record["premises"])),
        times=at("times", _read_times, record.get("times", "1")),
    )


def read_place(record: Any) -> Place:
    """A domain with a metric, or a measure."""
    if isinstance(record, dict) and all(isinstance(value, str) and value for value in record.values()):
        if set(record) == {"measure"}:
            return Place(measure=record["measure"])
        if set(record) == {"domain", "metric"}:
            return Place(domain=record["domain"], metric=record["metric"])
    raise Refused("expected a domain and a metric, or a measure")


def read_texts(record: Any) -> tuple[str, ...]:
    """A list of sentences."""
    if not isinstance(record, list) or not all(isinstance(text, str) and text.strip() for text in record):
        raise Refused("expected a list of sentences")
    return tuple(record)


def require_fields(record: Any, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Refuse an object that lacks a field, or that has one more."""
    if not isinstance(record, dict):
        raise Refused(f"expected an object with {', '.join(names)}")
    for name in names:
        if name not in record:
            raise Refused(f"{name!r} is missing")
    for name in record:
        if name not in names and name not in optional:
            raise Refused(f"the field {shortened(name)} is not known")


def at(where: str, read: Any, value: Any) -> Any:
    """Read a value, and name its place if it is refused."""
    try:
        return read(value)
    except Refused as problem:
        raise Refused(str(problem), joined(where, problem.where)) from None


def joined(path: str, name: str) -> str:
    """A path and what is below it."""
    return f"{path}.{name}" if path and name else path or name


def _read_given(record: Any) -> Number | Loss | tuple[Loss, ...]:
    if not isinstance(record, list):
        return _read_value(record)
    return tuple(at(f"[{place}]", read_loss, item) for place, item in enumerate(record))


def _read_value(record: Any) -> Number | Loss:
    return read_loss(record) if isinstance(record, dict) else read_number(record)


def _read_times(text: Any) -> int:
    number = read_number(text)
    if not isinstance(number, Fraction) or number.denominator != 1 or number < 1:
        raise Refused(f"{shortened(text)} is not a whole number >= 1")
    return number.numerator


def _cut(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:200]}..."
