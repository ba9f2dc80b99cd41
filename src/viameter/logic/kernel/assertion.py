"""Assertions: conjunctions of clauses, each of which knows what it says and which line it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from viameter.logic.lang.terms import TRUE, Term, Var, implies, show, substitute


@dataclass(frozen=True, slots=True)
class Clause:
    """One conjunct. `what` and `line` say where it comes from; two clauses are equal when their terms are."""

    term: Term
    what: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    owner: object = field(default=None, compare=False)
    """Whoever asked for it (a candidate of the search); the kernel does not look at it."""

    def __str__(self) -> str:
        return show(self.term)


Assertion = tuple[Clause, ...]


def clause(term: Term, what: str = "", line: int = 0) -> Assertion:
    """An assertion of one clause, or of none if it is trivially true."""
    return () if term == TRUE else (Clause(term, what, line),)


def conjunction(clauses: Iterable[Clause]) -> Assertion:
    """The clauses without those that are trivially true or said twice."""
    found: dict[tuple[Term, object], Clause] = {}
    for entry in clauses:
        if entry.term != TRUE:
            found.setdefault((entry.term, entry.owner), entry)
    return tuple(found.values())


def with_values(assertion: Assertion, values: Mapping[Var, Term]) -> Assertion:
    """Every clause with variables replaced, all at once."""
    return conjunction(replace(entry, term=substitute(entry.term, values)) for entry in assertion)


def under(test: Term, assertion: Assertion) -> Assertion:
    """test => clause, for every clause."""
    return conjunction(replace(entry, term=implies(test, entry.term)) for entry in assertion)


def terms(assertion: Assertion) -> tuple[Term, ...]:
    """The clauses' terms."""
    return tuple(entry.term for entry in assertion)
