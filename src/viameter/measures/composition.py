"""How losses of each measure compose: a theorem for each rule, and the table of where it holds.

| measure | rule | non-adaptive | adaptive | fully adaptive |
|---|---|---|---|---|
| PureDP | sum | concurrent | concurrent | concurrent |
| ApproxDP | sum | concurrent | concurrent | concurrent |
| ApproxDP | optimal | concurrent | concurrent | none |
| ZCDP | sum | concurrent | concurrent | concurrent |
| ApproxZCDP | sum | sequential | sequential | sequential |
| RenyiDP | sum | concurrent | concurrent | concurrent |
| GaussianDP | sum | concurrent | concurrent | concurrent |
| Profile | convolution | concurrent | concurrent | none |
| BoundedRange | sum | sequential | none | none |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from viameter.arith import add_settled_up
from viameter.core import Loss
from viameter.core.composability import (
    ADAPTIVE,
    CONCURRENT,
    FULLY_ADAPTIVE,
    NON_ADAPTIVE,
    SEQUENTIAL,
    Cell,
    Composability,
    Rule,
    declare_rules,
)
from viameter.measures.amounts import (
    ZCDP,
    ApproxDP,
    ApproxLoss,
    ApproxZCDP,
    ApproxZCDPLoss,
    BoundedRange,
    BoundedRangeLoss,
    GaussianDP,
    GaussianLoss,
    PureDP,
    PureLoss,
    ZCDPLoss,
)
from viameter.measures.curves import Profile, RenyiDP, RenyiLoss
from viameter.theorem import Numbers, theorem

HANEY = "Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang 2023"


@theorem(
    "pure-composition",
    cites=f"Dwork, McSherry, Nissim and Smith 2006; Vadhan and Wang 2021; Rogers et al. 2016; {HANEY}",
    numbers=Numbers.OUTWARD,
)
def pure_composition(losses: Sequence[PureLoss]) -> PureLoss:
    """Pure losses add, however mechanisms are chosen and interleaved.

    Theorem
        Mechanisms that are pure(e_i), interactive or not, are together pure(sum of e_i); also when each e_i, the
        mechanism and when to stop are chosen by the answers so far, for the sum at which it stopped.
    Requires
        All mechanisms run on the same data, or on data of the same neighbors, and each is pure(e_i) for those.
    Ensures
        The loss is the sum, exact or rounded up; of nothing it is pure(0).
    Proof
        The likelihood ratio of all answers is the product of the conditional ones, each at most exp(e_i). Interactive
        mechanisms are interactive post-processings of randomized response (Vadhan and Wang), which is not interactive.
    Example
        >>> from viameter.measures import pure
        >>> pure_composition([pure("1/10")] * 10)
        pure(1)
    """
    return PureDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem(
    "approx-composition",
    cites=f"Dwork, Kenthapadi, McSherry, Mironov and Naor 2006; Vadhan and Zhang 2023; Rogers, Roth, Ullman and Vadhan "
    f"2016, Lemma 3.5; {HANEY}",
    numbers=Numbers.OUTWARD,
)
def approx_composition(losses: Sequence[ApproxLoss]) -> ApproxLoss:
    """Approximate losses add, epsilons and deltas apart, however mechanisms are chosen and interleaved.

    Theorem
        Mechanisms that are approx(e_i, d_i), interactive or not, are together approx(sum of e_i, sum of d_i); also when
        parameters and when to stop are chosen by the answers so far, for the sums at which it stopped.
    Requires
        All mechanisms run on the same data, or on data of the same neighbors, and each has its loss for those.
    Ensures
        The loss is the pair of sums, exact or rounded up; a delta of 1 or more promises nothing and is written as 1.
    Proof
        An approx(e, d) mechanism is pure(e) except for a part of weight d. The parts of weight d_i are hit with
        probability at most the sum of d_i, and outside of them the losses are pure and add.
    Example
        >>> from viameter.measures import approx
        >>> approx_composition([approx("1/2", "1e-6"), approx(1, 0)])
        approx(3/2, 1/1000000)
    """
    return ApproxDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem(
    "zcdp-composition",
    cites=f"Bun and Steinke 2016, Lemma 1.7; Lyu 2022; Feldman and Zrnic 2021; {HANEY}",
    numbers=Numbers.OUTWARD,
)
def zcdp_composition(losses: Sequence[ZCDPLoss]) -> ZCDPLoss:
    """Concentrated losses add, however mechanisms are chosen and interleaved.

    Theorem
        Mechanisms that are zcdp(r_i), interactive or not, are together zcdp(sum of r_i); also when each r_i, the
        mechanism and when to stop are chosen by the answers so far, as long as the sum stays below a bound set before.
    Requires
        All mechanisms run on the same data, or on data of the same neighbors, and each is zcdp(r_i) for those.
    Ensures
        The loss is the sum, exact or rounded up; of nothing it is zcdp(0).
    Proof
        At each order a the conditional E[exp((a - 1) Z_i)] is at most exp((a - 1) a r_i), so that the product over the
        answers so far, divided by exp((a - 1) a (sum of r_i so far)), is a supermartingale that starts at 1.
    Example
        >>> from viameter.measures import zcdp
        >>> zcdp_composition([zcdp("1/8"), zcdp("3/8")])
        zcdp(1/2)
    """
    return ZCDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem(
    "approx-zcdp-composition",
    cites="Bun and Steinke 2016, Lemma 8.2; Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1",
    numbers=Numbers.OUTWARD,
)
def approx_zcdp_composition(losses: Sequence[ApproxZCDPLoss]) -> ApproxZCDPLoss:
    """Approximate concentrated losses add, rho and delta apart, one mechanism after the other.

    Theorem
        Mechanisms that are approx_zcdp(r_i, d_i), used one after the other, are together approx_zcdp(sum of r_i, sum of
        d_i); also when parameters and when to stop are chosen by the answers so far, as long as both sums stay below
        bounds set before.
    Requires
        Mechanisms are used sequentially: once the next one has begun, an interactive one answers no more. For
        interleaved use no theorem is known.
    Ensures
        The loss is the pair of sums, each exact or rounded up, so that neither is below the exact sum; a delta of 1 or
        more promises nothing and is written as 1.
    Proof
        Each mechanism is zcdp(r_i) conditioned on an event that it misses with probability d_i at most. On all these
        events together, which are missed with probability at most the sum of d_i, concentrated losses add.
    Example
        >>> from viameter.measures import approx_zcdp
        >>> approx_zcdp_composition([approx_zcdp("1/8", "1e-9"), approx_zcdp("1/8", "1e-9")])
        approx_zcdp(1/4, 1/500000000)
    """
    return ApproxZCDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem(
    "renyi-composition",
    cites=f"Mironov 2017, Proposition 1; Lyu 2022; Feldman and Zrnic 2021; {HANEY}",
    numbers=Numbers.OUTWARD,
)
def renyi_composition(losses: Sequence[RenyiLoss]) -> RenyiLoss:
    """Renyi losses add order by order, however mechanisms are chosen and interleaved.

    Theorem
        Mechanisms with Renyi divergence at most r_i(a) at order a, interactive or not, have together at most the sum of
        r_i(a), at each order a. When parameters and when to stop are chosen by the answers so far, this holds at every
        order whose sum stays below a bound set before; to pick the best order afterwards is to use them all.
    Requires
        All mechanisms run on the same data, or on data of the same neighbors. A filter keeps every order of its budget
        below its bound: that is what its comparison of losses asks.
    Ensures
        The loss at each order that all of them bound is the sum there, exact or rounded up.
    Proof
        As for zcdp-composition, at one order.
    Example
        >>> from viameter.measures import renyi
        >>> renyi_composition([renyi({2: "0.1"}), renyi({2: "0.2", 8: 1})])
        renyi({2: 3/10})
    """
    return RenyiDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem(
    "gdp-composition",
    cites="Dong, Roth and Su 2019, Corollary 3.3; Vadhan and Zhang 2023; Smith and Thakurta 2022; Koskela et al. 2023; "
    f"{HANEY}",
    numbers=Numbers.OUTWARD,
)
def gdp_composition(losses: Sequence[GaussianLoss]) -> GaussianLoss:
    """Squares of Gaussian losses add, however mechanisms are chosen and interleaved.

    Theorem
        Mechanisms that are gdp(m_i), interactive or not, are together gdp(m) with m^2 = sum of m_i^2; also when
        parameters and when to stop are chosen by the answers so far, as long as the sum stays below a bound set before.
    Requires
        All mechanisms run on the same data, or on data of the same neighbors, and each is as hard to tell as N(0, 1)
        from N(m_i, 1). Discrete Gaussian noise is not: it counts in zCDP.
    Ensures
        The square of the loss is the sum of the squares, exact or rounded up.
    Proof
        A gdp(m) mechanism is a post-processing of N(0, 1) against N(m, 1); those together are one Gaussian in as many
        dimensions, whose shift has the squared length sum of m_i^2. The part of it that is left unspent when it stops
        can be released as well, which makes every path the same.
    Example
        >>> from viameter.measures import gdp
        >>> gdp_composition([gdp(3), gdp(4)])
        gdp(5)
    """
    return GaussianDP.total(losses)  # type: ignore[return-value]  # a total is of its measure


@theorem("bounded-range-composition", cites="Dong, Durfee and Rogers 2020, Section 2", numbers=Numbers.OUTWARD)
def bounded_range_composition(losses: Sequence[BoundedRangeLoss]) -> BoundedRangeLoss:
    """Ranges add where all mechanisms are fixed before the first answer.

    Theorem
        One-shot mechanisms that are bounded_range(n_i), all fixed before the first answer, are together
        bounded_range(sum of n_i).
    Requires
        No mechanism is chosen by the answer of another: then the range of all is not bounded by the sum.
    Ensures
        The range is the sum, exact or rounded up.
    Proof
        The privacy loss of all answers is a sum of one loss for each, and each moves in an interval of length n_i that
        does not depend on the other answers. Chosen by earlier answers, the interval would move with them.
    Example
        >>> from viameter.measures import bounded_range
        >>> bounded_range_composition([bounded_range("1/2")] * 3)
        bounded_range(3/2)
    """
    total = BoundedRange.zero
    for loss in losses:
        total._same_measure(loss, "composed")
        total = BoundedRangeLoss(add_settled_up(total.eta, loss.eta))
    return total


def _everywhere(composability: Composability, non_adaptive: str, adaptive: str, fully_adaptive: str) -> dict[Any, Cell]:
    cites = {NON_ADAPTIVE: non_adaptive, ADAPTIVE: adaptive, FULLY_ADAPTIVE: fully_adaptive}
    return {adaptivity: Cell(composability, text) for adaptivity, text in cites.items()}


def _sum(theorem: Callable[[Any], Loss], table: dict[Any, Cell], instead: str = "") -> Rule:
    return Rule("sum", table, instead, theorem)


_LYU = "Bun and Steinke 2016, Lemma 1.7; Lyu 2022"
_OPTIMAL = "Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016; Lyu 2022; Vadhan and Zhang 2023"
_NOT_FULLY_ADAPTIVE = (
    "bounds that are optimal for parameters fixed in advance fail when an answer chooses the next parameters or when "
    "to stop"
)

declare_rules(
    PureDP,
    _sum(
        pure_composition,
        _everywhere(
            CONCURRENT,
            "Dwork et al. 2006; Vadhan and Wang 2021",
            "Dwork et al. 2006; Vadhan and Wang 2021",
            f"Rogers et al. 2016; {HANEY}",
        ),
    ),
)
declare_rules(
    ApproxDP,
    _sum(
        approx_composition,
        _everywhere(
            CONCURRENT,
            "Dwork et al. 2006; Vadhan and Zhang 2023",
            "Dwork et al. 2006; Vadhan and Zhang 2023",
            f"Rogers et al. 2016, Lemma 3.5; {HANEY}",
        ),
    ),
    Rule(
        "optimal",
        {NON_ADAPTIVE: Cell(CONCURRENT, _OPTIMAL), ADAPTIVE: Cell(CONCURRENT, _OPTIMAL)},
        f"{_NOT_FULLY_ADAPTIVE}; use rule='sum', or a filter with rule='concentrated'",
    ),
)
declare_rules(ZCDP, _sum(zcdp_composition, _everywhere(CONCURRENT, _LYU, _LYU, f"Feldman and Zrnic 2021; {HANEY}")))
declare_rules(
    ApproxZCDP,
    _sum(
        approx_zcdp_composition,
        _everywhere(
            SEQUENTIAL,
            "Bun and Steinke 2016, Lemma 8.2",
            "Bun and Steinke 2016, Lemma 8.2",
            "Whitehouse et al. 2023, Theorem 1",
        ),
    ),
)
declare_rules(
    RenyiDP,
    _sum(
        renyi_composition,
        _everywhere(
            CONCURRENT,
            "Mironov 2017, Proposition 1; Lyu 2022",
            "Mironov 2017, Proposition 1; Lyu 2022",
            f"Feldman and Zrnic 2021; {HANEY}; at every order that is kept below its budget",
        ),
    ),
)
declare_rules(
    GaussianDP,
    _sum(
        gdp_composition,
        _everywhere(
            CONCURRENT,
            "Dong, Roth and Su 2019, Corollary 3.3; Vadhan and Zhang 2023",
            "Dong, Roth and Su 2019, Corollary 3.3; Vadhan and Zhang 2023",
            f"Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023; {HANEY}",
        ),
    ),
)
declare_rules(
    Profile,
    Rule(
        "convolution",
        {
            NON_ADAPTIVE: Cell(CONCURRENT, "Dong, Roth and Su 2019; Vadhan and Zhang 2023"),
            ADAPTIVE: Cell(CONCURRENT, "Dong, Roth and Su 2019; Vadhan and Zhang 2023"),
        },
        f"{_NOT_FULLY_ADAPTIVE}; count the mechanisms in ZCDP, RenyiDP or ApproxDP",
    ),
)
declare_rules(
    BoundedRange,
    _sum(
        bounded_range_composition,
        {NON_ADAPTIVE: Cell(SEQUENTIAL, "Dong, Durfee and Rogers 2020, Section 2; one-shot mechanisms")},
        "ranges do not add when a mechanism is chosen by an earlier answer; convert each, .to(ZCDP) or .to(PureDP)",
    ),
)
