"""The theorems of composition under any neighborhood, and their corollaries in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.measures.amounts import PureLoss
from viameter.measures.groups import group_loss
from viameter.theorem import Numbers, theorem

GUERRA = "Guerra-Balboa, Miranda-Pascual, Parra-Arnau and Strufe 2024"


@theorem(
    "general-composition",
    cites=f"{GUERRA}, Theorem III.1; the maximum over patterns is derived here",
    numbers=Numbers.OUTWARD,
)
def general_composition(losses: Sequence[Loss]) -> Loss:
    """Mechanisms on parts of the data cost, on neighbors, what the leaves cost that these touch, at the worst.

    Theorem
        Let each leaf i be a deterministic map f_i of the data and a mechanism that costs F_i(m) on images m steps apart
        in the leaf's own granularity. On neighbors D, D' of the target's granularity, all mechanisms together cost the
        composition of F_i(m_i) with m_i the distance of f_i(D) and f_i(D'). So they are private for the target's
        granularity with the largest of these over all touch patterns (m_1, ..., m_k) that neighbors have.
    Requires
        Each leaf has its loss, and depends on the data through its map only. No pattern of neighbors is left out: each
        cut says which there are, or more than there are. Losses that depend on the pattern in several numbers are
        bounded number by number.
    Ensures
        The loss is the composition of the given ones, those of the leaves on the worst pattern.
    Proof
        Given D and D', leaf i runs a fixed mechanism on two inputs at the distance m_i, at the cost F_i(m_i); these
        compose as mechanisms do on one pair of inputs. The guarantee is the largest over pairs. For pure losses,
        M_i(y) = 0 with probability exp(-e_i d_i(y, f_i(D))) / 2, else 1, is e_i d_i-private, and all zeros are as
        likely as the bound says: so the bound cannot be lowered. Gaussians do the same for zCDP and Gaussian losses.
    Example
        >>> from viameter.measures import pure
        >>> general_composition([pure("1/5"), pure("3/10")])
        pure(1/2)
    """
    given = list(losses)
    if not given:
        raise ParameterError("no losses: a pattern that touches no leaf costs nothing, in whatever measure")
    return given[0].measure.total(given)


@theorem(
    "common-domain-composition",
    cites=f"{GUERRA}, Theorem III.4; the quotient space is derived here",
    numbers=Numbers.OUTWARD,
)
def common_domain_composition(losses: Sequence[Loss]) -> Loss:
    """Mechanisms that are private on all of the data, and look at parts, cost what the touched ones cost.

    Theorem
        Let M_i = M_i* after f_i be private for a granularity G_i on the whole database class, with loss F_i(m) at m
        steps. Then on images y, y' of f_i the mechanism M_i* costs F_i of the least distance between data with those
        images, or less by a way over several images; in particular nothing if y = y'. The general composition theorem
        then holds with these distances, in the quotient of the class by f_i.
    Requires
        M_i is private on the whole class, where the rest of the data may be anything, and depends on f_i only.
    Ensures
        The loss is the composition of the given ones, those of the touched leaves on the worst pattern.
    Proof
        M_i*(y) is M_i(D) for every D with f_i(D) = y, so any two data with the images y and y' bound its cost, and the
        nearest do so best. A law F(m) = m e, m^2 rho or m mu is that of the quotient pseudometric, the shortest way.
        For any other F, a way of several hops costs what its hops come to by the law for groups, never F at its length.
    Example
        >>> from viameter.measures import pure
        >>> common_domain_composition([pure("1/2"), pure("3/10")])
        pure(4/5)
    """
    return general_composition(losses)


@theorem("parallel-composition", cites=f"McSherry 2009, Theorem 4; {GUERRA}, Theorem II.6, conditions C1 and C2")
def parallel_composition(losses: Sequence[PureLoss]) -> PureLoss:
    """Mechanisms on parts of which a step touches one at most, by one step, cost the largest of their losses.

    Theorem
        If for all neighbors at most one part changes (C1), and no part moves more than one step (C2), mechanisms that
        are pure(e_i) on their parts are together pure(max e_i).
    Requires
        C1 and C2: with one record added or removed, and parts by value, both hold; with one record replaced, neither.
    Ensures
        The loss is the largest.
    Proof
        The touch patterns are those with one 1 and else 0: the general composition theorem.
    Example
        >>> from viameter.measures import pure
        >>> parallel_composition([pure("1/5"), pure("1/2"), pure("3/10")])
        pure(1/2)
    """
    return max(losses, key=lambda loss: loss.epsilon, default=PureLoss(Fraction(0)))


@theorem("bounded-disjoint-composition", cites=f"{GUERRA}, Corollary III.5")
def bounded_disjoint_composition(losses: Sequence[PureLoss]) -> PureLoss:
    """Mechanisms on disjoint parts cost the two largest losses if one record is replaced.

    Theorem
        Mechanisms that are pure(e_i) for bounded neighbors on the whole data, each depending on one part of a partition
        by value, are together pure(e) for bounded neighbors, with e the largest e_i + e_j over i != j. With one part
        only, e is e_1.
    Requires
        Each is private on the whole data (the common domain). On the parts' own data a replaced record changes the
        size of two parts, which bounded privacy says nothing of: then the loss is infinite.
    Ensures
        The loss is the sum of the two largest.
    Proof
        A replaced record changes at most the part it was in and the part that it is in now; Theorem III.4.
    Example
        >>> from viameter.measures import pure
        >>> bounded_disjoint_composition([pure("1/5"), pure("1/2"), pure("3/10")])
        pure(4/5)
    """
    two = sorted((loss.epsilon for loss in losses), reverse=True)[:2]
    if INFINITY in two:
        return PureLoss(INFINITY)
    return PureLoss(sum((Fraction(epsilon) for epsilon in two), Fraction(0)))


@theorem(
    "granularity-translation",
    cites=f"{GUERRA}, Section II (canonical metrics); Dwork and Roth 2014, Theorem 2.2",
    numbers=Numbers.OUTWARD,
)
def granularity_translation(loss: Loss, *, distance: Extended) -> Loss:
    """A guarantee for one granularity is one for another, at the distance that the other's neighbors have in it.

    Theorem
        If a mechanism has the loss l for the neighbors of one granularity, and neighbors of another are at most m steps
        of the first apart, it has for those the loss of l at m steps by the law for groups.
    Requires
        m bounds the first granularity's canonical metric on every pair of neighbors of the other, along data of the
        class. Where there is no way of steps m is infinite, and so is the loss.
    Ensures
        The loss is that at `distance` steps: m e for pure, m^2 rho for zCDP, m mu for Gaussian losses.
    Proof
        Group privacy along a way of m neighbors.
    Example
        >>> from viameter.measures import zcdp
        >>> granularity_translation(zcdp("1/10"), distance=2)
        zcdp(2/5)
    """
    return group_loss(loss, distance)
