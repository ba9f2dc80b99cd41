"""Measurements of programs: a proved program as a randomized function with its privacy map."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from viameter.arith import show
from viameter.core import Loss, Measurement, Space, by
from viameter.core.bound import Bound
from viameter.core.queryable import Guard
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.certificate import mechanisms_of
from viameter.logic.front.adjacency import AddedOrRemoved
from viameter.logic.front.inputs import PRESENT
from viameter.logic.lang.core import Program
from viameter.logic.lang.text import show_program
from viameter.logic.running.arguments import read_arguments
from viameter.logic.running.claims import Known, loss_of, stated
from viameter.logic.running.data import Data, marks_of
from viameter.logic.running.interpreter import Output, Runner
from viameter.logic.running.noise import scale_of
from viameter.logic.running.slots import require_slotwise
from viameter.logic.running.spaces import adjacency_says, space_of
from viameter.logic.running.theorem import verified_program
from viameter.logic.running.values import Value, names_in, names_measured
from viameter.logic.running.verdicts import proved
from viameter.theorem import Derivation


@dataclass(frozen=True, slots=True)
class Release:
    """The program as a function of its data; public inputs that were given are filled in."""

    runner: Runner
    known: Mapping[str, Value]
    single: str
    """The name of the data where they are one input by itself."""
    marks: frozenset[str]
    """The inputs that say which slots of a list are taken: all are."""
    draws: tuple[Callable[..., Any], ...] | None
    """What draws, where all that scales depend on was known before there were data."""

    def __call__(self, member: Any) -> Any:
        """Run on a member of the domain."""
        values = self._values(member)
        draws = self.draws if self.draws is not None else self.runner.prepare(values)
        return self._in_units(self.runner.run(values, draws))

    def prepare(self, member: Any) -> None:
        """Refuse public inputs for which there is no noise; private ones are not looked at."""
        if self.draws is None:
            self.runner.prepare(self._values(member))

    def _values(self, member: Any) -> dict[str, Value]:
        found = member if isinstance(member, Mapping) else {self.single: member}
        values = {**self.known, **{name: _plain(value) for name, value in found.items()}}
        for name in self.marks:
            items = values[name.removesuffix(PRESENT)]
            values[name] = [1] * (0 if isinstance(items, int) else len(items))
        return values

    def _in_units(self, released: Output) -> Any:
        grid = self.runner.program.output_grid
        if grid == 1 or isinstance(released, bool):
            return released
        return [item * grid for item in released] if isinstance(released, list) else released * grid


def _plain(value: Any) -> Value:
    """A list of Python's own integers, a number or a truth value."""
    plain: Value = (
        value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, tuple) else value
    )
    return plain


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProgramMeasurement(Measurement):
    """A proved program as a measurement; `proof` says what shows its bound."""

    proof: str

    def release(self, member: Any, *, guard: Guard | None = None) -> Any:
        """Release; a public input for which there is no noise is named before private ones are looked at."""
        if isinstance(self.function, Release):
            self.function.prepare(member)
        return super().release(member, guard=guard)

    def _derive_step(self, d_in: Any) -> tuple[Loss, Derivation]:
        loss, derivation = super()._derive_step(d_in)
        return loss, replace(derivation, subject=f"{self.made_by}, {self.proof}")


def measurement(
    program_function: Any,
    /,
    *,
    verdict: Any = None,
    length: int | Mapping[str, int] | None = None,
    space: Space | None = None,
    **given: Any,
) -> ProgramMeasurement:
    """A program as a measurement of the library; it must be proved, by the verdict given or by `verify`.

    `verdict` is what `verify` gave for this program in this process, or a certificate of it (`ProgramCertificate`, or
    its JSON), which the independent checker checks here and now.
    All budgets are given by name, and public inputs may be. What is not given is the data: the private input itself if
    nothing else is left, else a dict by name, where data of different public inputs are infinitely far apart. Numbers
    on a grid are exact multiples of it, and so are those that are released. `length` fixes the length of the private
    list. `space` is the space to be used, if it is not the usual one: its domain within what the program requires, so
    that the program may follow a transformation, and its metric one in which steps of the adjacency are counted.
    """
    core, adjacent = program_function.core, program_function.adjacent
    private = frozenset(adjacent.private) - marks_of(core)
    relations = tuple(adjacent.directions(core))
    if private and any(relation.private != adjacent.private for relation in relations):
        raise ParameterError(f"the adjacency of {core.name} has other private inputs than its relation")
    _require_rows(program_function, length)
    known = read_arguments(core, private, given, length=length, space=space)
    runner = Runner.of(core, known.budgets)
    _require_public_scales(runner, private)
    data = Data.of(core, private, known)
    draws = _prepared(runner, known)
    place, way = space_of(data, adjacent, relations, space)
    # To prove a program may take a minute: all else is refused before.
    evidence = proved(program_function, verdict, relations)
    loss = loss_of(evidence.claim, known)
    costs, adjacency = stated(evidence.claim), adjacency_says(relations)
    bound = by(
        verified_program,
        certificate=evidence.certificate,
        mechanisms=_certificates(core),
        budgets=tuple(known.budgets.items()),
        public=tuple(known.values.items()),
        lengths=tuple(known.lengths.items()),
        loss=loss,
        by=way.by,
        spacing=way.spacing,
        moves=way.moves,
        most=way.most,
    )
    texts = {n: show(b) for n, b in known.budgets.items()} | {n: _short(given[n]) for n in known.values}
    public = {name: _plain(value) for name, value in known.values.items()}
    return ProgramMeasurement(
        input_space=place,
        measure=loss.measure,
        function=Release(runner, public, data.inputs[0].name, marks_of(core), draws),
        bound=bound,
        made_by=f"program {program_function.name}({', '.join(f'{n}={text}' for n, text in texts.items())})",
        identity=_identity(core, known, bound),
        proof=f"proved to cost {costs} where {adjacency} ({evidence.says})",
    )


def _certificates(core: Program) -> tuple[tuple[str, str], ...]:
    """The certificates of the mechanisms that a program calls, at the distance that its proof takes their cost for."""
    found = ((name, core.mechanisms[name]) for name in mechanisms_of(core))
    return tuple((name, entry.measurement.certificate(entry.distance).text) for name, entry in found)


def _require_rows(program_function: Any, length: Any) -> None:
    """Where rows may be added or removed, that the program goes over rows, and that their number is not fixed."""
    core, adjacent = program_function.core, program_function.adjacent
    if not marks_of(core):
        return
    if type(adjacent) is not AddedOrRemoved:
        raise NoTheorem(
            f"program {core.name}: rows are added or removed, and more may differ at once: nothing counts that"
        )
    if length is not None:
        raise ParameterError(f"length={length!r}: rows of {adjacent.name} may be added or removed; leave it out")
    require_slotwise(core, adjacent.name)


def _identity(core: Program, known: Known, bound: Bound) -> tuple[Hashable, ...]:
    """Two measurements are equal when they run the same program with the same parameters, with the same bound."""
    given = (tuple(known.budgets.items()), tuple(known.values.items()))
    mechanisms = tuple((name, id(mechanism)) for name, mechanism in core.mechanisms.items())
    return (show_program(core), given, mechanisms, bound.parameters)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else "..."


def _prepared(runner: Runner, known: Known) -> tuple[Callable[..., Any], ...] | None:
    """What draws, if all that scales depend on is known; this refuses what cannot be drawn from."""
    everything = known.everything
    for site in runner.code.sites:
        scale = scale_of(site.law)
        for factor in () if scale is None else scale.factors:
            if not (names_in((factor,)) <= known.values.keys() and names_measured(factor) <= everything.keys()):
                return None
    return runner.prepare(everything)


def _require_public_scales(runner: Runner, private: frozenset[str]) -> None:
    for site in runner.code.sites:
        scale = scale_of(site.law)
        secret = set() if scale is None else names_in(scale.factors) & private
        if scale is not None and secret:
            raise ParameterError(
                f"line {site.at}: the scale {scale.as_scale()} depends on {', '.join(sorted(secret))}, which is private"
            )
