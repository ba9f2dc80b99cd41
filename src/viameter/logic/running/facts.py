"""Facts: what a program requires of its inputs, and which of it can be decided without looking at private data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from viameter.logic.lang.core import ANY, Program
from viameter.logic.lang.terms import ONE, App, Num, Term, Var, add, neg, read, show, sub
from viameter.logic.running.values import Value, evaluate, names_measured, names_read


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that must be true of the inputs; with `each`, of every element of that list, at index `any.k`."""

    term: Term
    each: str | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The inputs whose values it depends on; of a list of which it takes the length only it is not the value."""
        return frozenset(names_read(self.term) - {ANY.name})

    @property
    def measures(self) -> frozenset[str]:
        """The lists whose length it depends on."""
        return frozenset(names_measured(self.term) | ({self.each} if self.each else set()))

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether it is true of these inputs."""
        if self.each is None:
            return bool(evaluate(self.term, values))
        items = values[self.each]
        assert not isinstance(items, int)  # facts about each element are about lists
        return all(evaluate(self.term, {**values, ANY.name: place}) for place in range(len(items)))

    def __str__(self) -> str:
        text = show(self.term)
        return text if self.each is None else f"each {self.each}: {text}"


def facts_of(program: Program) -> list[Fact]:
    """What the program requires, one by one."""
    stated = [(None, term) for term in program.requires]
    return [Fact(part, each) for each, term in (*stated, *program.each) for part in _conjuncts(term)]


def _conjuncts(term: Term) -> Iterable[Term]:
    if isinstance(term, App) and term.op == "and":
        for part in term.args:
            yield from _conjuncts(part)
    else:
        yield term


def is_of_the_element(fact: Fact) -> bool:
    """Whether a fact about each element reads nothing of its list but the element that it speaks of."""
    return fact.each is not None and _reads_at_any(fact.term, fact.each)


def is_of_the_row(fact: Fact) -> bool:
    """Whether a fact about each element is about the element alone, wherever it stands and however many there are."""
    if fact.each is None or fact.each in names_measured(fact.term):
        return False
    return not {ANY.name, fact.each} & names_read(_without_reads(fact.term, fact.each))


def _without_reads(term: Term, name: str) -> Term:
    """The term with 0 for the element that it speaks of."""
    if not isinstance(term, App):
        return term
    if term.op == "read" and term.args == (Var(name, "list"), ANY):
        return Num(0)
    return App(term.op, tuple(_without_reads(arg, name) for arg in term.args))


def _reads_at_any(term: Term, name: str) -> bool:
    match term:
        case Var():
            return term.name != name
        case App("len"):
            return True
        case App("read", (Var(name=items), index)) if items == name:
            return index == ANY
        case App(_, args):
            return all(_reads_at_any(arg, name) for arg in args)
    return True


def subject_of(name: str, *, many: bool) -> Term:
    """What a fact about an input speaks of: the number itself, or whichever element of the list."""
    return read(Var(name, "list"), ANY) if many else Var(name)


Ends = tuple[Term | None, Term | None]
"""The least and the greatest value, where there are ends."""


def ends_of(fact: Fact, subject: Term) -> Ends | None:
    """The ends between which a fact says that a subject lies, if that is all it says; they do not read the subject.

    >>> x = Var("x")
    >>> low, high = ends_of(Fact(App("<", (Num(3), x))), x)
    >>> print(low, high)
    4 None
    """
    owner = names_read(subject) - {ANY.name}
    found = _ends(fact.term, subject)
    return None if found is None or any(owner & names_read(end) for end in found if end is not None) else found


def _ends(term: Term, subject: Term) -> Ends | None:
    match term:
        case App("not", (App("<=" | "<" as op, (left, right)),)):
            return _ends(App("<" if op == "<=" else "<=", (right, left)), subject)
        case App("<=" | "<" | "==" as op, (left, right)):
            inward = ONE if op == "<" else Num(0)
            if left == subject:
                return (right if op == "==" else None), sub(right, inward)
            if right == subject:
                return add(left, inward), (left if op == "==" else None)
            if left == App("abs", (subject,)) and op != "==":
                return neg(sub(right, inward)), sub(right, inward)
    return None
