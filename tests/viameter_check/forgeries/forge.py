"""How a forger works: edit the derivation of a genuine certificate, and make the claim and the hash fit to it."""

import copy
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from viameter.core.certificate import content_hash
from viameter_check import check

Document = dict[str, Any]
Node = dict[str, Any]
Edits = Mapping[str, Any]

LESS = object()
"""As an edit: the same number, less by a part of 2^60."""
GONE = object()
"""As an edit: the field or the item is left out."""


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for premise in node["premises"]:
        yield from nodes(premise)


def _step(part: str, value: Any) -> Any:
    return value[int(part)] if isinstance(value, list) else value[part]


def edited(derivation: Node, edits: Edits) -> Node:
    """A copy with other values at dotted paths."""
    forged = copy.deepcopy(derivation)
    for path, new in edits.items():
        *way, last = path.split(".")
        holder: Any = forged
        for part in way:
            holder = _step(part, holder)
        key: Any = int(last) if isinstance(holder, list) else last
        if new is GONE:
            del holder[key]
        elif new is LESS:
            holder[key] = str(Fraction(holder[key]) * (1 - Fraction(1, 2**60)))
        else:
            holder[key] = new
    return forged


def claimed(document: Document, derivation: Node) -> Document:
    """The certificate with this derivation: its claim says what stands at the top of it."""
    derivation = copy.deepcopy(derivation)
    bottom = derivation
    while "domain" not in bottom["input"] and bottom["premises"]:
        bottom = bottom["premises"][0]
    assumes = list(dict.fromkeys(text for node in nodes(derivation) for text in node["assumes"]))
    claim: Document = {
        "text": document["claim"]["text"],
        "neighborhood": {**bottom["input"], "d_in": bottom["given"]},
        "assumes": assumes,
    }
    if "measure" in derivation["output"]:
        claim |= {"measure": derivation["output"]["measure"], "loss": derivation["bound"]}
    else:
        claim |= {"output": derivation["output"], "distance": derivation["bound"]}
    derivation.pop("times", None)
    forged = rehashed({**document, "claim": claim, "derivation": derivation})
    report = check(forged)
    if not report.ok and report.failures[0].path == "claim.text":
        # The checker tells which sentence it expects, and forgers read that.
        claim["text"] = report.failures[0].message.removeprefix("is not what was proved: ")
    return rehashed(forged)


def rehashed(document: Document) -> Document:
    """The document with the hash of its content."""
    return {**document, "hash": content_hash(document)}
