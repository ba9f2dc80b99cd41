"""The data of a program: the inputs that were not given, what is required of them, and the domain that they make up."""

from __future__ import annotations

from dataclasses import dataclass

from viameter.core import Domain
from viameter.errors import ParameterError
from viameter.logic.front.inputs import PRESENT
from viameter.logic.lang.core import Input, Program
from viameter.logic.running.claims import Known
from viameter.logic.running.domains import ProgramDomain
from viameter.logic.running.facts import Ends, Fact, ends_of, facts_of, is_of_the_element, is_of_the_row, subject_of
from viameter.logic.running.values import evaluate, names_measured, names_read
from viameter.spaces import GREATEST_INT, LEAST_INT, FiniteDomain, IntDomain, VectorDomain

ALL_INTEGERS = (LEAST_INT, GREATEST_INT)


def marks_of(program: Program) -> frozenset[str]:
    """The inputs that say which slots of a list are taken, where rows may be added or removed."""
    names = {entry.name for entry in program.inputs}
    return frozenset(name + PRESENT for name in names if name + PRESENT in names)


@dataclass(frozen=True, slots=True)
class Data:
    """The inputs of a program that are data, and what is still required of them."""

    program: Program
    private: frozenset[str]
    known: Known
    facts: tuple[Fact, ...]

    @classmethod
    def of(cls, program: Program, private: frozenset[str], known: Known) -> Data:
        """Decide what can be decided without data; a public input that is not as required is named."""
        everything, still = known.everything, []
        marks = marks_of(program)
        for fact in facts_of(program):
            if marks & (fact.reads | fact.measures):
                continue  # which slots are taken is not given by anyone: all are
            if not (fact.reads <= known.values.keys() and fact.measures <= everything.keys()):
                still.append(fact)
            elif not fact.holds(everything):
                names = ", ".join(sorted(fact.reads | fact.measures))
                raise ParameterError(
                    f"{names}: program {program.name} requires {fact}, which is not so for what was given"
                )
        return cls(program, private, known, tuple(still))

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs that were not given."""
        gone = self.known.values.keys() | marks_of(self.program)
        return tuple(entry for entry in self.program.inputs if entry.name not in gone)

    @property
    def secret(self) -> Input | None:
        """The one private input, if there is but one."""
        found = [entry for entry in self.inputs if entry.name in self.private]
        return found[0] if len(found) == 1 else None

    def domain(self) -> Domain:
        """The library's vectors, integers or truth values where they say it all, else a domain of inputs."""
        entry = self.secret
        if entry is not None and len(self.inputs) == 1 and entry.grid == 1:
            if entry.sort == "bool" and not self.facts:
                return FiniteDomain(frozenset({True, False}))
            bounds = None if entry.sort == "bool" else self.bounds(entry)
            if bounds is not None:
                element = IntDomain(None if bounds == ALL_INTEGERS else bounds)
                return VectorDomain(element, self.known.lengths.get(entry.name)) if entry.sort == "list" else element
        mentioned = {name for fact in self.facts for name in fact.reads | fact.measures}
        names = {entry.name for entry in self.inputs}
        return ProgramDomain(
            self.inputs,
            self.private,
            self.facts,
            tuple((name, value) for name, value in self.known.values.items() if name in mentioned),
            tuple((name, length) for name, length in self.known.lengths.items() if name in names),
        )

    def bounds(self, entry: Input) -> tuple[int, int] | None:
        """The least and the greatest value of a number or of elements, if that is all that is required."""
        low, high = ALL_INTEGERS
        everything = self.known.everything
        for fact in self.facts:
            ends = self._ends(fact, entry)
            if ends is None:
                return None
            for end in ends:
                if end is not None and not (
                    names_read(end) <= self.known.values.keys() and names_measured(end) <= everything.keys()
                ):
                    return None  # it is another one for each element, or depends on what is data
            lower, upper = (None if end is None else int(evaluate(end, everything)) for end in ends)
            low, high = max(low, low if lower is None else lower), min(high, high if upper is None else upper)
        if low > high:
            wanted = ", ".join(map(str, self.facts))
            raise ParameterError(f"program {self.program.name} requires {wanted}: no {entry.name} of 64 bits is so")
        return low, high

    @staticmethod
    def _ends(fact: Fact, entry: Input) -> Ends | None:
        """The ends that a fact gives the one private input, which it does not move; None if it says anything else."""
        many = entry.sort == "list"
        return ends_of(fact, subject_of(entry.name, many=many)) if fact.each == (entry.name if many else None) else None

    @property
    def _about_private(self) -> list[Fact]:
        """The facts that depend on private values; a length is no secret, and no step changes it."""
        return [fact for fact in self.facts if fact.reads & self.private]

    @property
    def box(self) -> bool:
        """Whether private numbers may be anything between ends that do not depend on private values."""
        entry = self.secret
        return entry is not None and all(self._ends(fact, entry) is not None for fact in self._about_private)

    @property
    def separate(self) -> bool:
        """Whether nothing is required of a private list but of each of its elements by itself."""
        entry = self.secret
        if entry is None:
            return False
        if marks_of(self.program):
            # Where rows are added and removed, neither their number nor their places stay what they are.
            return all(is_of_the_row(fact) for fact in self.facts if {entry.name} & (fact.reads | fact.measures))
        return all(fact.each == entry.name and is_of_the_element(fact) for fact in self._about_private)
