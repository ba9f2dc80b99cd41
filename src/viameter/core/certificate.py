"""Certificate: a claim and the tree of theorems behind it as JSON, which `viameter_check` re-derives on its own.

It holds public parameters and bounds, never data. Every number is exact and written as text, since numbers in JSON are
not; a parameter that is a function cannot be written, and a node that has one is a claim that readers take on trust.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from viameter._version import __version__
from viameter.arith import Extended, read_written, show, write
from viameter.core.measure import Loss, Measure
from viameter.core.space import Space
from viameter.errors import FormatError, RegistryError
from viameter.theorem import Derivation, Numbers, theorem_of

FORMAT = "viameter-certificate/1"
"""The name and version of the format; a change that old checkers would misread gets another number."""


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A claim with everything that is needed to derive it again; `text` is JSON."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain JSON values."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def claim(self) -> str:
        """What is certified, in a sentence."""
        return str(self.to_json()["claim"]["text"])

    def write(self, path: str | Path) -> None:
        """Write it to a file; `viameter check` reads that."""
        Path(path).write_text(f"{self.text}\n", encoding="ascii")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<certificate: {self.claim}>"


def certify(derivation: Derivation, *, space: Space, d_in: Extended) -> Certificate:
    """The certificate of what a derivation proves of data that are `d_in` apart in a space."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "made_by": {"viameter": __version__},
        "claim": _claim(derivation, space, d_in),
        "derivation": _node(derivation, space),
    }
    document["hash"] = content_hash(document)
    return Certificate(json.dumps(document, indent=2, allow_nan=False))


def content_hash(document: Mapping[str, Any]) -> str:
    """The hash of a certificate without its hash: it tells of accidents, not of forgery."""
    content = {name: value for name, value in document.items() if name != "hash"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(canonical.encode('ascii')).hexdigest()}"


def _claim(derivation: Derivation, space: Space, d_in: Extended) -> dict[str, Any]:
    neighborhood = {**_place(space), "d_in": write(d_in)}
    near = f"at most {show(d_in)} apart in {neighborhood['metric']}"
    assumes = list(derivation.assumptions)
    bound = derivation.bound_value
    if isinstance(bound, Loss):
        loss = bound.to_json()
        return {
            "text": f"On data {near}, releases are close in {loss['measure']}: {_amounts(loss)}.",
            "neighborhood": neighborhood,
            "measure": loss["measure"],
            "loss": loss,
            "assumes": assumes,
        }
    output = _place(derivation.output)
    return {
        "text": f"Data {near} have images at most {show(bound)} apart in {output['metric']}.",
        "neighborhood": neighborhood,
        "output": output,
        "distance": write(bound),
        "assumes": assumes,
    }


def _amounts(loss: Mapping[str, Any]) -> str:
    """The numbers of a loss as they are read: `epsilon 1/10, delta 1/1000`."""
    return ", ".join(f"{name} {_amount(value)}" for name, value in loss.items() if name != "measure")


def _amount(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_amount(at)}: {_amount(bound)}' for at, bound in value.items())}}}"
    return show(read_written(value))


def _node(derivation: Derivation, space: Space) -> dict[str, Any]:
    assumed = derivation.theorem.numbers is Numbers.ASSUMED
    written = ((name, _parameter(value, assumed)) for name, value in derivation.parameters)
    parameters = {name: value for name, value in written if value is not _LOST}
    # A node that does not say where its data live speaks of those of the node above.
    space = derivation.space or space
    derived = not assumed and len(parameters) == len(derivation.parameters)
    node = {
        "kind": "derived" if derived else "claim",
        "subject": derivation.subject,
        "theorem": derivation.theorem.slug,
        "numbers": derivation.theorem.numbers.value,
        "parameters": parameters,
        "input": _input(derivation, space),
        "output": _measured_in(derivation.bound_value, derivation.output),
        "given": _written(derivation.given_value, derivation),
        "bound": _written(derivation.bound_value, derivation),
        "assumes": list(derivation.assumes),
        "premises": [_node(premise, space) for premise in derivation.premises],
    }
    return node if derivation.times == 1 else {**node, "times": write(Fraction(derivation.times))}


def _input(derivation: Derivation, space: Space) -> dict[str, str]:
    given = derivation.given_value
    if isinstance(given, list | tuple):
        # Several losses of one measure; where there are none, it is that of their sum.
        given = given[0] if given else derivation.bound_value
    return _measured_in(given, space)


def _measured_in(value: Any, space: Space | None) -> dict[str, str]:
    return {"measure": value.measure.slug} if isinstance(value, Loss) else _place(space)


def _place(space: Space | None) -> dict[str, str]:
    if space is None:
        raise FormatError("a derivation that gives a distance without its space cannot be certified")
    return {"domain": repr(space.domain), "metric": repr(space.metric)}


def _written(value: Any, derivation: Derivation) -> Any:
    if value is None:
        raise FormatError(f"{derivation.subject}: a derivation that keeps text only cannot be certified")
    if isinstance(value, Loss):
        return value.to_json()
    if isinstance(value, list | tuple):
        return [_written(item, derivation) for item in value]
    return write(value)


_LOST = object()


def _parameter(value: Any, assumed: bool) -> Any:
    """A parameter as JSON; theorems and measures by their slug, and `_LOST` for what has no text."""
    if assumed and callable(value):
        return _LOST  # a map that somebody vouches for, even where it happens to be a measure
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Fraction) or (isinstance(value, float) and value == float("inf")):
        return write(Fraction(value) if isinstance(value, int) else value)
    if isinstance(value, Loss):
        return value.to_json()
    if isinstance(value, Measure):
        return value.slug
    if isinstance(value, list | tuple):
        items = [_parameter(item, assumed) for item in value]
        return _LOST if any(item is _LOST for item in items) else items
    if callable(value):
        try:
            return theorem_of(value).slug
        except RegistryError:
            return _LOST
    return _LOST
