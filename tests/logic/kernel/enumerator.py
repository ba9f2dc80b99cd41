"""The meaning of core programs by naive enumeration in fractions; shares no code with the library's own enumerations.

Budgets are logarithms of rationals, so that every probability is rational. Noise is cut off at a window: what is
returned is a lower bound of every probability, and the mass that was cut off.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any, TypeAlias

from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Choose,
    Exponential,
    Flip,
    If,
    Laplace,
    Law,
    Sample,
    Statement,
    Uniform,
    While,
    assigned,
)
from viameter.logic.lang.scales import Monomial, logarithm_of
from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Memory: TypeAlias = dict[str, Any]
State: TypeAlias = tuple[tuple[str, Any], ...]
DEFAULTS: dict[str, Any] = {"int": 0, "bool": False, "list": ()}


def value(term: Term, memory: Mapping[str, Any]) -> Any:
    """A term's value; variables are looked up by their text, and by their bare name if that is not there."""
    return _function(term)(memory)


@cache
def _function(term: Term) -> Callable[[Mapping[str, Any]], Any]:
    return eval(f"lambda m: {_python(term)}", dict(_OPERATIONS))  # type: ignore[no-any-return]


def _python(term: Term) -> str:
    match term:
        case Num(number) | Truth(number):
            return f"({number})"
        case Var(name=name):
            return f"find(m, {str(term)!r}, {name!r})"
        case App("ite", (test, then, orelse)):
            return f"({_python(then)} if {_python(test)} else {_python(orelse)})"
        case App(("and" | "or") as op, args):
            return "(" + f" {op} ".join(_python(arg) for arg in args) + ")"
        case App("len", (items,)):
            return f"len(find(m, {str(items)!r}, {f'{items}<1>'!r}))"
        case App("=>", (left, right)):
            return f"(not {_python(left)} or {_python(right)})"
        case App(op, args) if op in _CALLED:
            return f"{_CALLED[op]}({', '.join(_python(arg) for arg in args)})"
        case App(("not" | "neg") as op, (only,)):
            return f"({'not ' if op == 'not' else '-'}{_python(only)})"
        case App(op, (left, right)):
            return f"({_python(left)} {op} {_python(right)})"
    raise AssertionError(term)


_CALLED = {"//": "quotient", "%": "rest", "abs": "abs", "min": "min", "max": "max", "read": "read"}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "find": lambda memory, name, other: memory[name] if name in memory else memory[other],
    "quotient": lambda a, b: a // b if b else 0,
    "rest": lambda a, b: a % b if b else a,
    "read": lambda items, at: items[at] if 0 <= at < len(items) else 0,
}


@dataclass(slots=True)
class World:
    """Budgets as (base, times), for times * ln(base), and how far noise is followed."""

    budgets: dict[str, tuple[Fraction, int]] = field(default_factory=dict)
    window: int = 12
    rounds: int = 60

    def step(self, scale: Monomial, memory: Mapping[str, Any]) -> Fraction:
        """exp(-1/scale)."""
        size = scale.coefficient
        for factor in scale.factors:
            size *= value(factor, memory)
        base, times = self.budgets.get(scale.base) or (logarithm_of(scale.base), 1)
        assert base is not None
        power = Fraction(times) / size
        assert power.denominator == 1 and power > 0, f"choose another budget: {power}"
        return base ** -int(power)

    def law(self, law: Law, memory: Mapping[str, Any]) -> tuple[dict[Any, Fraction], Fraction]:
        """The probabilities of values, and what was cut off."""
        wide = range(-self.window, self.window + 1)
        match law:
            case Laplace(scale, center):
                step, middle = self.step(scale, memory), value(center, memory)
                found: dict[Any, Fraction] = {middle + k: (1 - step) / (1 + step) * step ** abs(k) for k in wide}
            case Exponential(scale):
                step = self.step(scale, memory)
                found = {k: (1 - step) * step**k for k in wide if k >= 0}
            case Flip(p):
                found = {True: p, False: 1 - p}
            case Uniform(low, high):
                values = range(value(low, memory), value(high, memory) + 1)
                found = {k: Fraction(1, len(values)) for k in values}
            case Choose(scores, scale):
                step, items = self.step(scale, memory), value(scores, memory)
                weights = {at: step**-score for at, score in enumerate(items)} or {0: Fraction(1)}
                found = {at: weight / sum(weights.values()) for at, weight in weights.items()}
            case _:
                raise AssertionError(law)
        return {k: p for k, p in found.items() if p}, 1 - sum(found.values(), Fraction(0))

    def run(self, block: Block, memory: Memory) -> tuple[dict[State, Fraction], Fraction]:
        """The law of the memory after a block, and what was cut off."""
        start = {**{var.name: DEFAULTS[var.sort] for var in assigned(block)}, **memory}
        states: dict[State, Fraction] = {_state(start): Fraction(1)}
        for statement in block:
            states = self._after(statement, states)
        return states, 1 - sum(states.values(), Fraction(0))

    def _after(self, statement: Statement, states: dict[State, Fraction]) -> dict[State, Fraction]:
        found: dict[State, Fraction] = {}
        for state, weight in states.items():
            for after, p in self._one(statement, dict(state)).items():
                found[after] = found.get(after, Fraction(0)) + weight * p
        return found

    def _one(self, statement: Statement, memory: Memory) -> dict[State, Fraction]:
        match statement:
            case Assign(target, term):
                return {_state({**memory, target.name: value(term, memory)}): Fraction(1)}
            case Append(target, term):
                return {_state({**memory, target.name: (*memory[target.name], value(term, memory))}): Fraction(1)}
            case Sample(target, law):
                values, _ = self.law(law, memory)
                return {_state({**memory, target.name: drawn}): p for drawn, p in values.items()}
            case If(test, then, orelse):
                return self.run(then if value(test, memory) else orelse, memory)[0]
            case While():
                return self._loop(statement, memory)
        return {_state(memory): Fraction(1)}

    def _loop(self, loop: While, memory: Memory) -> dict[State, Fraction]:
        inside: dict[State, Fraction] = {_state(memory): Fraction(1)}
        left: dict[State, Fraction] = {}
        for _ in range(self.rounds):
            again: dict[State, Fraction] = {}
            for state, weight in inside.items():
                if not value(loop.test, dict(state)):
                    left[state] = left.get(state, Fraction(0)) + weight
                    continue
                for after, p in self.run(loop.body, dict(state))[0].items():
                    again[after] = again.get(after, Fraction(0)) + weight * p
            inside = again
            if not inside:
                break
        return left

    def outputs(self, block: Block, memory: Memory, name: str) -> tuple[dict[Any, Fraction], Fraction]:
        """The law of one variable after a block."""
        states, lost = self.run(block, memory)
        found: dict[Any, Fraction] = {}
        for state, p in states.items():
            key = dict(state)[name]
            found[key] = found.get(key, Fraction(0)) + p
        return found, lost


def _state(memory: Memory) -> State:
    return tuple(sorted(memory.items()))


def excess(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction], factor: Fraction) -> Fraction:
    """The largest one(S) - factor * other(S): the least delta at this factor for equality."""
    return sum((max(p - factor * other.get(key, Fraction(0)), Fraction(0)) for key, p in one.items()), Fraction(0))


def shortfall(
    one: Mapping[Any, Fraction],
    other: Mapping[Any, Fraction],
    factor: Fraction,
    related: Callable[[Any, Any], bool],
) -> Fraction:
    """The largest one(S) - factor * other(R(S)): what no coupling within R can avoid, by a greatest flow."""
    whole = lcm(*(p.denominator for p in (*one.values(), *(factor * p for p in other.values()))))
    supply, room = [int(p * whole) for p in one.values()], [int(factor * p * whole) for p in other.values()]
    partners = [[j for j, b in enumerate(other) if related(a, b)] for a in one]
    flow: list[dict[int, int]] = [{} for _ in room]
    left = 0
    for start, amount in enumerate(supply):
        rest = amount
        while rest:
            # Breadth first, along partners and back along flow that is there already.
            came: dict[int, tuple[int, int | None]] = {}
            queue: list[tuple[int, int | None]] = [(start, None)]
            end = None
            while queue and end is None:
                a, through = queue.pop(0)
                for b in partners[a]:
                    if b not in came:
                        came[b] = (a, through)
                        if room[b]:
                            end = b
                            break
                        queue.extend((back, b) for back, used in flow[b].items() if used)
            if end is None:
                break
            path, b = [], end
            most = min(rest, room[end])
            while True:
                a, through = came[b]
                path.append((a, b, through))
                if through is None:
                    break
                most = min(most, flow[through][a])
                b = through
            for a, b, through in path:
                flow[b][a] = flow[b].get(a, 0) + most
                if through is not None:
                    flow[through][a] -= most
            room[end] -= most
            rest -= most
        left += rest
    return Fraction(left, whole)


def pair_memory(first: Mapping[str, Any], second: Mapping[str, Any], shared: Iterable[str] = ()) -> Memory:
    """Two memories as one, with sides; shared names without."""
    found: Memory = {f"{name}<1>": entry for name, entry in first.items()}
    found |= {f"{name}<2>": entry for name, entry in second.items()}
    return found | {name: first[name] for name in shared}
