"""Programs, relations and contexts for tests of the kernel, in a few words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from viameter.errors import ViameterError
from viameter.logic.kernel.assertion import Assertion, Clause
from viameter.logic.kernel.context import Context, units_for
from viameter.logic.kernel.derive import derive
from viameter.logic.kernel.judgment import Judgment, Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.core import Program, assigned
from viameter.logic.lang.parsing import read_amount, read_program, read_term
from viameter.logic.lang.scales import Amount, Unit
from viameter.logic.lang.terms import Sort, Term
from viameter.logic.neighbors import Neighbors, sorts_of
from viameter.logic.solving.oracle import Oracle

CLOSE = "abs(q<1> - q<2>) <= 1"
"""The two runs' q differ by at most 1."""


def program(
    *body: str,
    returns: str = "r",
    inputs: Sequence[str] = ("q: int",),
    budgets: Sequence[str] = ("eps",),
    requires: Sequence[str] = (),
    each: Sequence[str] = (),
) -> Program:
    """A program from its lines; the body's first line is line `first_line(...)`."""
    head = ["program p", *(f"input {x}" for x in inputs), *(f"budget {x}" for x in budgets)]
    head += [*(f"requires {x}" for x in requires), *(f"each {x}" for x in each), "begin"]
    return read_program("\n".join([*head, *body, "end", f"return {returns}"]) + "\n")


def relation(
    made: Program,
    *facts: str,
    each: Mapping[str, str] | None = None,
    private: Iterable[str] = ("q",),
    constants: Sequence[str] = (),
) -> Neighbors:
    """A relation between inputs from the text of its facts."""
    sorts = sorts_of(made, tuple(constants))
    return Neighbors(
        frozenset(private),
        tuple(read_term(text, sorts) for text in facts),
        tuple((name, read_term(text, sorts)) for name, text in (each or {}).items()),
        tuple(constants),
        "as the test says",
    )


def amount(made: Program, text: str) -> Amount:
    """A claim from its text."""
    return read_amount(text, frozenset({*made.budgets, "delta", "rho"}), {e.name: e.sort for e in made.inputs})


def oracle(made: Program, claim: str, *facts: str, units: Mapping[str, Unit] | None = None, **more: Any) -> Oracle:
    """An oracle for a program, a claim and a relation."""
    found = relation(made, *(facts or (CLOSE,)), **more)
    return Oracle(Context(made, found, units or units_for(made, amount(made, claim))))


def term(asks: Oracle, text: str, *integers: str) -> Term:
    """A term over the variables of the program, its inputs, constants and ghosts, and other integers."""
    context = asks.context
    sorts: dict[str, Sort] = dict(sorts_of(context.program, context.neighbors.constants))
    for var in assigned(context.program.body):
        sorts[var.name] = var.sort
        if var.sort == "list":
            sorts[f"same.{var.name}"] = "bool"
    sorts |= {f"cost.{base}": "int" for base in context.units}
    return read_term(text, sorts | dict.fromkeys(("out.R", *integers), "int"))


def facts(asks: Oracle, *texts: str, integers: Sequence[str] = ()) -> Assertion:
    """An assertion from the texts of its clauses."""
    return tuple(Clause(term(asks, text, *integers)) for text in texts)


def prove(asks: Oracle, claim: str, proof: Proof | None = None) -> Judgment:
    """The judgment for the whole program, by the rules."""
    return derive(asks, amount(asks.context.program, claim), proof or Proof())


def proves(asks: Oracle, claim: str, proof: Proof | None = None) -> bool:
    """Whether the rules give a judgment for the whole program."""
    try:
        prove(asks, claim, proof)
    except Unproved:
        return False
    return True


def refused(act: Callable[[], object]) -> bool:
    """Whether this ends in an error of the library."""
    try:
        act()
    except ViameterError:
        return True
    return False
