"""What rules with a fixed budget share: terms that stay the same, facts that survive, and what ghosts may hide.

A judgment's budget is spent on every path, so that it is made of terms that no run changes: public inputs, lengths,
logical constants. A judgment is *still* if the ghost cost is the same afterwards; then, and only then, is the budget
all that it says about cost, as in the judgments of the slides.
"""

from __future__ import annotations

from collections.abc import Mapping

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion
from viameter.logic.kernel.context import RESULT, Context, same
from viameter.logic.kernel.judgment import Judgment
from viameter.logic.lang.core import Block, assigned
from viameter.logic.lang.terms import App, Term, Var, show, variables

COUNTED = "count."
"""Logical constants of loops that are counted: `count.LINE` is the value of the variant before an iteration."""
_FREE = frozenset({
    "skip", "assign", "assign-one", "append", "append-one", "seq", "cond", "cond-one", "while", "consequence",
    "uniform", "lap-shifted", "lap-null", "lap-interval", "finite", "call-fixed", "awhile", "case", "frame", "bad",
    "reorder", "advanced",
})  # fmt: skip
"""Rules that leave the ghost cost as their premises leave it; of a rule that is not listed nothing is known."""
_SETTLED = frozenset({"settle", "pointwise"})
"""Rules that put the ghost cost back, whatever their premises do."""
Budget = Mapping[str, Term]


def counter(line: int) -> Var:
    """The logical constant of the loop at a line: the value of its variant before the iteration that is spoken of."""
    return Var(f"{COUNTED}{line}")


def new_counter(context: Context, line: int) -> Var:
    """The same, if nothing is known of it: an adjacency that had such a constant would speak of one iteration alone."""
    found = counter(line)
    if found.name in {*context.neighbors.constants, *(entry.name for entry in context.program.inputs)}:
        raise ParameterError(f"{found} is a constant of the adjacency: rename it, it stands for the iteration here")
    return found


def is_drawn(var: Var) -> bool:
    """Whether it is a value drawn by a rule for sampling, quantified where it stands."""
    return ".v" in var.name


def is_cost(var: Var) -> bool:
    """Whether it is a ghost that counts cost."""
    return var.name.startswith("cost.")


def names_cost(assertion: Assertion) -> bool:
    """Whether an assertion speaks of what was spent."""
    return any(is_cost(var) for entry in assertion for var in variables(entry.term))


def is_still(judgment: Judgment) -> bool:
    """Whether its derivation leaves the ghost cost as it was: nothing is spent by ghosts, or it was settled.

    The rules for sampling spend by ghosts (but for uniform draws, which are free), and so does `charge`.
    """
    seen: set[int] = set()
    rest = [judgment]
    while rest:
        top = rest.pop()
        if id(top) in seen or top.rule in _SETTLED:
            continue
        if top.rule not in _FREE:
            return False
        seen.add(id(top))
        rest.extend(top.premises)
    return True


def loose_parts(context: Context, term: Term, *, public: bool = False) -> list[str]:
    """The parts of a term that may change, or differ between runs; with `public`, logical constants are loose too."""
    names = set(context.public)
    if not public:
        names |= {*context.neighbors.constants, RESULT.name}
    names -= context.neighbors.private | {var.name for var in assigned(context.program.body)}

    def walk(part: Term) -> list[str]:
        match part:
            case Var(name=name, side=0) if name in names or (name.startswith(COUNTED) and not public):
                return []
            case Var():
                return [str(part)]
            case App("len", (Var(name=name),)) if context.program.input(name) is not None:
                return []
            case App(_, args):
                return [loose for arg in args for loose in walk(arg)]
        return []

    return walk(term)


def check_fixed(context: Context, term: Term, what: str) -> None:
    """A term over public inputs, lengths of inputs and logical constants: the same on every path, in both runs."""
    loose = loose_parts(context, term)
    if loose:
        raise ParameterError(
            f"{what}, {show(term)}, depends on {', '.join(loose)}: expected a term over public inputs, lengths of "
            "lists and logical constants"
        )


def check_budget(context: Context, budget: Budget) -> None:
    """Every amount is fixed, and counted in a unit of the context."""
    for base, amount in budget.items():
        if base not in context.units:
            raise ParameterError(f"nothing is counted in {base!r} here; known: {', '.join(sorted(context.units))}")
        check_fixed(context, amount, f"the budget of {base}")


def check_relational(context: Context, term: Term, what: str, *, ghosts: bool = False) -> None:
    """A term about two memories: variables of the program in a run, or what both runs share; no drawn values."""
    known = {var.name for var in assigned(context.program.body)} | context.neighbors.private
    lists = {same(var).name for var in assigned(context.program.body) if var.sort == "list"}
    for var in variables(term):
        if var.side in (1, 2) and var.name in known:
            continue
        if var.side == 0 and var.sort == "list" and context.program.input(var.name) is not None:
            continue
        ghost = is_cost(var) or var.name in lists
        if var.side == 0 and (ghosts if ghost else not loose_parts(context, var)):
            continue
        raise ParameterError(f"{what}, {show(term)}, speaks of {var}, which is no variable of a run and not shared")


def why_changed(variable: Var, left: Block, right: Block) -> str:
    """Why a fact about a variable may not survive two blocks; empty if it does."""
    if is_drawn(variable):
        return "it is a drawn value"
    changed = {side: assigned(block) for side, block in ((1, left), (2, right))}
    names = {side: {var.name for var in found} for side, found in changed.items()}
    names[0] = names[1] | names[2] | {same(var).name for found in changed.values() for var in found}
    return "it is assigned or appended to" if variable.name in names[variable.side] else ""
