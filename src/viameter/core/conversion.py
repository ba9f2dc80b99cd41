"""Conversions: theorems that lead from one measure to another, and the search for a way where none leads directly.

A theorem is put into the registry by `@conversion(source=..., target=...)` above `@theorem`. Where theorems lead
directly from one measure to another, the one that is no `alternative` is taken, or the one that `by` names. Where none
does, every way of at most three steps is tried, with every theorem, and the least result is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, TypeVar

from viameter.arith import as_given, extended, nonnegative, probability, show
from viameter.core.measure import Loss, Measure
from viameter.errors import IncomparableLosses, NoTheorem, NumberError, ParameterError, RegistryError, plain
from viameter.theorem import Derivation, Explanation, Theorem, theorem, theorem_of

Function = TypeVar("Function", bound=Callable[..., Any])

LONGEST = 3
"""Ways of more steps than this are not looked for."""

NAMES = ("delta", "epsilon", "order")
"""What a conversion may take beside the loss."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A theorem by which losses of one measure are losses of another, given the arguments that it takes."""

    source: Measure
    target: Measure
    theorem: Theorem
    takes: tuple[str, ...] = ()
    partial: bool = False
    """Whether it says something of some losses only (those of delta 0, say), and refuses others by NoTheorem."""
    alternative: bool = False
    """Whether another theorem leads there too and is the one that is meant, so that this one has to be named."""
    beside: bool = False
    """Whether ways through other measures stay open beside it, for other arguments or by the theorem that is named."""

    def __call__(self, loss: Loss, given: Mapping[str, Any]) -> Loss:
        """The loss in the target measure; NoTheorem if the theorem says nothing of this loss."""
        result: Loss = self.theorem.function(loss, **{name: given[name] for name in self.takes})
        return result


Route = tuple[Conversion, ...]

_CONVERSIONS: dict[Measure, list[Conversion]] = {}


def conversion(
    *,
    source: Measure,
    target: Measure,
    takes: tuple[str, ...] = (),
    partial: bool = False,
    alternative: bool = False,
    beside: bool = False,
) -> Callable[[Function], Function]:
    """Register a theorem's function as a conversion; it takes a loss, and what `takes` names by keyword."""
    if not set(takes) <= set(NAMES) or len(set(takes)) < len(takes):
        raise ParameterError(f"takes={takes!r}: expected names among {', '.join(NAMES)}, each once")

    def register(function: Function) -> Function:
        made = Conversion(source, target, theorem_of(function), takes, partial, alternative, beside)
        known = _CONVERSIONS.setdefault(source, [])
        # A module that is loaded again registers the same theorems again.
        places = [place for place, other in enumerate(known) if _same_use(other, made)]
        if places:
            known[places[0]] = made
        else:
            _require_one_meaning(made)
            known.append(made)
        _routes.cache_clear()
        _chosen.cache_clear()
        return function

    return register


def _require_one_meaning(made: Conversion) -> None:
    for other in conversions_from(made.source):
        same = (other.target, sorted(other.takes)) == (made.target, sorted(made.takes))
        if same and not other.alternative and not made.alternative:
            raise RegistryError(
                f"{made.theorem.slug} leads from {made.source!r} to {made.target!r} as {other.theorem.slug} does: "
                "register one of them with alternative=True"
            )


def _same_use(left: Conversion, right: Conversion) -> bool:
    return (left.theorem.slug, left.target, left.takes) == (right.theorem.slug, right.target, right.takes)


def conversions_from(measure: Measure) -> tuple[Conversion, ...]:
    """The theorems that lead from a measure, in the order in which they were registered."""
    return tuple(_CONVERSIONS.get(measure, ()))


def conversions_to(measure: Measure) -> tuple[Conversion, ...]:
    """The theorems that lead to a measure."""
    return tuple(made for found in _CONVERSIONS.values() for made in found if made.target == measure)


@dataclass(frozen=True, slots=True)
class ConversionStep:
    """One use of a theorem: the loss that went in, and the one that came out."""

    theorem: Theorem
    given: Loss
    result: Loss
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def slug(self) -> str:
        """The theorem's slug."""
        return self.theorem.slug

    def over(self, premises: tuple[Derivation, ...]) -> Derivation:
        """This step as a derivation, above what shows the loss that went in."""
        shown = "".join(f", {name}={_shown(value)}" for name, value in self.parameters)
        measures = (self.given.measure, self.result.measure)
        return Derivation(
            f"to({self.result.measure!r}{shown})",
            self.theorem,
            repr(self.given),
            repr(self.result),
            assumes=tuple(measure.assumption for measure in measures if measure.assumption is not None),
            premises=premises,
            given_value=self.given,
            bound_value=self.result,
            parameters=self.parameters,
        )


@dataclass(frozen=True, slots=True)
class Converted:
    """A loss in another measure, and the theorems that led there."""

    given: Loss
    loss: Loss
    steps: tuple[ConversionStep, ...]

    def explain(self) -> Explanation:
        """The claim, and the theorems that it rests on."""
        steps = self.steps or (ConversionStep(theorem_of(same_measure), self.given, self.loss),)
        derivation: tuple[Derivation, ...] = ()
        for step in steps:
            derivation = (step.over(derivation),)
        return Explanation(f"Whatever satisfies {self.given!r} satisfies {self.loss!r}.", derivation[0])


@dataclass(frozen=True, slots=True)
class To:
    """A request to convert: the measure to go to, and what was given for it; read and seen to have a theorem."""

    source: Measure
    target: Measure
    by: str | None = None
    given: tuple[tuple[str, Any], ...] = ()
    implied: bool = field(default=False, compare=False)
    """Whether the step before says already that it is in the target measure, so that the text need not."""

    def __post_init__(self) -> None:
        _routes(self.source, self.target, tuple(name for name, _ in self.given), self.by)

    @classmethod
    def read(
        cls, source: Measure, target: Measure, *, by: str | None, delta: Any, epsilon: Any, order: Any, loss: str
    ) -> To:
        """Check what was asked for; NoTheorem or ParameterError says what is missing, or too much."""
        if not isinstance(target, Measure):
            raise ParameterError(f"{loss}.to({plain(target)}) takes a measure, as in {loss}.to(ZCDP)")
        if by is not None and not isinstance(by, str):
            raise ParameterError(f"by={plain(by)}: expected the slug of a theorem, as text")
        given: list[tuple[str, Any]] = []
        if delta is not None:
            given.append(("delta", probability(delta, name="delta")))
        if epsilon is not None:
            given.append(("epsilon", nonnegative(epsilon, name="epsilon")))
        if order is not None:
            given.append(("order", _read_orders(order)))
        return cls(source, target, by, tuple(given))

    def apply(self, loss: Loss) -> Converted:
        """Convert a loss of the source measure by every way there is, and take the least result."""
        given = dict(self.given)
        best: Converted | None = None
        refusals: list[str] = []
        for route in _routes(self.source, self.target, tuple(given), self.by):
            try:
                found = _follow(route, loss, given)
            except NoTheorem as refusal:
                refusals.append(str(refusal))
                continue
            if best is None or _is_below(found.loss, best.loss):
                best = found
        if best is None:
            raise NoTheorem("; ".join(dict.fromkeys(refusals)))
        return best

    def __repr__(self) -> str:
        given = [f"{name}={_shown(value)}" for name, value in self.given]
        named = [] if self.by is None else [f"by={self.by!r}"]
        return f"to({', '.join([repr(self.target), *given, *named])})"


def convert(
    loss: Loss, measure: Measure, *, by: str | None = None, delta: Any = None, epsilon: Any = None, order: Any = None
) -> Converted:
    """The loss in another measure, by the theorem that leads there, or by the best way through other measures."""
    if not isinstance(loss, Loss):
        raise ParameterError(f"{plain(loss)} is not a loss: expected e.g. zcdp(1)")
    request = To.read(loss.measure, measure, by=by, delta=delta, epsilon=epsilon, order=order, loss="loss")
    return request.apply(loss)


def convertible(source: Measure, target: Measure) -> str | None:
    """What `.to(target` is to be given beside the measure, as text: "" for nothing, None if no theorem leads there."""
    takes = _possible_arguments(source, target)
    return "".join(f", {name}=..." for name in min(takes, key=len)) if takes else None


def suggest(source: Measure, target: Measure, *, subject: str = "measurement") -> str:
    """What would bring two measures together, as the end of an error's sentence."""
    if source == target:
        return f"both are {source!r} already"
    for first, second, text in ((source, target, f"convert it: {subject}"), (target, source, "convert the other: it")):
        arguments = convertible(first, second)
        if arguments is not None:
            return f"{text}.to({'' if second.slug.startswith('user:') else 'vm.'}{second!r}{arguments})"
    return f"no theorem leads from {source!r} to {target!r}, or back"


@theorem("same-measure", cites="the definition of a loss")
def same_measure(loss: Loss) -> Loss:
    """A loss in its own measure is itself.

    Theorem
        Whatever satisfies a loss satisfies it.
    Requires
        The measure asked for is that of the loss.
    Ensures
        The loss is unchanged.
    Proof
        Nothing is to be shown.
    Example
        >>> from viameter.measures import pure
        >>> same_measure(pure(1))
        pure(1)
    """
    return loss


def _follow(route: Route, loss: Loss, given: Mapping[str, Any]) -> Converted:
    steps, current = [], loss
    for made in route:
        result = made(current, given)
        parameters = tuple((name, given[name]) for name in made.takes)
        steps.append(ConversionStep(made.theorem, current, result, parameters))
        current = result
    return Converted(loss, current, tuple(steps))


def _is_below(left: Loss, right: Loss) -> bool:
    try:
        return left < right
    except IncomparableLosses:
        return False  # profiles given by functions: the first way stays


@functools.lru_cache(maxsize=1024)
def _routes(source: Measure, target: Measure, names: tuple[str, ...], by: str | None) -> tuple[Route, ...]:
    """The ways to try, for arguments of these names; NoTheorem or ParameterError where there is none."""
    if source == target and not names and by is None:
        return ((),)
    known = _chosen(source, target)
    if not known:
        raise NoTheorem(_nowhere(source, target))
    named = [route for route in known if by is None or any(made.theorem.slug == by for made in route)]
    if not named:
        slugs = dict.fromkeys(made.theorem.slug for route in known for made in route)
        raise NoTheorem(
            f"by={by!r} does not lead from {source!r} to {target!r}: these theorems are on the way, {', '.join(slugs)}"
        )
    fitting = [route for route in named if sorted(_taken(route)) == sorted(names)]
    if not fitting:
        raise ParameterError(_other_arguments(source, target, names, [_taken(route) for route in named]))
    if by is None and len(fitting[0]) == 1:
        return tuple(sorted(fitting, key=lambda route: route[0].alternative)[:1])
    return tuple(fitting)


@functools.lru_cache(maxsize=256)
def _chosen(source: Measure, target: Measure) -> tuple[Route, ...]:
    """The direct theorems if there are any, else, or beside them, all ways that have no other shortcut."""
    direct: list[Route] = [(made,) for made in conversions_from(source) if made.target == target]
    if source == target or any(not made.beside for (made,) in direct):
        return tuple(direct)
    found: list[Route] = []
    for path in _paths(source, target, (source,)):
        choices = [_steps(a, b, first=a == source) for a, b in pairwise(path)]
        found.extend(route for route in product(*choices) if len(set(_taken(route))) == len(_taken(route)))
    return (*direct, *sorted(found, key=len))


def _steps(here: Measure, there: Measure, *, first: bool) -> list[Conversion]:
    # A partial theorem comes first or not at all: whoever has the loss can see whether it applies.
    return [made for made in conversions_from(here) if made.target == there and (first or not made.partial)]


def _paths(here: Measure, target: Measure, path: tuple[Measure, ...]) -> Iterator[tuple[Measure, ...]]:
    """Measures from here to the target, none twice, and none that could be left out."""
    nexts = dict.fromkeys(made.target for made in conversions_from(here) if not made.partial or len(path) == 1)
    if target in nexts and len(path) > 1:
        yield (*path, target)
        return
    if len(path) >= LONGEST:
        return
    skipped = {made.target for before in path[:-1] for made in conversions_from(before)}
    for measure in nexts:
        if measure not in (*path, target) and measure not in skipped:
            yield from _paths(measure, target, (*path, measure))


def _taken(route: Route) -> tuple[str, ...]:
    return tuple(name for made in route for name in made.takes)


def _possible_arguments(source: Measure, target: Measure) -> list[tuple[str, ...]]:
    routes = _chosen(source, target)
    return list(dict.fromkeys(_taken(route) for route in routes if not any(made.partial for made in route)))


def _other_arguments(source: Measure, target: Measure, names: tuple[str, ...], possible: list[tuple[str, ...]]) -> str:
    ways = [" and ".join(f"{name}=" for name in takes) or "nothing" for takes in dict.fromkeys(possible)]
    wanted = f"from {source!r} to {target!r} takes {' or '.join(ways)}"
    given = " and ".join(f"{name}=" for name in names) or "nothing"
    superfluous = [name for name in names if not any(name in takes for takes in possible)]
    if superfluous:
        return f"{superfluous[0]}= is superfluous: the conversion {wanted}; leave it out"
    if not names or any(set(names) < set(takes) for takes in possible):
        return f"the conversion {wanted}, and {given} was given: add what is missing"
    return f"the conversion {wanted}, and {given} was given: choose"


def _nowhere(source: Measure, target: Measure) -> str:
    from_here = ", ".join(sorted({repr(made.target) for made in conversions_from(source)} - {repr(source)}))
    to_there = ", ".join(sorted({repr(made.source) for made in conversions_to(target)} - {repr(target)}))
    return (
        f"no theorem leads from {source!r} to {target!r}: from {source!r} there is a way to {from_here or 'nothing'}, "
        f"and to {target!r} from {to_there or 'nothing'}; count in one of those"
    )


def _read_orders(order: Any) -> tuple[Any, ...]:
    several = not isinstance(order, str) and isinstance(order, Iterable)
    orders = tuple(extended(one, name="order") for one in (order if several else (order,)))
    if not orders:
        raise ParameterError("order=() names no order: expected one or more numbers above 1")
    for number in orders:
        if number <= 1:
            raise NumberError(f"order={as_given(number)} is not above 1: Renyi orders are")
    return tuple(sorted(set(orders)))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return show(value[0]) if len(value) == 1 else f"[{', '.join(map(show, value))}]"
    return show(value)
