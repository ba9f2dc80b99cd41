"""What an accountant reads, made anew of what it has counted: products of pairs, sums, moments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from viameter.arith import Extended
from viameter.composition.accounting.claims import claims_pair
from viameter.composition.accounting.contour import Transforms, contour_delta
from viameter.composition.accounting.enumeration import enumerable, points_delta
from viameter.composition.accounting.judging import Judgement
from viameter.composition.accounting.moments import Moments, moments_delta, moments_epsilon
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.sums import Sums
from viameter.composition.accounting.tight import TightAccount
from viameter.theorem import theorem_of

Counted = tuple[Judgement, int]


@dataclass(slots=True)
class Tight:
    """One product for each order of neighbors: the same object where both orders are alike."""

    name: str
    removal: TightAccount
    addition: TightAccount

    def epsilon(self, delta: Fraction) -> Extended:
        """An epsilon that is enough in both orders."""
        return max(account.epsilon(delta) for account in self._orders())

    def delta(self, epsilon: Fraction) -> Fraction:
        """A delta that is enough in both orders."""
        return max(account.delta(epsilon) for account in self._orders())

    @property
    def slug(self) -> str:
        """The theorem that reads it."""
        few = all(enumerable(account.product) for account in self._orders())
        return theorem_of(points_delta if few else contour_delta).slug

    def _orders(self) -> tuple[TightAccount, ...]:
        return (self.removal,) if self.removal is self.addition else (self.removal, self.addition)


@dataclass(slots=True)
class Terms:
    """Everything that was counted, in several representations."""

    sums: Sums = field(default_factory=Sums)
    moments: tuple[Moments, ...] = ()
    """For each order of neighbors that differs."""
    tight: tuple[Tight, ...] = ()
    has_claims: bool = False
    """Whether moments may be better than loss distributions."""
    mu_squared: Fraction | None = None
    """Where all is continuous Gaussian noise: how much of it."""

    def moments_epsilon(self, delta: Fraction) -> Extended:
        """An epsilon by moments."""
        return max(moments_epsilon(moments, delta=delta) for moments in self.moments)

    def moments_delta(self, epsilon: Fraction) -> Fraction:
        """A delta by moments."""
        return max(moments_delta(moments, epsilon=epsilon) for moments in self.moments)


def terms_of(counted: Iterable[Counted], transforms: Transforms) -> Terms:
    """All representations of mechanisms, each so many times."""
    known = tuple(counted)
    terms = Terms()
    for judgement, count in known:
        terms.sums.add(judgement.epsilon, judgement.delta, count)
    symmetric = all(judgement.removal is judgement.addition for judgement, _ in known)
    terms.moments = tuple(_moments(known, removal) for removal in ([True] if symmetric else [True, False]))
    terms.tight = (_tight("loss distribution", known, transforms, prefer_claims=False),)
    if any(judgement.prefers_claim for judgement, _ in known):
        terms.tight += (_tight("loss distribution, ranges by zCDP", known, transforms, prefer_claims=True),)
    terms.has_claims = any(judgement.removal is None or judgement.prefers_claim for judgement, _ in known)
    product = terms.tight[0].removal.product
    terms.mu_squared = product.mu_squared if product.mu_squared and not product.counts else None
    return terms


def _moments(counted: tuple[Counted, ...], removal: bool) -> Moments:
    moments = Moments()
    for judgement, count in counted:
        pair = judgement.removal if removal else judgement.addition
        if judgement.claim is not None:
            moments.claim(judgement.claim, count)
        elif pair is not None:
            moments.product.add(pair, count)
    return moments


def _tight(name: str, counted: tuple[Counted, ...], transforms: Transforms, *, prefer_claims: bool) -> Tight:
    """Products of pairs; what has none, or is better off without, is one pair by dominating-moments."""
    removal, addition, claims = Product(), Product(), Moments()
    for judgement, count in counted:
        if judgement.removal is None or judgement.addition is None or (prefer_claims and judgement.prefers_claim):
            assert judgement.claim is not None
            claims.claim(judgement.claim, count)
        else:
            removal.add(judgement.removal, count)
            addition.add(judgement.addition, count)
    for product in (removal, addition):
        product.add(claims_pair(claims), 1)
    first = TightAccount(removal, transforms)
    symmetric = all(judgement.removal is judgement.addition for judgement, _ in counted)
    return Tight(name, first, first if symmetric else TightAccount(addition, transforms))
