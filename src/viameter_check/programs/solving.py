"""The solver: terms in the language of cvc5, and what it says of them within a limit of time.

A list is an uninterpreted function from indices to integers. Division by what is no number is an uninterpreted function
with the facts that define it, so that equal quotients stay equal. What cvc5 cannot decide is not accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from viameter_check.programs.showing import show
from viameter_check.programs.terms import BOOL, LIST, Term, floor_divide
from viameter_check.programs.walking import parts
from viameter_check.report import Refused

LIMIT = 5_000
"""How many milliseconds the solver has for each question."""
_MOST_VALUES_SHOWN = 8

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a question has an answer, and the values that speak against it where it fails."""

    outcome: str
    values: str = ""


class Solver:
    """cvc5, with the terms that it knows."""

    def __init__(self) -> None:
        try:
            import cvc5  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise Refused('needs the solver cvc5, which is not installed: pip install "viameter[verify]"') from None
        self.cvc5: Any = cvc5
        self.manager = cvc5.TermManager()
        self.known: dict[Term, Any] = {}
        self.symbols: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The solver and its version."""
        return f"cvc5 {self.cvc5.__version__}"

    def holds(self, hypotheses: Iterable[Term], goals: Iterable[Term]) -> Answer:
        """Whether all goals hold wherever the hypotheses do."""
        known, wanted = list(hypotheses), list(goals)
        found, solver = self._asked(known, wanted)
        if found is None:
            return Answer(UNDECIDED)
        return Answer(FAILS, self._values(solver, [*wanted, *known])) if found else Answer(HOLDS)

    def satisfiable(self, terms: Iterable[Term]) -> bool | None:
        """Whether some values satisfy all terms; None where that is not decided."""
        return self._asked(list(terms), [])[0]

    def _asked(self, known: list[Term], wanted: list[Term]) -> tuple[bool | None, Any]:
        """Whether some values satisfy what is known but (if anything is wanted) not all that is wanted."""
        solver = self.cvc5.Solver(self.manager)
        nonlinear = any(_is_nonlinear(term) for term in parts([*known, *wanted]))
        solver.setLogic("QF_UFNIA" if nonlinear else "QF_UFLIA")
        solver.setOption("tlimit-per", str(LIMIT))
        solver.setOption("produce-models", "true")
        self._translate([*known, *wanted])
        for term in parts([*known, *wanted]):
            if term.op in ("//", "%") and not term.args[1].is_literal:
                for fact in self._defining(term):
                    solver.assertFormula(fact)
        for term in known:
            solver.assertFormula(self.known[term])
        if wanted:
            kind = self.cvc5.Kind
            denied = [self.manager.mkTerm(kind.NOT, self.known[term]) for term in wanted]
            solver.assertFormula(denied[0] if len(denied) == 1 else self.manager.mkTerm(kind.OR, *denied))
        outcome = solver.checkSat()
        return (None if outcome.isUnknown() else bool(outcome.isSat())), solver

    def _values(self, solver: Any, terms: list[Term]) -> str:
        found = []
        for term in parts(terms):
            if (term.op == "name" and term.sort != LIST) or term.op in ("read", "len"):
                found.append(f"{show(term)} = {solver.getValue(self.known[term])}")
        return ", ".join(sorted(found, key=len)[:_MOST_VALUES_SHOWN])

    # Terms.

    def _translate(self, roots: list[Term]) -> None:
        for term in parts(roots):
            if term not in self.known and term.sort != LIST:
                self.known[term] = self._made(term)

    def _made(self, term: Term) -> Any:
        if term.op == "name":
            return self._symbol(term)
        if term.op == "literal":
            if term.sort == BOOL:
                return self.manager.mkBoolean(term.leaf)
            return self.manager.mkInteger(str(term.leaf))
        if term.op == "len":
            return self._symbol(term.args[0], "len")
        kind, make = self.cvc5.Kind, self.manager.mkTerm
        if term.op == "read":
            return make(kind.APPLY_UF, self._symbol(term.args[0]), self.known[term.args[1]])
        args = [self.known[arg] for arg in term.args]
        if term.op in ("abs", "min", "max"):
            if term.op == "abs":
                args.append(make(kind.NEG, args[0]))
            first = make(kind.LEQ if term.op == "min" else kind.GEQ, *args)
            return make(kind.ITE, first, *args)
        if term.op in ("//", "%"):
            quotient = self._quotient(term, *args)
            return quotient if term.op == "//" else make(kind.SUB, args[0], make(kind.MULT, args[1], quotient))
        return make(getattr(kind, _KINDS[term.op]), *args)

    def _symbol(self, term: Term, what: str = "value") -> Any:
        key = (what, term.name, term.side, term.sort)
        if key not in self.symbols:
            whole = self.manager.getIntegerSort()
            sort = self.manager.getBooleanSort() if term.sort == BOOL else whole
            if term.sort == LIST and what == "value":
                sort = self.manager.mkFunctionSort([whole], whole)
            self.symbols[key] = self.manager.mkConst(sort, f"{what} {show(term)}")
        return self.symbols[key]

    def _quotient(self, term: Term, left: Any, right: Any) -> Any:
        """left // right, rounded down; 0 where right is 0."""
        kind, make = self.cvc5.Kind, self.manager.mkTerm
        divisor = term.args[1]
        if not divisor.is_literal:
            return make(kind.APPLY_UF, self._division(), left, right)
        if divisor.leaf == 0:
            return self.manager.mkInteger(floor_divide(1, 0))
        # The solver's division leaves a remainder >= 0, which is rounding down where the divisor is above 0.
        if divisor.leaf < 0:
            left, right = make(kind.NEG, left), self.manager.mkInteger(str(-divisor.leaf))
        return make(kind.INTS_DIVISION, left, right)

    def _division(self) -> Any:
        if "//" not in self.symbols:
            whole = self.manager.getIntegerSort()
            self.symbols["//"] = self.manager.mkConst(self.manager.mkFunctionSort([whole, whole], whole), "//")
        return self.symbols["//"]

    def _defining(self, term: Term) -> list[Any]:
        """What it means to be the quotient, rounded down, of the arguments of a division."""
        kind, make = self.cvc5.Kind, self.manager.mkTerm
        left, right = (self.known[arg] for arg in term.args)
        zero, quotient = self.manager.mkInteger(0), self._quotient(term, left, right)
        low = make(kind.MULT, right, quotient)
        high = make(kind.ADD, low, right)
        above = make(kind.AND, make(kind.LEQ, low, left), make(kind.LT, left, high))
        below = make(kind.AND, make(kind.GEQ, low, left), make(kind.GT, left, high))
        return [
            make(kind.IMPLIES, make(kind.GT, right, zero), above),
            make(kind.IMPLIES, make(kind.LT, right, zero), below),
            make(kind.IMPLIES, make(kind.EQUAL, right, zero), make(kind.EQUAL, quotient, zero)),
        ]


_KINDS: Mapping[str, str] = {
    "+": "ADD", "-": "SUB", "*": "MULT", "neg": "NEG", "<=": "LEQ", "<": "LT", "==": "EQUAL",
    "and": "AND", "or": "OR", "not": "NOT", "=>": "IMPLIES", "ite": "ITE",
}  # fmt: skip


def _is_nonlinear(term: Term) -> bool:
    if term.op in ("//", "%"):
        return not term.args[1].is_literal
    return term.op == "*" and not any(arg.is_literal for arg in term.args)
