"""From the choices of a proof to a judgment about the whole program, by the rules alone."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, Clause, conjunction
from viameter.logic.kernel.context import RESULT, Context, check_speaks, cost, same
from viameter.logic.kernel.judgment import Asks, Judgment, Obligation, Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.loops import body_post, while_
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.kernel.rules.structure import append, append_one, assign, assign_one, cond, cond_one, seq, skip
from viameter.logic.kernel.rules.weakening import consequence
from viameter.logic.kernel.wellformed import check_claim
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    If,
    Program,
    Sample,
    Statement,
    While,
    assigned,
    statements_of,
)
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import FALSE, ONE, ZERO, Term, Var, add, eq, implies, le, sort_of


def bounds_of(context: Context, claim: Amount) -> dict[str, Term]:
    """The claim in units, by base: 0 for a base in which the program spends and that the claim does not name."""
    check_claim(context.program, context.neighbors, claim)
    found: dict[str, Term] = dict.fromkeys(context.units, ZERO)
    for part in claim.parts:
        if part.base not in found:
            raise ParameterError(f"nothing is counted in {part.base!r} here; make units with units_for(program, claim)")
        found[part.base] = add(found[part.base], context.units[part.base].count(part))
    return found


def goal(context: Context, claim: Amount, *, pointwise: bool) -> Assertion:
    """What a program must end in: equal outputs within the claim; pointwise, for the output that is asked about."""
    output = context.program.output
    bounds = bounds_of(context, claim)
    spent, ended = last_draw(context.program), last_output(context.program)
    within = [Clause(le(cost(base), most), f"the cost stays within {claim}", spent) for base, most in bounds.items()]
    first, second = Var(output.name, output.sort, 1), Var(output.name, output.sort, 2)
    if not pointwise:
        equal = same(output) if output.sort == "list" else eq(first, second)
        return conjunction((Clause(equal, "both runs have the same output", ended), *within))
    asked = eq(first, RESULT)
    ends = (Clause(eq(second, RESULT), "the second run has the output of the first", ended), *within)
    return conjunction(Clause(implies(asked, entry.term), entry.what, entry.line) for entry in ends)


def last_draw(program: Program) -> int:
    """The line of the last draw, where the whole cost is known; 0 if there is none."""
    return max((s.at for s in statements_of(program.body) if isinstance(s, Sample)), default=0)


def last_output(program: Program) -> int:
    """The line that gives the output its value, the last of them; 0 if there is none."""
    return max((s.at for s in statements_of(program.body) if getattr(s, "target", None) == program.output), default=0)


def start(context: Context) -> Assertion:
    """What holds before the first statement: variables are 0, false or empty, nothing was spent."""
    known: list[Clause] = [Clause(eq(cost(base), ZERO)) for base in context.units]
    for var in sorted(assigned(context.program.body), key=lambda v: v.name):
        if var.sort == "list":
            known.append(Clause(same(var)))
            continue
        empty = FALSE if var.sort == "bool" else ZERO
        known += [Clause(eq(Var(var.name, var.sort, side), empty)) for side in (1, 2)]
    return conjunction(known)


def derive(asks: Asks, claim: Amount, proof: Proof) -> Judgment:
    """|- program ~ program : start => goal, or `Unproved` with the obligation that fails."""
    context = asks.context
    check_admissible(context, proof)
    for line, found in proof.invariants.items():
        for term in found:
            check_speaks(context, term, ghosts=True, where=f"line {line}")
    demand_factors(asks, claim)
    body = _block(asks, context.program.body, goal(context, claim, pointwise=proof.pointwise), proof)
    return consequence(asks, body, pre=start(context))


def demand_factors(asks: Asks, claim: Amount) -> None:
    """Factors of scales are at least 1, and no term of the claim is negative, by what the program requires alone.

    The oracle takes the former for known elsewhere.
    """
    context = asks.context
    goals = [(le(ONE, factor), f"the factor {factor} of a scale is positive") for factor in context.factors()]
    bound = dict.fromkeys(factor for part in claim.parts for factor in part.factors)
    goals += [(le(ZERO, factor), f"the factor {factor} of the bound is not negative") for factor in bound]
    for goal_, what in goals:
        obligation = Obligation((), goal_, what, 0, "scale")
        answer = asks.ask_without_positivity(obligation)
        if not answer.holds:
            raise Unproved(obligation, answer)


def check_admissible(context: Context, proof: Proof) -> None:
    """What a proof may combine: pointwise equality and concentrated cost have conditions of their own."""
    program: Program = context.program
    if proof.pointwise and sort_of(program.output) != "int":
        raise ParameterError("a pointwise proof needs an output that is an integer")
    mixed = set(context.units) - {"rho"}
    if "rho" in context.units and (mixed or proof.pointwise):
        raise ParameterError("concentrated cost (rho) stands alone, and in proofs of equality")
    if proof.pointwise and "delta" in context.units:
        raise ParameterError("a pointwise proof sums delta over all outputs: it needs delta = 0")


def _block(asks: Asks, block: Block, post: Assertion, proof: Proof) -> Judgment:
    context = asks.context
    found: Judgment | None = None
    for statement in reversed(block.statements):
        step = _statement(asks, statement, post, proof)
        found = step if found is None else seq(step, found)
        post = step.pre
    return skip(context, post) if found is None else found


def _statement(asks: Asks, statement: Statement, post: Assertion, proof: Proof) -> Judgment:
    context = asks.context
    match statement:
        case Assign():
            return assign(context, statement, post)
        case Append():
            return append(context, statement, post)
        case Sample():
            return sample(context, statement, proof.choice(statement), post)
        case If() if statement.at in proof.split:
            second = _one_sided(context, Block((statement,)), post, 2)
            first = _one_sided(context, Block((statement,)), second.pre, 1)
            return seq(first, second)
        case If():
            then = _block(asks, statement.then, post, proof)
            orelse = _block(asks, statement.orelse, post, proof)
            return cond(statement, statement, then, orelse)
        case While():
            return _loop(asks, statement, post, proof)
    return skip(context, post)


def _loop(asks: Asks, loop: While, post: Assertion, proof: Proof) -> Judgment:
    context = asks.context
    if loop.at not in proof.variants:
        raise ParameterError(f"line {loop.at}: the loop has no variant: it is not known to end")
    invariant = conjunction(
        Clause(term, f"the invariant {term} holds", loop.at) for term in proof.invariants.get(loop.at, ())
    )
    variant = proof.variants[loop.at]
    runs = (context.run(variant, 1), context.run(variant, 2))
    body = _block(asks, loop.body, body_post(runs, loop.at, invariant), proof)
    return consequence(asks, while_(asks, loop, invariant, variant, body), post=post)


def _one_sided(context: Context, block: Block, post: Assertion, side: int) -> Judgment:
    found: Judgment | None = None
    for statement in reversed(block.statements):
        match statement:
            case Assign():
                step = assign_one(context, statement, post, side=side)
            case Append():
                step = append_one(context, statement, post, side=side)
            case If():
                then = _one_sided(context, statement.then, post, side)
                orelse = _one_sided(context, statement.orelse, post, side)
                step = cond_one(statement, then, orelse, side=side)
            case _:
                raise ParameterError(f"line {statement.at}: a branch that the runs take apart has no noise and no loop")
        found = step if found is None else seq(step, found)
        post = step.pre
    return skip(context, post) if found is None else found
