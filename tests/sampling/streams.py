"""Random bits that a test writes: given words, given choices, and every choice in turn.

`explore` runs a sampler on every tape of bits up to a depth and adds up the exact probability of each result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any, Generic, TypeAlias, TypeVar
from unittest.mock import patch

import numpy as np
import pytest
from tests.sampling.oracles import exp_fraction

from viameter.sampling import engine as engine_module
from viameter.sampling import families
from viameter.sampling.engine import Engine, Layout
from viameter.sampling.entropy import Entropy, Stream, TapeExhausted
from viameter.sampling.families import Family

T = TypeVar("T")

WideClasses: TypeAlias = Sequence[tuple[int | None, Fraction]]

# The name in the package is the function's.
bernoulli_module = import_module("viameter.sampling.bernoulli")

ROUNDING = Fraction(1, 1 << 60)

WIDE = 64
"""A request of so many bits is not taken apart into all its values."""


class NeedBits(TapeExhausted):
    """The choices are used up: so many bits more are asked for, or a coin with a chance of 1."""

    def __init__(self, count: int, chance: Fraction | None = None) -> None:
        self.count, self.chance = count, chance
        super().__init__(f"{count} bits more")

    def options(self, wide: WideClasses | None) -> WideClasses:
        """What may come, and with which probability."""
        if self.chance is not None:
            return [(0, 1 - self.chance), (1, self.chance)]
        if self.count == WIDE:
            assert wide is not None, "64 bits were asked for"
            return wide
        return [(value, Fraction(1, 1 << self.count)) for value in range(1 << self.count)]


NOISE = 0x5DEECE66D5DEECE66D
"""What unused bits are filled with."""


@dataclass(frozen=True)
class Line:
    """Words of so many bits; where they are the upper ones of longer words, they are on top."""

    words: Sequence[int]
    used: int
    on_top: bool = False


class Choices(Stream, Entropy):
    """Answers the k-th request for bits by the k-th choice; words come from a script, by request."""

    def __init__(self, choices: Sequence[int] = ()) -> None:
        self.choices = list(choices)
        self.used = 0
        self.script: list[Line] = []

    def stream(self, size: int) -> Stream:
        return self

    def take(self, count: int) -> bytes:
        raise AssertionError("bytes were taken where bits or words were expected")

    def words(self, count: int, width: int) -> Any:
        line = self.script.pop(0)
        assert len(line.words) == count, f"{count} words were asked for, {len(line.words)} are written"
        assert line.used <= width
        unused = width - line.used if line.on_top else 0
        return np.array([word << unused | NOISE % (1 << unused) for word in line.words], dtype=f"uint{width}")

    def bits(self, count: int) -> int:
        value = self.next(NeedBits(count))
        assert 0 <= value < 1 << count
        return value

    def coin(self, chance: Fraction) -> bool:
        """True with this probability, as one choice."""
        return chance == 1 or (chance > 0 and bool(self.next(NeedBits(1, chance))))

    def next(self, need: NeedBits) -> int:
        if self.used == len(self.choices):
            raise need
        self.used += 1
        return self.choices[self.used - 1]


class Fill(Choices):
    """Words from lists; all further bits are the same, so that the order in which places are decided does not matter.

    A single bit is 0: it is the side that a logistic draw ends on.
    """

    def __init__(self, bit: int) -> None:
        super().__init__()
        self.bit = bit

    def bits(self, count: int) -> int:
        return ((1 << count) - 1) * self.bit if count > 1 else 0


class TinyWords(Stream, Entropy):
    """Endless random words of as few bits as an engine uses, and random bits."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.lines, self.turn, self.random = vector_lines(engine, []), 0, np.random.default_rng(seed)

    def stream(self, size: int) -> Stream:
        return self

    def take(self, count: int) -> bytes:
        return self.random.bytes(count)

    def words(self, count: int, width: int) -> Any:
        line = self.lines[self.turn % len(self.lines)]
        self.turn += 1
        size = width if line.on_top else line.used
        return self.random.integers(1 << size, size=count, dtype=np.uint64).astype(f"uint{width}")


def tiny_engine(family: Family, *, fraction: int, accept: int, high: int) -> Engine:
    """An engine whose words are tiny: bits beside the column; bits of acceptance; bits of L in the second word."""
    column_bits = (2 * family.rows + 1).bit_length()
    with patch.object(engine_module, "HIGH", high):
        engine = Engine(family, Layout(first=column_bits + fraction))
    if family.shift:
        # The layout cannot say how long the second word is: it has 32 bits.
        too_long = 32 - engine._high - accept
        reaches = engine._reaches
        engine._accept_bits = accept
        engine._accept_mask = (1 << accept) - 1
        engine._second = family.shift + accept
        if reaches is not None:
            # What was in units of 2^-32 is rounded up to units of the shorter word.
            shorter = -(-np.asarray(reaches).astype(np.int64) >> too_long)
            vars(engine)["_reaches"] = shorter.astype(np.uint32)
    return engine


def further_bits(engine: Engine) -> int:
    """How many bits of L are in a third word."""
    return engine.family.shift - engine._high if engine._second else 0


def vector_lines(engine: Engine, words: Sequence[tuple[int, int]]) -> list[Line]:
    """First words, and (L, v) as one integer, as the words that the path of many draws reads."""
    lines = [Line([first for first, _ in words], engine.layout.first)]
    if engine._second:
        further, accept = further_bits(engine), engine._accept_bits
        parts = [(second >> accept, second & ((1 << accept) - 1)) for _, second in words]
        lines.append(Line([(low >> further) << accept | drawn for low, drawn in parts], engine._second - further))
        if further:
            lines.append(Line([low & ((1 << further) - 1) for low, _ in parts], further, on_top=True))
    return lines


def all_words(engine: Engine) -> list[tuple[int, int]]:
    return [(first, second) for first in range(1 << engine.layout.first) for second in range(1 << engine._second)]


def by_one(engine: Engine, first: int, second: int, stream: Choices) -> int | None:
    """A proposal by the path of single draws."""
    return engine._decide(first, second, stream)


class Leading(Stream, Entropy):
    """A word, and then another stream."""

    def __init__(self, word: int, rest: Stream) -> None:
        self.word: int | None = word
        self.rest = rest

    def stream(self, size: int) -> Stream:
        return self

    def take(self, count: int) -> bytes:
        raise AssertionError("bytes were taken where bits were expected")

    def bits(self, count: int) -> int:
        if self.word is None:
            return self.rest.bits(count)
        word, self.word = self.word, None
        assert word < 1 << count
        return word


class _Refused(Exception):
    """A proposal was refused."""


def by_draw(engine: Engine, first: int, second: int, stream: Choices) -> int | None:
    """The same proposal by the whole path of single draws, up to its first refusal: `by_one` and what is before it."""

    def watched(*words: Any) -> int:
        result = Engine._decide(engine, *words)
        if result is None:
            raise _Refused
        return result

    with patch.object(engine, "_decide", watched):
        try:
            return engine.draw(Leading(first << engine._second | second, stream))
        except _Refused:
            return None


def by_vector(engine: Engine, first: int, second: int, stream: Choices) -> int | None:
    """The same proposal by the path of many draws."""
    kept = batch(engine, [(first, second)], stream)
    assert len(kept) <= 1
    return kept[0] if kept else None


def batch(engine: Engine, words: Sequence[tuple[int, int]], stream: Choices) -> list[int]:
    """Many proposals at once by the path of many draws: those that are accepted."""
    stream.script = vector_lines(engine, words)
    values, refused = engine._propose(len(words), stream)
    assert not stream.script
    drawn: list[int] = np.delete(values, refused).tolist()
    assert len(drawn) == len(words) - len(refused)
    return drawn


PATHS: dict[str, Callable[[Engine, int, int, Choices], int | None]] = {
    "by draw": by_draw,
    "by vector": by_vector,
}


@dataclass
class Explored(Generic[T]):
    """What came out, with which probability, and the probability that more bits are needed to know."""

    found: dict[T, Fraction] = field(default_factory=dict)
    open: Fraction = Fraction(0)

    def add(self, other: Explored[T], share: Fraction) -> None:
        for result, mass in other.found.items():
            self.found[result] = self.found.get(result, Fraction(0)) + mass * share
        self.open += other.open * share

    def encloses(self, result: T, probability: Fraction) -> bool:
        """Up to the rounding of the probability by whoever computed it."""
        found = self.found.get(result, Fraction(0))
        return found - ROUNDING <= probability <= found + self.open + ROUNDING


def explore(run: Callable[[Choices], T], *, least: Fraction, wide: WideClasses | None = None) -> Explored[T]:
    """Run on every tape, to branches of probability `least`.

    A request of 64 bits is split into the classes given: a value of each, which stands for all of it, and its share;
    None for a class that stays open.
    """
    explored: Explored[T] = Explored()
    waiting: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        choices, mass = waiting.pop()
        try:
            result = run(Choices(choices))
        except NeedBits as need:
            if mass < least:
                explored.open += mass
                continue
            for value, share in need.options(wide):
                if value is None:
                    explored.open += mass * share
                elif share:
                    waiting.append(((*choices, value), mass * share))
            continue
        explored.found[result] = explored.found.get(result, Fraction(0)) + mass
    return explored


def coin_exp(exponent: Fraction, stream: Stream, *, drawn: int = 0, width: int = 0) -> bool:
    """In place of `bernoulli_exp`, which has tests of its own: one choice, given the bits that are drawn already."""
    tape = stream.rest if isinstance(stream, Leading) else stream
    assert isinstance(tape, Choices)
    chance = exp_fraction(exponent, 80) * (1 << width) - drawn
    return tape.coin(min(max(chance, Fraction(0)), Fraction(1)))


def use_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace `bernoulli_exp` everywhere by one choice."""
    for module in (bernoulli_module, families, engine_module):
        monkeypatch.setattr(module, "bernoulli_exp", coin_exp)


def wide_classes(threshold: Fraction, known_bits: int) -> WideClasses:
    """How the next 64 bits of a uniform number whose first bits are those of the threshold compare with it."""
    scaled = threshold * (1 << (known_bits + WIDE))
    at, size = (scaled.numerator // scaled.denominator) % (1 << WIDE), 1 << WIDE
    return [
        (at // 2, Fraction(at, size)),
        (None, Fraction(1, size)),
        ((at + size) // 2, Fraction(size - 1 - at, size)),
    ]


def split_word(run: Callable[[Choices], T], before: Sequence[int], low: T, high: T) -> tuple[int, int]:
    """How the results fall over the values of a word of 64 bits: below the first number all are `low`, and from the
    second on all are `high`; between, more bits are needed. That there are no other changes is the caller's to check.
    """

    def outcome(word: int) -> T | None:
        try:
            return run(Choices([*before, word]))
        except NeedBits:
            return None

    def first(is_beyond: Callable[[T | None], bool]) -> int:
        left, right = 0, 1 << WIDE
        while left < right:
            middle = (left + right) // 2
            if is_beyond(outcome(middle)):
                right = middle
            else:
                left = middle + 1
        return left

    return first(lambda result: result != low), first(lambda result: result == high)
