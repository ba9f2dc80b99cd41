"""Rules of sampling as automatic proofs use them: the cost goes to the ghost, the drawn value is substituted."""

from __future__ import annotations

from viameter.logic.kernel.assertion import Assertion
from viameter.logic.kernel.before import Choice, before_sample
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.lang.core import (
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Sample,
    Uniform,
)
from viameter.logic.lang.terms import show

RULES = {
    Laplace: "laplace",
    Exponential: "exponential",
    Gaussian: "gaussian",
    Flip: "flip",
    Uniform: "uniform",
    Choose: "choose",
    Call: "call",
}


def sample(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Judgment:
    """|- x :=$ law ~ x :=$ law : wp(Q) => Q, with the two draws coupled by the choice.

    **Laplace**, shift s: the pair is (v, v + s(v)). mu_L gives it the first run's probability of v, mu_R the second
    run's probability of v + s(v); s injective makes the second marginal at most the second run's law. The ratio is
    exp((|v + s - c2| - |v - c1|) / scale) <= exp(|s + c1 - c2| / scale), which the ghost is charged. v and s are
    integers: the law has no mass elsewhere.
    **Exponential**: the ratio is exp(s / scale) exactly, where both draws are at least 0.
    **Gaussian**: the shift does not depend on the draw, so that E[(mu_L/mu_R)^(a-1)] under mu_L is at most
    exp(a (a-1) s^2 / (2 sigma^2)) for every order a (shifts are whole); the ghost `rho` is charged a bound on it that
    is fixed before the draw, and products of conditional expectations telescope.
    **Flip**: (v, v xor s) with s fixed before the draw: a bijection; the ratio is at most max(p, 1-p) / min(p, 1-p).
    **Uniform**: a rotation of the range: a bijection, and all values are as likely.
    **Choose**: equal indices; exp((q1[i] - q2[i]) / scale) is at most exp(-low / scale), the normalizers' ratio at most
    exp(high / scale).
    **Call**: the mechanism's own guarantee, with equal outputs.
    """
    block = Block((statement,))
    notes = {"shift": show(choice.shift)}
    if choice.bounds:
        notes["bounds"] = ", ".join(show(bound) for bound in choice.bounds)
    return made(
        context=context, left=block, right=block, pre=before_sample(context, statement, choice, post), post=post,
        rule=RULES[type(statement.law)], line=statement.at, notes=notes,
    )  # fmt: skip
