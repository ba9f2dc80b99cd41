"""The accountant: counts descriptions of mechanisms in several representations at once, and answers by the best.

For mechanisms whose parameters are fixed in advance; the mechanisms themselves may be chosen adaptively. Never as a
filter or an odometer: "epsilon so far" while parameters depend on answers is not what these theorems speak of.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Concatenate, ParamSpec, TypeVar

from viameter.arith import INFINITY, ZERO, Extended, Number, nonnegative, probability, show
from viameter.composition.accounting.continuous import gaussian_delta, gaussian_epsilon
from viameter.composition.accounting.contour import Transforms
from viameter.composition.accounting.descriptions import (
    KINDS,
    Approximate,
    BoundedRange,
    DiscreteLaplace,
    Mechanism,
    PoissonSubsampled,
    Pure,
    RandomizedResponse,
    Together,
    is_idealized,
)
from viameter.composition.accounting.judging import Judgement, judge
from viameter.composition.accounting.kov import optimal_delta, optimal_epsilon
from viameter.composition.accounting.moments import moments_epsilon
from viameter.composition.accounting.ranges import range_delta, range_epsilon
from viameter.composition.accounting.reading import read_count
from viameter.composition.accounting.sums import sums_epsilon
from viameter.composition.accounting.terms import Terms, terms_of
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.curves import ProfileLoss
from viameter.theorem import Numbers, theorem_of

ONE = Fraction(1)

P = ParamSpec("P")
Answer = TypeVar("Answer")
QUICK_OPTIMUM = 256
"""Up to this count the homogeneous optimum is part of every answer; a report has it up to `MOST_OPTIMUM`."""
MOST_OPTIMUM = 100_000
MOST_RANGES = 64


@dataclass(frozen=True, slots=True)
class Reading:
    """What one representation says: an epsilon that is enough, by a theorem."""

    representation: str
    epsilon: Extended
    theorem: str


@dataclass(frozen=True, slots=True)
class Report:
    """Every representation's epsilon at one delta; all are sound, and the best is the least."""

    delta: Fraction
    readings: tuple[Reading, ...]
    numbers: Numbers
    """`IDEALIZED` if any mechanism is: then nothing here speaks of a program."""

    @property
    def best(self) -> Reading:
        """The least epsilon; the first of equals."""
        return min(self.readings, key=lambda reading: reading.epsilon)

    def __str__(self) -> str:
        lines = [f"at delta {show(self.delta)} ({self.numbers.value}):"]
        for reading in self.readings:
            mark = "*" if reading is self.best else " "
            lines.append(f"{mark} {reading.representation}: {show(reading.epsilon)} [{reading.theorem}]")
        return "\n".join(lines)


def _one_at_a_time(
    method: Callable[Concatenate[Accountant, P], Answer],
) -> Callable[Concatenate[Accountant, P], Answer]:
    @functools.wraps(method)
    def locked(self: Accountant, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        with self._lock:
            if not self._whole:
                raise ParameterError("an addition to this accountant was interrupted: count again with a new one")
            return method(self, *args, **kwargs)

    return locked


@dataclass(slots=True, repr=False, eq=False)
class Accountant:
    """What several mechanisms cost together.

    `adaptive=False` says that no mechanism is chosen by an answer; only bounded ranges gain by that. `idealized=True`
    admits descriptions of real-valued noise, and marks every report.

    >>> from viameter.composition.accounting import Accountant, discrete_laplace
    >>> accountant = Accountant()
    >>> accountant.add(discrete_laplace(20), 1000)
    >>> round(float(accountant.epsilon(delta="1e-6")), 4)
    8.2836
    """

    adaptive: bool = field(default=True, kw_only=True)
    idealized: bool = field(default=False, kw_only=True)
    _counts: dict[Mechanism, int] = field(default_factory=dict, init=False)
    _judgements: dict[Mechanism, Judgement] = field(default_factory=dict, init=False)
    _subsamples: set[str] = field(default_factory=set, init=False)
    _transforms: Transforms = field(default_factory=Transforms, init=False)
    _terms: Terms | None = field(default=None, init=False)
    """What is read, made of the counts and of nothing else; None after an addition."""
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)
    _whole: bool = field(default=True, init=False)
    """False once an addition was interrupted: then some parts are counted and some are not."""

    # --- adding ------------------------------------------------------------------------------------------------------

    @_one_at_a_time
    def add(self, mechanism: Mechanism, count: int = 1) -> None:
        """Count a mechanism, so many times; a count of 0 changes nothing."""
        if not isinstance(mechanism, KINDS):
            raise ParameterError(
                f"{plain(mechanism)} is no description of a mechanism: expected one of vm.accounting, as in "
                'vm.accounting.pure("1/10"); a Measurement makes one, vm.accounting.describe(measurement, d_in=...)'
            )
        number = read_count(count)
        if is_idealized(mechanism) and not self.idealized:
            raise NoTheorem(
                f"{plain(mechanism)} is idealized: no program draws real-valued noise, and discrete noise costs more; "
                "describe the discrete noise, or make Accountant(idealized=True) to compare with the literature"
            )
        names = _subsamples(mechanism)
        if number == 0:
            return
        if names and (number > 1 or len(set(names)) < len(names) or self._subsamples & set(names)):
            raise NoTheorem(
                f"subsample {names[0]!r} is counted once only: what sees the same rows is not independent, and losses "
                "of amplified answers do not add up; amplify them as one, poisson_subsampled(together(a, b), subsample)"
            )
        parts = mechanism.parts if isinstance(mechanism, Together) else (mechanism,)
        # Judge all before counting any: a refusal changes nothing.
        counted: dict[Mechanism, int] = {}
        for part in _flat(parts):
            if part not in self._judgements:
                self._judgements[part] = judge(part)
            counted[part] = counted.get(part, self._counts.get(part, 0)) + number
        self._whole, self._terms = False, None
        self._subsamples.update(names)
        self._counts.update(counted)
        self._whole = True

    # --- reading -----------------------------------------------------------------------------------------------------

    @_one_at_a_time
    def epsilon(self, *, delta: Number) -> Extended:
        """An epsilon for which all mechanisms together are (epsilon, delta)-private: exact or rounded up.

        Infinity means that no representation has one.
        """
        target = probability(delta, name="delta")
        if target == 1 or not self._counts:
            return ZERO
        terms = self._read()
        answers = [sums_epsilon(terms.sums, delta=target)]
        if target > 0:
            answers.extend(reading.epsilon(target) for reading in terms.tight)
            answers.extend(r.epsilon for r in self._special(target, QUICK_OPTIMUM))
            if terms.has_claims or min(answers) == INFINITY:
                answers.append(terms.moments_epsilon(target))
        return min(answers)

    @_one_at_a_time
    def delta(self, *, epsilon: Number) -> Fraction:
        """A delta for which all mechanisms together are (epsilon, delta)-private: exact or rounded up."""
        level = nonnegative(epsilon, name="epsilon")
        if not self._counts:
            return ZERO
        terms = self._read()
        answers = [ONE, *(reading.delta(level) for reading in terms.tight)]
        if terms.sums.epsilon <= level:
            answers.append(terms.sums.delta)
        if terms.has_claims or terms.moments[0].rho or min(answers) == ONE:
            answers.append(terms.moments_delta(level))
        equal = self._equal()
        if equal is not None and equal[2] <= QUICK_OPTIMUM:
            answers.append(optimal_delta(equal[0], count=equal[2], epsilon=level, each_delta=equal[1]))
        ranges = self._equal_ranges()
        if ranges is not None:
            answers.append(range_delta(ranges[0], count=ranges[1], epsilon=level, adaptive=False))
        return min(answers)

    @_one_at_a_time
    def report(self, *, delta: Number) -> Report:
        """What every representation says at a delta."""
        target = probability(delta, name="delta")
        terms = self._read()
        readings = [Reading("sums", sums_epsilon(terms.sums, delta=target), theorem_of(sums_epsilon).slug)]
        if 0 < target < 1 and self._counts:
            readings.append(Reading("moments", terms.moments_epsilon(target), theorem_of(moments_epsilon).slug))
            readings.extend(self._special(target, MOST_OPTIMUM))
            if terms.mu_squared is not None:
                epsilon = gaussian_epsilon(terms.mu_squared, delta=target)
                readings.append(Reading("gaussian profile", epsilon, theorem_of(gaussian_delta).slug))
            readings.extend(Reading(tight.name, tight.epsilon(target), tight.slug) for tight in terms.tight)
        if target == 1:
            readings.append(Reading("nothing is promised", ZERO, theorem_of(sums_epsilon).slug))
        return Report(target, tuple(readings), Numbers.IDEALIZED if self.is_idealized else Numbers.OUTWARD)

    def profile(self) -> ProfileLoss:
        """The privacy profile of what was counted until now, as a loss."""
        frozen = self.copy()
        return ProfileLoss((), lambda epsilon: frozen.delta(epsilon=epsilon))

    @_one_at_a_time
    def copy(self) -> Accountant:
        """Another accountant that has counted the same."""
        other = Accountant(adaptive=self.adaptive, idealized=self.idealized)
        other._judgements, other._counts = dict(self._judgements), dict(self._counts)
        other._subsamples = set(self._subsamples)
        return other

    @property
    def counts(self) -> dict[Mechanism, int]:
        """What was counted, and how often."""
        return dict(self._counts)

    @property
    def is_idealized(self) -> bool:
        """Whether anything counted is real-valued noise, so that no answer speaks of a program."""
        return any(map(is_idealized, self._counts))

    def __repr__(self) -> str:
        marks = "".join(f", {mark}" for mark in ("idealized",) if self.is_idealized)
        return f"Accountant({sum(self._counts.values())} mechanisms, {len(self._counts)} different{marks})"

    def _read(self) -> Terms:
        if self._terms is None:
            judged = [(self._judgements[mechanism], count) for mechanism, count in self._counts.items()]
            self._terms = terms_of(judged, self._transforms)
        return self._terms

    def _special(self, target: Fraction, most: int) -> list[Reading]:
        """Representations for equal mechanisms."""
        readings = []
        equal = self._equal()
        if equal is not None and equal[2] <= most:
            epsilon = optimal_epsilon(equal[0], count=equal[2], delta=target, each_delta=equal[1])
            readings.append(Reading("homogeneous optimum", epsilon, theorem_of(optimal_epsilon).slug))
        ranges = self._equal_ranges()
        if ranges is not None:
            epsilon = range_epsilon(ranges[0], count=ranges[1], delta=target, adaptive=False)
            readings.append(Reading("bounded-range optimum", epsilon, theorem_of(range_delta).slug))
        return readings

    def _equal(self) -> tuple[Fraction, Fraction, int] | None:
        """Epsilon, delta and count, if all mechanisms are equal and known by that pair only."""
        if len(self._counts) != 1:
            return None
        ((mechanism, count),) = self._counts.items()
        match mechanism:
            case Pure(epsilon):
                return epsilon, ZERO, count
            case Approximate(epsilon, delta):
                return epsilon, delta, count
            case RandomizedResponse(2, _) | DiscreteLaplace(_, 1):
                known = self._judgements[mechanism].epsilon
                return None if known == INFINITY else (Fraction(known), ZERO, count)
        return None

    def _equal_ranges(self) -> tuple[Fraction, int] | None:
        if self.adaptive or len(self._counts) != 1:
            return None
        ((mechanism, count),) = self._counts.items()
        return (mechanism.eta, count) if isinstance(mechanism, BoundedRange) and count <= MOST_RANGES else None


def _flat(parts: tuple[Mechanism, ...]) -> list[Mechanism]:
    """Parts of parts: outside of a subsample, mechanisms together are mechanisms one by one."""
    flat: list[Mechanism] = []
    for part in parts:
        flat.extend(_flat(part.parts) if isinstance(part, Together) else [part])
    return flat


def _subsamples(mechanism: Mechanism) -> list[str]:
    if isinstance(mechanism, Together):
        return [name for part in mechanism.parts for name in _subsamples(part)]
    if isinstance(mechanism, PoissonSubsampled) and mechanism.subsample.name is not None:
        return [mechanism.subsample.name]
    return []
