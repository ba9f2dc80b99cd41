"""Evidence from samples that a program's loss is larger than claimed. It is never a refutation: it may be chance.

The event is picked on one half of the samples and tested on the other, which played no part in picking it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from math import log, sqrt
from typing import Any

from viameter.arith import Extended, Number, dyadic, exact, nonnegative, probability, whole
from viameter.errors import NumberError, ParameterError
from viameter.logic.exact import Bounds, Budget, Output, Range, Value, law_of, read_inputs
from viameter.logic.exact.compiling import law_names
from viameter.logic.exact.evaluating import execute_from, start_of
from viameter.logic.lang.core import Law, Program
from viameter.logic.lang.scales import Amount
from viameter.logic.neighbors import Neighbors
from viameter.logic.refute.binomial import lower_bound, upper_bound
from viameter.logic.refute.candidates import Pair, pairs
from viameter.logic.refute.claims import budgets_for, check_claim, factor_of
from viameter.logic.refute.related import related
from viameter.logic.refute.written import shown, shown_inputs, shown_output
from viameter.sampling.entropy import SYSTEM, Entropy, Stream

_PAIRS = 6
_BITS = 64
_OFF = Fraction(4, 1 << _BITS)
"""At most so far is a draw's law from the law that is meant: the tails, and the bits that a draw takes."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of an event on two neighboring inputs, and the bounds on its probabilities that hold with `confidence`."""

    program: Program
    budgets: Mapping[str, Budget]
    first: Mapping[str, Value]
    second: Mapping[str, Value]
    event: Output
    counts: tuple[int, int]
    draws: int
    p1_low: Fraction
    p2_high: Fraction
    confidence: Fraction
    claim: Amount
    factor: Bounds
    delta: Fraction = Fraction(0)

    @property
    def exceeds(self) -> bool:
        """Whether the claim fails, if both bounds hold."""
        return self.p1_low > self.factor.high * self.p2_high + self.delta

    @property
    def loss(self) -> Extended:
        """The loss, if both bounds hold, is at least this much (rounded down)."""
        surplus = self.p1_low - self.delta
        if surplus <= 0 or surplus <= self.p2_high:
            return Fraction(0)
        return dyadic.log_down(surplus / self.p2_high, bits=_BITS)

    def text(self) -> str:
        """For people."""
        claim = f"{self.claim}" if self.delta == 0 else f"{self.claim} at delta {self.delta}"
        verdict = "is larger than" if self.exceeds else "is not seen to be larger than"
        budgets = ", ".join(f"{name} = {budget}" for name, budget in self.budgets.items())
        return "\n".join(
            [
                f"EVIDENCE, no refutation: the loss of {self.program.name} {verdict} {claim}",
                f"  with {budgets or 'no budgets'}, with confidence {shown(self.confidence, up=False)}",
                f"  inputs 1: {shown_inputs(self.first)}; inputs 2: {shown_inputs(self.second)}",
                f"  event: the output is {shown_output(self.event)}",
                f"  it came {self.counts[0]} and {self.counts[1]} times in {self.draws} runs each",
                f"  P1 >= {shown(self.p1_low, up=False)}, P2 <= {shown(self.p2_high, up=True)}",
                f"  loss: at least {shown(self.loss, up=False)}",
            ]
        )

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """As a record of texts and numbers."""
        return {
            "format": "viameter program evidence",
            "version": 1,
            "program": self.program.name,
            "claim": str(self.claim),
            "exceeds": self.exceeds,
            "confidence": str(self.confidence),
            "budgets": {name: str(budget) for name, budget in self.budgets.items()},
            "inputs": [shown_inputs(self.first), shown_inputs(self.second)],
            "event": shown_output(self.event),
            "counts": list(self.counts),
            "draws": self.draws,
            "p1": str(self.p1_low),
            "p2": str(self.p2_high),
            "delta": str(self.delta),
        }


def evidence(
    program: Program,
    neighbors: tuple[Neighbors, ...],
    claim: Amount,
    *,
    inputs: tuple[Mapping[str, Value], Mapping[str, Value]] | None = None,
    budgets: Mapping[str, Budget] | None = None,
    delta: Number = 0,
    samples: int = 20_000,
    confidence: Number = "999/1000",
    entropy: Entropy = SYSTEM,
) -> Evidence | None:
    """Run a program `samples` times on neighboring inputs, and say what an event's counts show about a claim.

    Half of the samples are spent on picking the inputs (unless they are given) and the event, half on testing it. None
    if there are no inputs to try, or e^claim is beyond what numbers hold.
    """
    check_claim(claim, program)
    half = whole(samples, name="samples") // 2
    wrong = 1 - probability(confidence, name="confidence")
    if half < 4 * _PAIRS or not 0 < wrong < 1:
        raise ParameterError(f"samples={samples}, confidence={confidence}: expected at least {8 * _PAIRS} and below 1")
    chosen = [Pair(*inputs)] if inputs is not None else _some_pairs(program, neighbors)
    if inputs is not None and not _adjacent(program, neighbors, chosen[0]):
        raise ParameterError(f"these inputs of program {program.name} are not known to be neighbors")
    if not chosen:
        return None
    best: tuple[float, Output, Mapping[str, Value], Mapping[str, Value], Mapping[str, Budget]] | None = None
    for pair in chosen:
        at = budgets if budgets is not None else next(budgets_for(program, claim, pair.first))
        each = half // (4 * len(chosen))
        for first, second in ((pair.first, pair.second), (pair.second, pair.first)):
            one, two = (_Sampler(program, at, entropy).counts(x, each) for x in (first, second))
            for output, count in one.items():
                score = _promise(count, two[output])
                if best is None or score > best[0]:
                    best = score, output, first, second, at
    if best is None:
        return None
    _, event, first, second, at = best
    try:
        factor = factor_of(claim, first, at)
    except NumberError:  # e^claim is beyond what numbers hold, and no count shows that much
        return None
    draws = half // 2
    sampler = _Sampler(program, at, entropy)
    hits = sampler.counts(first, draws)[event], sampler.counts(second, draws)[event]
    low = lower_bound(hits[0], of=draws, error=wrong / 2)
    high = upper_bound(hits[1], of=draws, error=wrong / 2)
    return Evidence(
        program, dict(at), dict(first), dict(second), event, hits, draws, low, high,
        max(Fraction(0), exact(1) - wrong - sampler.drawn * _OFF), claim, factor,
        nonnegative(delta, name="delta"),
    )  # fmt: skip


@dataclass(slots=True)
class _Sampler:
    """Runs a program with noise from a source of bits."""

    program: Program
    budgets: Mapping[str, Budget]
    entropy: Entropy
    drawn: int = 0
    stream: Stream | None = None
    tables: dict[object, tuple[list[Any], list[int]]] = field(default_factory=dict)
    names: dict[int, list[str]] = field(default_factory=dict)

    def counts(self, inputs: Mapping[str, Value], times: int) -> Counter[Output]:
        """How often each output came in so many executions."""
        start = {**start_of(self.program), **read_inputs(self.program, inputs)}
        self.stream, self.tables = self.entropy.stream(1 << 16), {}
        return Counter(execute_from(start, self.program, self.draw) for _ in range(times))

    def draw(self, law: Law, memory: Mapping[str, Value]) -> int | bool:
        """A value of a law: the row in which so many bits fall."""
        if self.stream is None:
            raise TypeError("there is no stream to draw from")
        values, sums = self.rows(law, memory)
        self.drawn += 1
        width = sums[-1].bit_length() + _BITS
        at = bisect_right(sums, self.stream.bits(width) * sums[-1] >> width) - 1
        value = values[at]
        if isinstance(value, Range):
            # A tail, by the value next to it.
            return value.low if value.low is not None else value.high or 0
        found: int | bool = value
        return found

    def rows(self, law: Law, memory: Mapping[str, Value]) -> tuple[list[Any], list[int]]:
        if id(law) not in self.names:
            self.names[id(law)] = sorted(law_names(law))
        key = (id(law), *(memory[name] for name in self.names[id(law)]))
        if key not in self.tables:
            deck = law_of(law, memory, self.budgets, bits=_BITS).deck()
            self.tables[key] = [value for value, _ in deck.rows], deck.sums
        return self.tables[key]


def _some_pairs(program: Program, neighbors: tuple[Neighbors, ...]) -> list[Pair]:
    return list(islice((pair for pair in pairs(program, neighbors) if _adjacent(program, neighbors, pair)), _PAIRS))


def _adjacent(program: Program, neighbors: tuple[Neighbors, ...], pair: Pair) -> bool:
    return any(
        related(program, entry, pair.first, pair.second) or related(program, entry, pair.second, pair.first)
        for entry in neighbors
    )


def _promise(count: int, other: int) -> float:
    """The logarithm of a ratio of counts, each moved by two deviations to the cautious side."""
    return log(max(count - 2 * sqrt(count), 0.1)) - log(other + 2 * sqrt(other) + 3)
