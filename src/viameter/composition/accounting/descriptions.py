"""What was done, in frozen records that know nothing of the accountants that judge them.

Each is checked when it is made, takes exact numbers only, and says whether it is idealized: true of a mathematical
model (real-valued noise) and not of anything that this library runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from viameter.arith import Number, nonnegative, probability, show, whole
from viameter.composition.accounting.reading import read_positive
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.curves import RenyiLoss


@dataclass(frozen=True, slots=True)
class Pure:
    """Any mechanism of pure differential privacy."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, name="epsilon"))


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any mechanism of approximate differential privacy."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, name="epsilon"))
        object.__setattr__(self, "delta", probability(self.delta, name="delta"))


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """One of `answers` answers, told truly with a probability."""

    answers: int
    probability: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", whole(self.answers, name="answers"))
        object.__setattr__(self, "probability", probability(self.probability, name="probability"))
        if self.answers < 2:
            raise ParameterError(f"answers={self.answers}: expected two or more")


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Discrete Laplace noise on one integer."""

    scale: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", read_positive(self.scale, name="scale"))
        object.__setattr__(self, "sensitivity", whole(self.sensitivity, name="sensitivity"))


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Discrete Gaussian noise on one integer."""

    scale: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", read_positive(self.scale, name="scale"))
        object.__setattr__(self, "sensitivity", whole(self.sensitivity, name="sensitivity"))


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """Any mechanism of bounded range, such as the exponential mechanism."""

    eta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", nonnegative(self.eta, name="eta"))


@dataclass(frozen=True, slots=True)
class ContinuousLaplace:
    """Real-valued Laplace noise: idealized."""

    scale: Fraction
    sensitivity: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", read_positive(self.scale, name="scale"))
        object.__setattr__(self, "sensitivity", nonnegative(self.sensitivity, name="sensitivity"))


@dataclass(frozen=True, slots=True)
class ContinuousGaussian:
    """Real-valued Gaussian noise: idealized."""

    scale: Fraction
    sensitivity: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", read_positive(self.scale, name="scale"))
        object.__setattr__(self, "sensitivity", nonnegative(self.sensitivity, name="sensitivity"))


@dataclass(frozen=True, slots=True)
class ZCDP:
    """Any mechanism of zero-concentrated differential privacy."""

    rho: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", nonnegative(self.rho, name="rho"))


@dataclass(frozen=True, slots=True)
class Renyi:
    """Any mechanism whose Renyi divergences are bounded at some orders."""

    curve: RenyiLoss

    def __post_init__(self) -> None:
        if not isinstance(self.curve, RenyiLoss):
            raise ParameterError(
                f'renyi takes an amount of Renyi privacy, as in renyi(vm.renyi({{2: "0.1"}})), not {plain(self.curve)}'
            )


@dataclass(frozen=True, slots=True)
class Together:
    """Several mechanisms on the same rows, composed."""

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        if not self.parts or not all(isinstance(part, KINDS) for part in self.parts):
            raise ParameterError("together takes one or more descriptions of mechanisms")


@dataclass(frozen=True, slots=True)
class Subsample:
    """Each row is kept with probability `rate`, on its own.

    A name says which subsample it is: what is computed from the same rows is not independent, so that a named subsample
    is counted once. Without a name every use draws anew.
    """

    rate: Fraction
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability(self.rate, name="rate"))
        if self.name is not None and not isinstance(self.name, str):
            raise ParameterError(
                f"name={plain(self.name)} is no name of a subsample: expected text, or None for fresh ones"
            )


@dataclass(frozen=True, slots=True)
class PoissonSubsampled:
    """A mechanism that sees a Poisson subsample, between data of which one has one more row."""

    mechanism: Mechanism
    subsample: Subsample


Mechanism: TypeAlias = (
    Pure
    | Approximate
    | RandomizedResponse
    | DiscreteLaplace
    | DiscreteGaussian
    | BoundedRange
    | ContinuousLaplace
    | ContinuousGaussian
    | ZCDP
    | Renyi
    | Together
    | PoissonSubsampled
)
"""Every description."""

KINDS = (
    Pure,
    Approximate,
    RandomizedResponse,
    DiscreteLaplace,
    DiscreteGaussian,
    BoundedRange,
    ContinuousLaplace,
    ContinuousGaussian,
    ZCDP,
    Renyi,
    Together,
    PoissonSubsampled,
)


def is_idealized(mechanism: Mechanism) -> bool:
    """Whether the description is of real-valued noise, which no computer draws."""
    if isinstance(mechanism, Together):
        return any(map(is_idealized, mechanism.parts))
    if isinstance(mechanism, PoissonSubsampled):
        return is_idealized(mechanism.mechanism)
    return isinstance(mechanism, ContinuousLaplace | ContinuousGaussian)


def pure(epsilon: Number) -> Pure:
    """Any mechanism of pure differential privacy.

    >>> pure("1/10")
    Pure(epsilon=Fraction(1, 10))
    """
    return Pure(nonnegative(epsilon, name="epsilon"))


def approximate(epsilon: Number, delta: Number) -> Approximate:
    """Any mechanism of approximate differential privacy.

    >>> approximate(1, "1e-6").delta
    Fraction(1, 1000000)
    """
    return Approximate(nonnegative(epsilon, name="epsilon"), probability(delta, name="delta"))


def randomized_response(answers: Number, probability_of_truth: Number) -> RandomizedResponse:
    """Randomized response among so many answers, the truth being told with that probability.

    >>> randomized_response(2, "3/4")
    RandomizedResponse(answers=2, probability=Fraction(3, 4))
    """
    return RandomizedResponse(
        whole(answers, name="answers"), probability(probability_of_truth, name="probability_of_truth")
    )


def discrete_laplace(scale: Number, sensitivity: Number = 1) -> DiscreteLaplace:
    """Discrete Laplace noise on one integer that changes by at most a whole sensitivity.

    >>> discrete_laplace(20)
    DiscreteLaplace(scale=Fraction(20, 1), sensitivity=1)
    """
    return DiscreteLaplace(read_positive(scale, name="scale"), whole(sensitivity, name="sensitivity"))


def discrete_gaussian(scale: Number, sensitivity: Number = 1) -> DiscreteGaussian:
    """Discrete Gaussian noise on one integer that changes by at most a whole sensitivity.

    >>> discrete_gaussian(50)
    DiscreteGaussian(scale=Fraction(50, 1), sensitivity=1)
    """
    return DiscreteGaussian(read_positive(scale, name="scale"), whole(sensitivity, name="sensitivity"))


def bounded_range(eta: Number) -> BoundedRange:
    """Any mechanism of bounded range.

    >>> bounded_range("0.3")
    BoundedRange(eta=Fraction(3, 10))
    """
    return BoundedRange(nonnegative(eta, name="eta"))


def continuous_laplace(scale: Number, sensitivity: Number = 1) -> ContinuousLaplace:
    """Real-valued Laplace noise: idealized, not what this library runs.

    >>> continuous_laplace(20)
    ContinuousLaplace(scale=Fraction(20, 1), sensitivity=Fraction(1, 1))
    """
    return ContinuousLaplace(read_positive(scale, name="scale"), nonnegative(sensitivity, name="sensitivity"))


def continuous_gaussian(scale: Number, sensitivity: Number = 1) -> ContinuousGaussian:
    """Real-valued Gaussian noise: idealized, not what this library runs.

    >>> continuous_gaussian(50)
    ContinuousGaussian(scale=Fraction(50, 1), sensitivity=Fraction(1, 1))
    """
    return ContinuousGaussian(read_positive(scale, name="scale"), nonnegative(sensitivity, name="sensitivity"))


def zcdp(rho: Number) -> ZCDP:
    """Any mechanism of zero-concentrated differential privacy.

    >>> zcdp("1/32")
    ZCDP(rho=Fraction(1, 32))
    """
    return ZCDP(nonnegative(rho, name="rho"))


def renyi(curve: RenyiLoss) -> Renyi:
    """Any mechanism whose Renyi divergences are bounded at some orders: `renyi(vm.renyi({2: "0.1"}))`."""
    return Renyi(curve)


def together(*mechanisms: Mechanism) -> Together:
    """Several mechanisms on the same rows, as one.

    >>> len(together(pure(1), pure(2)).parts)
    2
    """
    return Together(tuple(mechanisms))


def poisson_subsampled(mechanism: Mechanism, subsample: Subsample | Number) -> PoissonSubsampled:
    """A mechanism on a Poisson subsample, given as such or as its rate; neighbors have one row more or less.

    >>> poisson_subsampled(discrete_gaussian(1), "0.01").subsample.rate
    Fraction(1, 100)
    """
    if not isinstance(mechanism, KINDS):
        raise ParameterError(f"poisson_subsampled takes the description of a mechanism, not {plain(mechanism)}")
    sample = subsample if isinstance(subsample, Subsample) else Subsample(probability(subsample, name="rate"))
    if isinstance(mechanism, ZCDP | Renyi):
        raise NoTheorem(
            f"{type(mechanism).__name__} says too little for subsampling: amplification needs a privacy profile, which "
            "Renyi bounds do not have; describe the noise, as in discrete_gaussian(scale)"
        )
    if _has_subsample(mechanism):
        raise NoTheorem(f"a subsample of a subsample: give one rate, {show(sample.rate)} times the other")
    return PoissonSubsampled(mechanism, sample)


def _has_subsample(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, Together):
        return any(map(_has_subsample, mechanism.parts))
    return isinstance(mechanism, PoissonSubsampled)
