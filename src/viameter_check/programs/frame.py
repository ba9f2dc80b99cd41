"""The frame of a program's certificate: strict JSON, the fields that it must have, its hashes, and small readers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from viameter_check.amounts import shortened
from viameter_check.document import MOST_LEVELS, require_fields
from viameter_check.report import Refused

FORMAT = "viameter program certificate"
NOISE = "exact discrete noise on the integers"
"""The only model of noise that the rules are true of."""

MOST_TEXT = 2**22
MOST_VALUES = 200_000
_LINE = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
_TOP = ("format", "version", "program", "sha256", "claim", "noise", "proofs", "digest")
_PROOF = ("neighbors", "text", "pointwise", "tree")
_PARTS = ("moves", "units", "shifts", "bounds", "split", "invariants", "variants", "obligations")


class _Repeated(dict[str, Any]):
    """An object in which a name stood twice."""


def read_certificate(certificate: str | Mapping[str, Any]) -> dict[str, Any]:
    """The certificate as plain values, with every field that it must have, no other, and hashes that fit."""
    document = _parse(certificate) if isinstance(certificate, str) else certificate
    _refuse_strange_values(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Refused(f"is no {FORMAT}", "format")
    require_fields(document, _TOP, optional=("mechanisms",))
    if document["version"] != 1 or isinstance(document["version"], bool):
        raise Refused("this checker reads version 1", "version")
    content = {name: value for name, value in document.items() if name != "digest"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    if document["digest"] != hashlib.sha256(canonical.encode("ascii")).hexdigest():
        raise Refused("is not that of the content: the file was changed after it was written", "digest")
    text = document["program"]
    if not isinstance(text, str) or not text.isascii():
        raise Refused("expected the text of a program, in ASCII", "program")
    if document["sha256"] != hashlib.sha256(text.encode("ascii")).hexdigest():
        raise Refused("is not that of the program: its text was changed", "sha256")
    if document["noise"] != NOISE:
        raise Refused(f"is not what the rules are true of: {NOISE}", "noise")
    proofs = read_list(document["proofs"])
    if len(proofs) not in (1, 2):
        raise Refused("expected one proof, or one for each direction", "proofs")
    for n, proof in enumerate(proofs):
        inside(f"proofs[{n}]", lambda proof: require_fields(proof, _PROOF, optional=_PARTS), proof)
    return document


def _parse(text: str) -> Any:
    if len(text) > MOST_TEXT:
        raise Refused(f"has {len(text)} characters: this checker reads certificates of programs up to {MOST_TEXT}")

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        return made if len(made) == len(pairs) else _Repeated(made)

    def read_integer(digits: str) -> int | float:
        # What is too long for a line or a count becomes a float, which is refused with its place.
        return int(digits) if len(digits) <= 200 else float("inf")

    try:
        return json.loads(text, object_pairs_hook=read_object, parse_int=read_integer)
    except RecursionError:
        raise Refused(f"is nested in more than {MOST_LEVELS} levels") from None
    except ValueError as problem:
        raise Refused(f"is not JSON: {problem}") from None


def _refuse_strange_values(document: Any) -> None:
    """Refuse what is no plain value, names that stand twice, and what would take forever to look at."""
    waiting: list[tuple[str, int, Any]] = [("", 0, document)]
    count = 0
    while waiting:
        path, level, value = waiting.pop()
        count += 1
        if level > MOST_LEVELS or count > MOST_VALUES:
            raise Refused(f"has more than {MOST_LEVELS} levels or {MOST_VALUES} values", path[:200])
        if isinstance(value, _Repeated):
            raise Refused("a name stands twice in one object", path[:200])
        if isinstance(value, dict):
            if not all(isinstance(name, str) and name.isprintable() for name in value):
                raise Refused("has a name that is not printable text", path[:200])
            waiting += [(placed(path, name[:60]), level + 1, item) for name, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{place}]", level + 1, item) for place, item in enumerate(value)]
        elif not isinstance(value, str | int | None):
            raise Refused(f"{shortened(value)} is not a plain value: text, a whole number, true, false", path[:200])


def read_list(record: Any) -> list[Any]:
    """A list."""
    if not isinstance(record, list):
        raise Refused(f"{shortened(record)}: expected a list")
    return record


def read_line(value: Any) -> int:
    """The number of a line, or another count from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 10**6:
        raise Refused(f"{shortened(value)}: expected a whole number from 1")
    return value


def by_line(record: Any, read: Callable[[int, Any], Any]) -> dict[int, Any]:
    """What is said of lines, whose numbers are written as text; a place in it is written `[13]`."""
    if not isinstance(record, dict):
        raise Refused(f"{shortened(record)}: expected an object from lines to what is said of them")
    found = {}
    for name, value in record.items():
        if not _LINE.fullmatch(name):
            raise Refused(f"{shortened(name)} is not the number of a line")
        found[int(name)] = inside(f"[{name}]", read, int(name), value)
    return found


def placed(path: str, where: str) -> str:
    """A place below a path: `proofs[0].invariants[13][2]`."""
    return f"{path}{'' if where.startswith('[') or not path or not where else '.'}{where}"


def inside(where: str, read: Callable[..., Any], *values: Any) -> Any:
    """Read something, and name its place if it is refused."""
    try:
        return read(*values)
    except Refused as problem:
        raise Refused(str(problem), placed(where, problem.where)) from None
