"""Cost: what a question may spend, how often its intervals may miss, and how the loss is shared; as frozen data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.core import Loss
from viameter.errors import FormatError, NumberError, ParameterError, plain
from viameter.measures import approx, approx_zcdp, loss_from_json, pure, zcdp
from viameter.tables.estimates.noise import read_alpha

ALPHA = Fraction(1, 20)
"""How often an interval may miss, unless something else is asked for."""
SHARE = Fraction(1, 4)
"""Which part of epsilon or rho finds the keys, unless something else is asked for; all of delta does, or half of it
where the other half makes the noise of numbers less."""
COST_KEYS = frozenset({"spend", "within", "alpha", "weights", "raw", "selection_share"})
LOSSES: dict[str, Callable[[Any], Loss]] = {
    "pure": lambda value: pure(str(value)),
    "zcdp": lambda value: zcdp(str(value)),
    "approx": lambda value: approx(*map(str, _pair(value, "approx"))),
    "approx_zcdp": lambda value: approx_zcdp(*map(str, _pair(value, "approx_zcdp"))),
}

Named = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A loss to spend, or widths that are to be reached; and what else a preview or a release takes."""

    spend: Loss | None = None
    within: Named | None = None
    """Widths of intervals by aggregate: the least loss is spent that buys them."""
    alpha: Fraction | None = None
    weights: Named | None = None
    """How the loss is shared among aggregates; each has 1 if it is not named."""
    raw: bool = False
    selection_share: Fraction | None = None

    @classmethod
    def read(
        cls,
        *,
        spend: Any = None,
        within: Any = None,
        alpha: Any = None,
        weights: Any = None,
        raw: Any = False,
        selection_share: Any = None,
    ) -> Cost:
        """What somebody gave as arguments."""
        if (spend is None) == (within is None):
            raise ParameterError("give spend=... (a loss) or within=... (widths that are to be reached)")
        if not isinstance(raw, bool):
            raise ParameterError(f"raw={plain(raw)}: expected True or False")
        return cls(
            spend=spend,
            within=None if within is None else _widths(within),
            alpha=None if alpha is None else read_alpha(alpha),
            weights=None if weights is None else _weights(weights),
            raw=raw,
            selection_share=None if selection_share is None else _share(selection_share),
        )

    @property
    def chance(self) -> Fraction:
        """How often an interval may miss."""
        return ALPHA if self.alpha is None else self.alpha

    @property
    def share(self) -> Fraction:
        """Which part of the loss finds keys that nobody listed."""
        return SHARE if self.selection_share is None else self.selection_share

    @property
    def weight_of(self) -> dict[str, Fraction]:
        """The weights by aggregate."""
        return dict(self.weights or ())

    @property
    def given(self) -> frozenset[str]:
        """The names of what was said."""
        return frozenset(name for name in COST_KEYS if getattr(self, name) not in (None, False))

    def require(self, known: Collection[str], question: object) -> None:
        """Refuse what a question of a kind does not have."""
        if "within" in self.given - set(known):
            raise FormatError("within: what widths of this question cost would tell of its rows; give spend")
        unknown = sorted(self.given - set(known))
        if unknown:
            raise FormatError(f"{unknown[0]}: a question of this kind, {question}, does not have it")

    def to_json(self) -> dict[str, Any]:
        """It as a document; numbers are exact, as text."""
        found: dict[str, Any] = {}
        if self.spend is not None:
            found["spend"] = self.spend.to_json()
        if self.within is not None:
            found["within"] = {name: str(width) for name, width in self.within}
        if self.alpha is not None:
            found["alpha"] = str(self.alpha)
        if self.weights is not None:
            found["weights"] = {name: str(weight) for name, weight in self.weights}
        if self.raw:
            found["raw"] = True
        if self.selection_share is not None:
            found["selection_share"] = str(self.selection_share)
        return found


def cost_from_json(entry: Mapping[str, Any], where: str = "question") -> Cost:
    """The cost that is part of the document of a question."""
    if ("spend" in entry) == ("within" in entry):
        raise FormatError(f'{where}: give spend = {{zcdp = "1/100"}}, or within = {{n = 25}}')
    given: dict[str, Any] = {}
    if "spend" in entry:
        given["spend"] = read_loss(entry["spend"], f"{where}: spend")
    else:
        given["within"] = mapping(entry["within"], f"{where}: within")
    for name in ("alpha", "selection_share"):
        if entry.get(name) is not None:
            given[name] = str(entry[name])
    if entry.get("weights") is not None:
        weights = mapping(entry["weights"], f"{where}: weights")
        given["weights"] = {word: exact(value, name=f"{where}: weights.{word}") for word, value in weights.items()}
    if entry.get("raw") is not None:
        given["raw"] = entry["raw"]
    return Cost.read(**given)


def read_loss(value: Any, name: str) -> Loss:
    """A loss: `{zcdp = "1/2"}`, `{pure = "1"}`, `{approx = ["1", "1e-6"]}`; or as `loss.to_json()` writes it.

    >>> read_loss({"zcdp": "1/2"}, "spend"), read_loss({"measure": "zcdp", "rho": "1/2"}, "spend")
    (zcdp(1/2), zcdp(1/2))
    """
    if isinstance(value, Mapping) and "measure" in value:
        return loss_from_json(dict(value))
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in LOSSES:
        raise FormatError(f'{name}: expected a loss such as {{zcdp = "1/2"}}; measures are {", ".join(LOSSES)}')
    measure, amount = next(iter(value.items()))
    numbers = amount if isinstance(amount, list) else [amount]
    for number in numbers:
        if isinstance(number, float):
            raise FormatError(f'{name}: write {number} in quotes, "{number}", so that it is read exactly')
        if isinstance(number, bool) or not isinstance(number, int | str):
            raise FormatError(f'{name}: expected numbers in quotes, as in {{{measure} = "1/2"}}')
    return LOSSES[measure](amount)


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Say where it is that something in a document is refused, if that is not said."""
    try:
        yield
    except (ParameterError, NumberError, FormatError) as problem:
        if not str(problem).startswith(where):
            problem.args = (f"{where}: {problem}",)
        raise


def mapping(value: Any, name: str) -> dict[str, Any]:
    """Names with values, or FormatError."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise FormatError(f"{name}: expected names with values")
    return dict(value)


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{name}: expected two values, as in [0, 240]")
    return value[0], value[1]


def _widths(given: Any) -> Named:
    if not isinstance(given, Mapping) or not given:
        raise ParameterError(f'within={plain(given)}: expected widths by name, as in within={{"n": 25}}')
    found = tuple((_name(name), exact(width, name=f"within[{name!r}]")) for name, width in given.items())
    for name, width in found:
        if width <= 0:
            raise NumberError(f"within[{name!r}]={given[name]!s} is not a width: expected a number above 0")
    return found


def _weights(given: Any) -> Named:
    if not isinstance(given, Mapping):
        raise ParameterError(f'weights={plain(given)}: expected numbers by name, as in weights={{"n": 2}}')
    return tuple((_name(name), _weight(name, weight)) for name, weight in given.items())


def _weight(name: str, weight: Any) -> Fraction:
    # How a loss is shared is no loss: a float is what it is.
    try:
        found = Fraction(weight)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ParameterError(f"weights[{name!r}]={plain(weight)} is not a number above 0") from None
    if found <= 0:
        raise ParameterError(f"weights[{name!r}]={weight!s} is not above 0")
    return found


def _share(given: Any) -> Fraction:
    share = exact(given, name="selection_share")
    if not 0 < share < 1:
        raise NumberError(f"selection_share={given!s} is not between 0 and 1")
    return share


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ParameterError(f"{plain(name)} is not the name of an aggregate: expected text")
    return name
