"""Two runs side by side on concrete inputs and drawn values, with the second run's draws shifted by candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viameter.logic.deadline import tick
from viameter.logic.kernel.context import RESULT, Context, charge_of, cost, same
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Sample,
    Statement,
    Uniform,
    While,
    assigned,
    statements_of,
)
from viameter.logic.lang.terms import Var
from viameter.logic.search.compiled import Environment, compiled


class Failed(Exception):
    """The two runs fell apart, or a draw had no partner; at which line, and how."""

    def __init__(self, line: int, what: str) -> None:
        self.line, self.what = line, what
        super().__init__(what)


STEPS = 400
NEARBY = (-2, -1, 1, 2)


@dataclass(frozen=True, slots=True)
class Shift:
    """A shift as a function of the two memories and of the value just drawn."""

    value: Callable[[Environment], Any]
    sees_draw: bool

    def at(self, environment: Environment, drawn: str, line: int = 0) -> Any:
        """The shift; fails where a draw nearby would be taken to the same value."""
        shift = self.value(environment)
        if self.sees_draw:
            here = environment[drawn]
            for step in NEARBY:
                environment[drawn] = here + step
                if step + self.value(environment) == shift:
                    raise Failed(line, "the shift maps different draws to different draws")
            environment[drawn] = here
        return shift


Shifts = Mapping[int, Shift]


@dataclass(frozen=True, slots=True)
class Pair:
    """Adjacent inputs, the output asked about, and what the first run draws, in order, around its centers."""

    inputs: Mapping[str, Any]
    draws: tuple[int, ...]


@dataclass(slots=True)
class Run:
    """What one execution of the product found."""

    environment: Environment
    used: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)
    heads: list[tuple[int, Environment]] | None = None
    moved: dict[int, int] = field(default_factory=dict)
    drawn: int = 0
    steps: int = 0


class Product:
    """A program prepared for runs in pairs."""

    def __init__(self, context: Context) -> None:
        self.context = context
        program = context.program
        self.initial: Environment = {}
        for var in assigned(program.body):
            if var.sort == "list":
                self.initial[same(var).name] = True
                continue
            for side in (1, 2):
                self.initial[str(Var(var.name, var.sort, side))] = False if var.sort == "bool" else 0
        self.initial.update({cost(base).name: 0 for base in context.units})
        self.sampled = [s.at for s in statements_of(program.body) if isinstance(s, Sample)]
        self.noisy = {
            s.at
            for s in statements_of(program.body)
            if isinstance(s, If)
            and any(isinstance(inner, Sample | While) for b in (s.then, s.orelse) for inner in statements_of(b))
        }
        self.steps = [self._prepare(statement) for statement in program.body]

    def run(self, pair: Pair, shifts: Shifts, *, trace: bool = False) -> Run:
        """Run both; raises `Failed` when they fall apart."""
        tick()
        run = Run({**self.initial, **pair.inputs})
        run.heads = [] if trace else None
        for step in self.steps:
            step(run, pair, shifts)
        return run

    def attempt(self, pair: Pair, shifts: Shifts, accept: Callable[[Environment], bool]) -> tuple[bool, frozenset[int]]:
        """Whether the pair ends as wanted, and which sampling statements had a say in it."""
        tick()
        run = Run({**self.initial, **pair.inputs})
        try:
            for step in self.steps:
                step(run, pair, shifts)
        except Failed:
            return False, frozenset(run.used)
        return accept(run.environment), frozenset(run.used)

    def _prepare(self, statement: Statement) -> Callable[[Run, Pair, Shifts], None]:
        match statement:
            case Assign():
                return self._assign(statement, (1, 2))
            case Append():
                return self._append(statement)
            case Sample():
                return self._sample(statement)
            case If():
                return self._if(statement)
            case While():
                return self._while(statement)
        return lambda run, pair, shifts: None

    def _assign(self, statement: Assign, sides: tuple[int, ...]) -> Callable[[Run, Pair, Shifts], None]:
        target = statement.target
        plan = [
            (str(Var(target.name, target.sort, side)), compiled(self.context.run(statement.value, side)))
            for side in sides
        ]

        def step(run: Run, pair: Pair, shifts: Shifts) -> None:
            environment = run.environment
            for name, value in plan:
                environment[name] = value(environment)

        return step

    def _append(self, statement: Append) -> Callable[[Run, Pair, Shifts], None]:
        ghost, at = same(statement.target).name, statement.at
        first, second = (compiled(self.context.run(statement.value, side)) for side in (1, 2))

        def step(run: Run, pair: Pair, shifts: Shifts) -> None:
            environment = run.environment
            if first(environment) != second(environment):
                # It never becomes true again: no later draw can help.
                environment[ghost] = False
                raise Failed(at, "both runs append the same value")

        return step

    def _sample(self, statement: Sample) -> Callable[[Run, Pair, Shifts], None]:
        context, law, target, at = self.context, statement.law, statement.target, statement.at
        first, second = (str(Var(target.name, target.sort, side)) for side in (1, 2))
        centers = (
            [compiled(context.run(law.center, side)) for side in (1, 2)] if isinstance(law, Laplace | Gaussian) else []
        )
        charges = charge_of(law, context.program)
        rates = [(cost(c.base).name, compiled(context.units[c.base].rate(c))) for c in charges]
        ends = [compiled(context.run(end, 1)) for end in (law.low, law.high)] if isinstance(law, Uniform) else []
        scores = str(context.run(law.scores, 1)) if isinstance(law, Choose) else ""

        def step(run: Run, pair: Pair, shifts: Shifts) -> None:
            environment = run.environment
            run.used.add(at)
            raw = pair.draws[run.drawn % len(pair.draws)]
            run.drawn += 1
            if isinstance(law, Laplace | Gaussian):
                one, other = (center(environment) for center in centers)
                environment[first] = one + raw
                shift = shifts[at].at(environment, first, at)
                environment[second] = one + raw + shift
                spent = abs(shift + one - other)
                if isinstance(law, Gaussian):
                    run.moved[at] = max(run.moved.get(at, 0), spent)
                    spent *= spent
            elif isinstance(law, Exponential):
                environment[first] = abs(raw)
                spent = shifts[at].at(environment, first, at)
                environment[second] = abs(raw) + spent
                if environment[second] < 0:
                    raise Failed(at, "the second run's draw is not negative")
            elif isinstance(law, Flip):
                environment[first] = raw % 2 == 0
                spent = 1 if shifts[at].at(environment, first, at) else 0
                environment[second] = environment[first] != bool(spent)
            elif isinstance(law, Uniform):
                low, high = (end(environment) for end in ends)
                width = max(high - low + 1, 1)
                environment[first] = low + raw % width
                environment[second] = low + (raw + shifts[at].at(environment, first, at)) % width
                spent = 0
            elif isinstance(law, Choose):
                count = len(environment[scores])
                environment[first] = environment[second] = raw % count if count else 0
                spent = shifts[at].at(environment, first, at)
            else:
                assert isinstance(law, Call)
                environment[first] = environment[second] = raw
                spent = 1
            for name, rate in rates:
                environment[name] += rate(environment) * spent

        return step

    def _if(self, statement: If) -> Callable[[Run, Pair, Shifts], None]:
        first, second = (compiled(self.context.run(statement.test, side)) for side in (1, 2))
        then = [self._prepare(inner) for inner in statement.then]
        orelse = [self._prepare(inner) for inner in statement.orelse]
        noisy, at = statement.at in self.noisy, statement.at
        alone = {} if noisy else {side: self._one_sided(statement, side) for side in (1, 2)}

        def step(run: Run, pair: Pair, shifts: Shifts) -> None:
            environment = run.environment
            one = first(environment)
            if one == second(environment):
                for inner in then if one else orelse:
                    inner(run, pair, shifts)
            elif noisy:
                raise Failed(at, "both runs take the same branch")
            else:
                run.apart.add(at)
                for side in (1, 2):
                    alone[side](run, pair, shifts)

        return step

    def _one_sided(self, statement: Statement, side: int) -> Callable[[Run, Pair, Shifts], None]:
        if isinstance(statement, Assign):
            return self._assign(statement, (side,))
        if isinstance(statement, If):
            test = compiled(self.context.run(statement.test, side))
            branches = [[self._one_sided(inner, side) for inner in b] for b in (statement.then, statement.orelse)]

            def choose(run: Run, pair: Pair, shifts: Shifts) -> None:
                for inner in branches[0] if test(run.environment) else branches[1]:
                    inner(run, pair, shifts)

            return choose

        def fail(run: Run, pair: Pair, shifts: Shifts) -> None:
            raise Failed(statement.at, "a branch that the runs take apart has no noise, no loop and no append")

        return fail

    def _while(self, statement: While) -> Callable[[Run, Pair, Shifts], None]:
        first, second = (compiled(self.context.run(statement.test, side)) for side in (1, 2))
        body = [self._prepare(inner) for inner in statement.body]
        at = statement.at

        def step(run: Run, pair: Pair, shifts: Shifts) -> None:
            environment = run.environment
            while True:
                if run.heads is not None:
                    run.heads.append((at, dict(environment)))
                going = first(environment)
                if going != second(environment):
                    raise Failed(at, "both runs go round the loop together")
                run.steps += 1
                if not going or run.steps > STEPS:
                    return
                for inner in body:
                    inner(run, pair, shifts)

        return step


class Alone(Product):
    """The first run by itself: the same interpreter with both runs given the same inputs and draws."""

    def output(self, environment: Environment, draws: tuple[int, ...]) -> Any:
        """What the first run returns."""
        inputs = dict(environment)
        for name in self.context.neighbors.private:
            inputs[f"{name}<2>"] = inputs[f"{name}<1>"]
        still = {at: Shift(lambda _: 0, sees_draw=False) for at in self.sampled}
        output = self.context.program.output
        return self.run(Pair(inputs, draws), still).environment[str(Var(output.name, output.sort, 1))]


def accepts(context: Context, bounds: Mapping[str, Any], *, pointwise: bool) -> Callable[[Environment], bool]:
    """Whether a pair of runs ended as the goal wants: equal outputs, cost within bounds (terms, by base)."""
    output = context.program.output
    first, second = (str(Var(output.name, output.sort, side)) for side in (1, 2))
    ghost = same(output).name
    limits = [(cost(base).name, compiled(most)) for base, most in bounds.items()]

    def accept(environment: Environment) -> bool:
        if pointwise:
            if environment[first] != environment[RESULT.name]:
                return True
            equal = environment[second] == environment[RESULT.name]
        else:
            equal = environment[ghost] if output.sort == "list" else environment[first] == environment[second]
        return equal and all(environment[name] <= most(environment) for name, most in limits)

    return accept


__all__ = ["Block", "Failed", "Pair", "Product", "Run", "Sequence", "accepts"]
