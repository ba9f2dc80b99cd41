"""The tree of theorems in a certificate, in the words of the page: what is claimed, by what, from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.arith import read_written, show
from viameter.errors import FormatError, RegistryError, ViameterError
from viameter.measures import loss_from_json
from viameter.theorem import find_theorem

MOST_NODES = 400
"""How many nodes a page shows; the certificate has all of them."""
DEEPEST = 40
OPEN = 2
"""How many levels are open at first."""
NUMBERS = {
    "exact": "exact",
    "outward": "rounded outward",
    "idealized": "of real numbers, without rounding",
    "assumed": "on trust",
}
LONGEST = 300


@dataclass(frozen=True, slots=True)
class Node:
    """One step: a theorem, what it is about, and what it gives."""

    subject: str
    theorem: str
    says: str
    """The theorem in a sentence."""
    numbers: str
    on_trust: bool
    """Whether a reader takes it on somebody's word: nothing derives it again."""
    assumes: tuple[str, ...]
    given: str
    bound: str
    parameters: tuple[tuple[str, str], ...]
    times: str
    premises: tuple[Node, ...]
    left_out: int
    """How many premises, with all below them, are in the certificate only."""
    is_open: bool


class _Room:
    """How many nodes may still be shown."""

    def __init__(self, most: int) -> None:
        self.left = most


def sentence_of(slug: str) -> str:
    """What a theorem says, in short; nothing for one that this version does not know."""
    try:
        return find_theorem(slug).statement.title
    except RegistryError:
        return ""


def tree_of(derivation: Mapping[str, Any], *, most: int = MOST_NODES) -> Node:
    """The derivation of a certificate as nodes that a template can show."""
    return _node(derivation, 0, _Room(most))


def _node(given: Mapping[str, Any], depth: int, room: _Room) -> Node:
    room.left -= 1
    premises, left_out = [], 0
    for premise in given["premises"]:
        if room.left > 0 and depth < DEEPEST:
            premises.append(_node(premise, depth + 1, room))
        else:
            left_out += _size(premise)
    return Node(
        subject=str(given["subject"]),
        theorem=str(given["theorem"]),
        says=sentence_of(str(given["theorem"])),
        numbers=NUMBERS.get(given["numbers"], str(given["numbers"])),
        on_trust=given["kind"] == "claim",
        assumes=tuple(map(str, given["assumes"])),
        given=_in_words(given["given"], given["input"]),
        bound=_in_words(given["bound"], given["output"]),
        parameters=tuple((name, amount(value)) for name, value in given["parameters"].items()),
        times=amount(given["times"]) if "times" in given else "",
        premises=tuple(premises),
        left_out=left_out,
        is_open=depth < OPEN,
    )


def _size(node: Mapping[str, Any]) -> int:
    count, waiting = 0, [node]
    while waiting:
        one = waiting.pop()
        count += 1
        waiting.extend(one["premises"])
    return count


def _in_words(value: Any, place: Mapping[str, str]) -> str:
    """A loss, or a distance with the metric that it is in."""
    return amount(value) if "measure" in place else f"at most {amount(value)} apart in {_cut(place['metric'])}"


def amount(value: Any) -> str:
    """A number, a loss, a list of them or a word of a certificate, in short.

    >>> amount("1/10"), amount({"measure": "zcdp", "rho": "1/100"}), amount(["1", True]), amount(None)
    ('1/10', 'zcdp(1/100)', '1, true', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return _cut(", ".join(map(amount, value[:50])) + (", …" if len(value) > 50 else ""))
    if isinstance(value, Mapping):
        return _loss(value)
    return _number(str(value))


def _loss(value: Mapping[str, Any]) -> str:
    try:
        return _cut(repr(loss_from_json(dict(value))))
    except ViameterError:
        return _cut(", ".join(f"{name}: {amount(part)}" for name, part in value.items()))


def _number(text: str) -> str:
    try:
        return show(read_written(text))
    except FormatError:  # a word
        return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
