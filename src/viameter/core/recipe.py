"""Recipe and Constructor: a computation that waits for its Space, and the functions that make either."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, TypeVar, overload

import numpy as np

from viameter.core.computation import Computation
from viameter.core.space import Space
from viameter.errors import ParameterError

P = ParamSpec("P")
Made = TypeVar("Made", bound=Computation)
Other = TypeVar("Other", bound=Computation)


@dataclass(frozen=True, repr=False)
class Recipe(Generic[Made]):
    """One or more constructors with their parameters, complete but for the Space; `>>` completes it."""

    steps: tuple[Step, ...]

    def complete(self, space: Space) -> Made:
        """Make the computation on this space."""
        first, *rest = self.steps
        made: Computation = first.make(space)
        for step in rest:
            made = made >> Recipe((step,))
        return made  # type: ignore[return-value]  # the type of the last step, which is what Made stands for

    def __rshift__(self, other: Recipe[Other]) -> Recipe[Other]:
        refuse_bare_constructor(other)
        if not isinstance(other, Recipe):
            return NotImplemented
        return Recipe(self.steps + other.steps)

    def __rrshift__(self, other: object) -> NoReturn:
        raise ParameterError(f"{type(other).__name__} >> {self!r}: a recipe waits for a Space, as in space >> {self!r}")

    def __call__(self, *_: object) -> NoReturn:
        """Refuse data: a recipe has no Space yet."""
        raise ParameterError(f"{self!r} waits for its Space: complete it, (space >> {self!r})(data)")

    def __getattr__(self, name: str) -> Any:
        # What copy, pickle and the like ask for, before there are steps to show, gets a plain answer.
        hint = (
            ""
            if name.startswith("_") or name == "steps"
            else f": it waits for its Space, complete it first, space >> {self!r}"
        )
        raise AttributeError(f"a recipe has no {name}{hint}")

    def __repr__(self) -> str:
        return " >> ".join(map(repr, self.steps))


@dataclass(frozen=True, repr=False, slots=True)
class Step:
    """One call of a constructor without its Space: the name and the parameters, frozen."""

    constructor: Constructor[..., Any]
    parameters: tuple[tuple[str, Any], ...]

    def make(self, space: Space) -> Any:
        """Call the constructor on a space."""
        made = self.constructor.function(space, **dict(self.parameters))
        return replace(made, made_by=repr(self), identity=(self,))

    def __repr__(self) -> str:
        return f"{self.constructor.name}({', '.join(f'{name}={_short(value)}' for name, value in self.parameters)})"


class Constructor(Generic[P, Made]):
    """A function that makes a computation when called with a Space first, and a Recipe when called without one."""

    def __init__(self, function: Callable[Concatenate[Space, P], Made]) -> None:
        self.function: Callable[..., Made] = function
        self.name = function.__name__
        functools.update_wrapper(self, function)
        whole = inspect.signature(function)
        self._own = whole.replace(parameters=list(whole.parameters.values())[1:])

    @overload
    def __call__(self, space: Space, /, *args: P.args, **kwargs: P.kwargs) -> Made: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Recipe[Made]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[misc]  # P is checked by _bind
        """Make the computation if a Space comes first, else a Recipe for it."""
        space = args[0] if args and isinstance(args[0], Space) else None
        step = Step(self, self._bind(args if space is None else args[1:], kwargs))
        return Recipe[Made]((step,)) if space is None else step.make(space)

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        unknown = [name for name in kwargs if name not in self._own.parameters]
        if unknown:
            raise ParameterError(
                f"{self.name} has no parameter {unknown[0]!r}; call it as {self.name}{self._own_text()}"
            )
        try:
            bound = self._own.bind(*args, **kwargs)
        except TypeError as problem:
            raise ParameterError(
                f"{self.name}: {problem}; call it as {self.name}{self._own_text()}, with a Space before that or `>>`"
            ) from None
        # Defaults are left out: they are shown where they were changed, and two calls that mean the same are equal.
        own = self._own.parameters
        given = ((name, freeze(value)) for name, value in bound.arguments.items())
        return tuple((name, value) for name, value in given if not _is_default(own[name], value))

    def _own_text(self) -> str:
        texts = (f"{p.name}=..." if p.kind is p.KEYWORD_ONLY else p.name for p in self._own.parameters.values())
        return f"({', '.join(texts)})"

    def __repr__(self) -> str:
        return f"<constructor {self.name}>"


def refuse_bare_constructor(other: object) -> None:
    """Say what is missing in `space >> sum`."""
    if isinstance(other, Constructor):
        raise ParameterError(f"{other.name} is missing its parentheses: write >> {other.name}(...)")


def constructor(function: Callable[Concatenate[Space, P], Made]) -> Constructor[P, Made]:
    """Let a function `f(space, ...)` also be called without its Space, which gives a Recipe."""
    return Constructor(function)


def freeze(value: Any) -> Any:
    """Turn lists, sets, dicts and arrays into immutable values, so that what a recipe says cannot change."""
    if isinstance(value, list | tuple | Iterator):
        return tuple(freeze(item) for item in value)
    if isinstance(value, set):
        return frozenset(value)
    if isinstance(value, np.ndarray):
        return freeze(value.tolist())
    if isinstance(value, Mapping) and not isinstance(value, FrozenDict):
        return FrozenDict({name: freeze(item) for name, item in value.items()})
    return value


class FrozenDict(Mapping[Any, Any]):
    """A mapping that does not change, and therefore has a hash."""

    __slots__ = ("_items",)

    def __init__(self, items: dict[Any, Any]) -> None:
        self._items = items

    def __getitem__(self, name: Any) -> Any:
        return self._items[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def _short(value: Any) -> str:
    """A parameter in a line of an explanation: functions by their name, and nothing longer than fits."""
    text = getattr(value, "__name__", None) or (_number(value) if type(value) is Fraction else repr(value))
    return text if len(text) <= 60 else "..."


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else repr(str(value))


def _is_default(parameter: inspect.Parameter, value: Any) -> bool:
    return parameter.default is not inspect.Parameter.empty and (
        value is parameter.default or (type(value) is type(parameter.default) and value == parameter.default)
    )
