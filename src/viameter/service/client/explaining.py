"""Explaining: the theorems behind a charge, as the service's ledger keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from viameter.arith import read_written, show
from viameter.core import Loss
from viameter.core.certificate import FORMAT, Certificate
from viameter.errors import FormatError, RegistryError, ServiceError
from viameter.service.client.refusals import loss_of
from viameter.service.client.wire import Wire
from viameter.theorem import Derivation, Explanation, Numbers, Statement, Theorem, find_theorem


@dataclass(frozen=True, slots=True)
class Proofs:
    """The charges of a dataset, and what stands behind each."""

    wire: Wire
    dataset: str

    def explanation(self, entry: int) -> Explanation:
        """The tree of theorems behind a charge."""
        found = self.wire.get(self._place(entry))
        if found.get("derivation") is None:
            raise ServiceError("a part of this charge's proof cannot be written down", code="no_certificate")
        try:
            return Explanation(str(found["claim"]), _derivation(found["derivation"]))
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ServiceError("the tree of theorems cannot be read by this version", code="not_understood") from None

    def certificate(self, entry: int) -> Certificate:
        """The certificate of a charge, to the letter."""
        text = self.wire.text(f"{self._place(entry)}/certificate")
        if json.loads(text).get("format") != FORMAT:
            raise FormatError(f"this is no certificate of the format {FORMAT}, which this version reads")
        return Certificate(text)

    def _place(self, entry: int) -> str:
        return f"/datasets/{quote(self.dataset, safe='')}/history/{entry}"


@dataclass(frozen=True, slots=True)
class Charge:
    """The proof of a release of a service: what it cost, and what stands behind that, fetched when it is asked for."""

    loss: Loss
    entry: int
    proofs: Proofs = field(repr=False)

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that, as the service keeps it."""
        return self.proofs.explanation(self.entry)

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives: nobody has to take the service's word for it."""
        return self.proofs.certificate(self.entry)


def _derivation(node: Mapping[str, Any]) -> Derivation:
    return Derivation(
        subject=str(node["subject"]),
        theorem=_theorem(str(node["theorem"]), str(node["numbers"])),
        given=_shown(node["given"]),
        bound=_shown(node["bound"]),
        assumes=tuple(map(str, node["assumes"])),
        premises=tuple(_derivation(premise) for premise in node["premises"]),
        times=int(str(node.get("times", "1"))),
    )


def _shown(value: Any) -> str:
    """What went in or came out: a distance, a loss, or several losses."""
    if isinstance(value, Mapping):
        return repr(loss_of(value))
    if isinstance(value, list):
        return "1 loss" if len(value) == 1 else f"{len(value)} losses"
    return show(read_written(value))


def _theorem(slug: str, numbers: str) -> Theorem:
    """A theorem by its slug; one that this version does not have, by its slug alone."""
    try:
        return find_theorem(slug)
    except RegistryError:
        unknown = "(a theorem that this version does not have)"
        return Theorem(slug, "", Numbers(numbers), Statement(slug, unknown, "", "", "", ""), lambda *_: None)
