"""Adjacent inputs for trials: small, random, and checked against the relation's own formulas."""

from __future__ import annotations

from typing import Any

from viameter.logic.deadline import tick
from viameter.logic.kernel.context import RESULT, Context
from viameter.logic.lang.core import ANY, Input, statements_of, terms_of
from viameter.logic.lang.terms import Num, Term, subterms, variables
from viameter.logic.search.compiled import Environment, compiled
from viameter.logic.search.dice import Dice
from viameter.logic.search.product import Alone, Pair

TRIES = 60
STEPS = 6


class Pairs:
    """Random pairs of adjacent inputs of one context."""

    def __init__(self, context: Context, seed: int = 7) -> None:
        self.context = context
        self.random = Dice(seed)
        self.facts = [compiled(fact) for fact in context.facts()]
        self.elements: dict[str, list[Any]] = {}
        order = [entry.name for entry in context.program.inputs if entry.sort == "list"]
        for name, fact in context.elements():
            # A fact that speaks of several lists is looked at when the last of them has its element.
            spoken = {v.name for v in variables(fact) if v.sort == "list"} | {name}
            last = max(spoken, key=order.index)
            self.elements.setdefault(last, []).append(compiled(fact))
        terms: list[Term] = [*context.facts(), *(fact for _, fact in context.elements())]
        terms += [term for statement in statements_of(context.program.body) for term in terms_of(statement)]
        numbers = {abs(p.value) for term in terms for p in subterms(term) if isinstance(p, Num)}
        self.steps = sorted({0, 1, *(n for n in numbers if n <= 10**6)})[:STEPS]
        self.levels = [p.value for term in terms for p in subterms(term) if isinstance(p, Num) and abs(p.value) > 5]
        self.numbers = sorted(n for n in numbers if n <= 10**6)
        self.changes = self._changes()
        self.widest = max(self.changes)
        self.private = context.neighbors.private
        self.level = 0
        self.alone: Alone | None = None

    def _changes(self) -> list[int]:
        """The changes that the relation speaks of; if it speaks of none, the numbers in the program."""
        facts = [*self.context.neighbors.facts, *(fact for _, fact in self.context.neighbors.each)]
        said = {abs(p.value) for fact in facts for p in subterms(fact) if isinstance(p, Num)} - {0}
        return sorted(said) or self.steps

    def some(self, count: int, *, longest: int = 4, long: int = 40) -> list[Pair]:
        """Up to `count` pairs; fewer if the relation is hard to meet by chance.

        One in ten is long, and stands at the end: what costs a little in every iteration fits into a budget for
        short lists.
        """
        found = []
        for number in range(count * 4):
            tick()
            size = 4 * long if number % 40 == 39 else long if number % 10 == 9 else longest
            pair = self._one(size)
            if pair is not None:
                found.append(pair)
            if len(found) == count:
                break
        return sorted(found, key=lambda pair: len(pair.draws))

    def _one(self, longest: int) -> Pair | None:
        rng, program = self.random, self.context.program
        environment: Environment = {}
        size = rng.between(0, longest)
        # Values mostly near zero, or near a number of the program, where tests are close; or far to one side, where a
        # loop runs long or stops at once.
        self.level = rng.pick((0, 0, 0, -9, 9, *self.levels))
        lists = [entry for entry in program.inputs if entry.sort == "list"]
        for constant in self.context.neighbors.constants:
            environment[constant] = rng.between(0, max(size - 1, 0))
        environment[RESULT.name] = rng.between(-1, size)
        for entry in program.inputs:
            if entry.sort != "list":
                self._scalar(entry, environment)
        for entry in lists:
            environment[f"len({entry.name})"] = size
            for side in (1, 2) if entry.name in self.private else (0,):
                environment[f"{entry.name}<{side}>" if side else entry.name] = ()
        for index in range(size):
            if not self._elements(lists, index, environment):
                return None
        if not all(fact(environment) for fact in self.facts):
            return None
        wide = rng.pick((2, 3, 3, 6)) * (self.widest if rng.chance() < 0.3 else 1)
        draws = tuple(rng.between(-wide, wide) for _ in range(8 + 4 * size))
        if program.output.sort == "int" and rng.chance() < 0.6:
            environment[RESULT.name] = self._output(environment, draws)
        return Pair(environment, draws)

    def _output(self, environment: Environment, draws: tuple[int, ...]) -> int:
        """What the first run returns, which no shift changes: the output worth asking about."""
        if self.alone is None:
            self.alone = Alone(self.context)
        return int(self.alone.output(environment, draws))

    def _scalar(self, entry: Input, environment: Environment) -> None:
        rng = self.random
        if entry.sort == "bool":
            value: Any = rng.chance() < 0.5
            other = value if rng.chance() < 0.3 else not value
        else:
            value = rng.between(-1, 4)
            other = value + rng.pick((-1, 1)) * rng.pick(self.steps)
        if entry.name in self.private:
            environment[f"{entry.name}<1>"], environment[f"{entry.name}<2>"] = value, other
        else:
            environment[entry.name] = value

    def _elements(self, lists: list[Input], index: int, environment: Environment) -> bool:
        """Give every list its element at an index, one list after another, until what is known of each holds."""
        environment[ANY.name] = index
        return all(self._element(entry, environment) for entry in lists)

    def _element(self, entry: Input, environment: Environment) -> bool:
        rng, name = self.random, entry.name
        private = name in self.private
        names = (f"{name}<1>", f"{name}<2>") if private else (name,)
        before = [environment[each] for each in names]
        for _ in range(TRIES):
            chance = rng.chance()
            value = rng.between(-2, 5) + self.level if chance < 0.6 else rng.between(0, 1)
            if chance > 0.85 and self.numbers:
                value = rng.pick(self.numbers)  # ends of ranges, thresholds
            values = (value, self._other(value)) if private else (value,)
            for each, held, new in zip(names, before, values, strict=True):
                environment[each] = (*held, new)
            if all(fact(environment) for fact in self.elements.get(name, ())):
                return True
        return False

    def _other(self, value: int) -> int:
        """The second run's value: often as far from the first's as the relation may allow, which breaks most proofs."""
        rng, chance = self.random, self.random.chance()
        if chance < 0.25:
            return value
        if chance < 0.4:
            return value + rng.between(-2 * self.widest, 2 * self.widest)
        return value + rng.pick((-1, 1)) * (self.widest if chance < 0.8 else rng.pick(self.steps))
