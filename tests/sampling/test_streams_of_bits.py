"""Streams of bits: nothing is kept, nothing is shared, nothing is read twice."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
from ast import literal_eval
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.sampling.oracles import LAPLACE, bin_probabilities, binned, edges_for, fit

from viameter.sampling import (
    SYSTEM,
    Tape,
    TapeExhausted,
    bernoulli,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    noise,
    uniform_below,
)
from viameter.sampling.entropy import FEW_BYTES, CipherStream, Stream, SystemEntropy


# Once: a seed below 2^128 is only where AES starts to count, so that seed 8 is seed 7 without its first 16 bytes.
@for_each("seed", [0, 1, 7, 1000])
def test_tapes_of_neighboring_seeds_share_nothing(seed: int) -> None:
    here, there = (bytes(Tape.seeded(number).stream(0).take(4096)) for number in (seed, seed + 1))
    blocks = {here[start : start + 16] for start in range(0, 4096, 16)}
    assert not blocks & {there[start : start + 16] for start in range(0, 4096, 16)}


@for_each("seed", [0, 5, 2**64, 2**200])
def test_a_seed_gives_the_same_tape_every_time(seed: int) -> None:
    first, second = (discrete_laplace(1000, 30, entropy=Tape.seeded(seed)) for _ in range(2))
    assert (first == second).all()
    assert (first != discrete_laplace(1000, 30, entropy=Tape.seeded(seed + 2**40))).any()


class Recorder:
    """What was read from the operating system."""

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.urandom = os.urandom

    def __call__(self, count: int) -> bytes:
        self.given.append(self.urandom(count))
        return self.given[-1]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(os, "urandom", recorder)
    return recorder


CALLS: dict[str, tuple[Callable[[], object], bool]] = {
    "one laplace": (lambda: discrete_laplace(scale=1000), False),
    "one gaussian": (lambda: discrete_gaussian(scale=3), False),
    "one geometric": (lambda: geometric(scale=3), False),
    "one coin": (lambda: bernoulli(probability="1/3"), False),
    "one integer": (lambda: uniform_below(1000), False),
    "few": (lambda: discrete_laplace(10, 1000), False),
    "many laplace": (lambda: discrete_laplace(5000, 1000), True),
    "many gaussian": (lambda: discrete_gaussian(5000, 3), True),
    "many coins": (lambda: bernoulli(5000, "1/3"), True),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_reads_the_operating_system_afresh(name: str, read: Recorder) -> None:
    call, by_cipher = CALLS[name]
    for number in range(1, 6):
        before = len(read.given)
        call()
        new = read.given[before:]
        assert new
        if by_cipher:
            # A key of 32 bytes and where to count from, and nothing else.
            assert [len(part) for part in new] == [48]
            assert len({part for part in read.given if len(part) == 48}) == number


def test_a_cipher_is_used_with_the_key_that_was_read_and_no_other(read: Recorder) -> None:
    drawn = discrete_laplace(5000, 1000)

    class Key(SystemEntropy):
        def stream(self, size: int) -> Stream:
            return CipherStream(read.given[0])

    assert (discrete_laplace(5000, 1000, entropy=Key()) == drawn).all()


def test_streams_are_as_long_as_they_have_to_be(read: Recorder) -> None:
    assert bytes(SYSTEM.stream(FEW_BYTES).take(100)) == read.given[0]
    assert len(SYSTEM.stream(1).take(10 * FEW_BYTES)) == 10 * FEW_BYTES
    long = SYSTEM.stream(FEW_BYTES + 1)
    assert len(read.given[-1]) == 48
    assert len(long.take(0)) == 0
    assert len(long.take(2**20 + 3)) == 2**20 + 3


def test_bytes_do_not_depend_on_how_they_are_taken() -> None:
    whole = bytes(CipherStream(bytes(range(48))).take(600_000))
    for sizes in ([1] * 100, [16] * 50, [15, 1, 17, 0, 4096, 5], [2**18 - 1, 2, 2**18 + 1], [2**18, 16], [3, 2**19]):
        stream, at = CipherStream(bytes(range(48))), 0
        for size in sizes:
            assert bytes(stream.take(size)) == whole[at : at + size]
            at += size


@pytest.mark.parametrize("width", [16, 32, 64])
def test_words_are_the_bytes_in_order_and_belong_to_the_caller(width: int) -> None:
    stream = CipherStream(bytes(48))
    first, second = stream.words(100, width), stream.words(100, width)
    assert first.dtype == np.dtype(f"uint{width}")
    assert first.tobytes() + second.tobytes() == bytes(CipherStream(bytes(48)).take(200 * width // 8))
    assert not np.shares_memory(first, second)


def test_bits_are_the_first_of_the_bytes_they_take() -> None:
    whole = int.from_bytes(CipherStream(bytes(48)).take(8), "big")
    for count in range(1, 65):
        assert CipherStream(bytes(48)).bits(count) == whole >> (64 - count)
    tape = Tape(b"\xff\x00\xff")
    assert (tape.bits(1), tape.bits(9)) == (1, 1)
    assert Tape(b"").bits(0) == 0


def test_bits_of_the_operating_system(read: Recorder) -> None:
    for count in (1, 7, 8, 9, 63, 64, 65):
        drawn = SYSTEM.stream(8).bits(count)
        assert len(read.given[-1]) == (count + 7) // 8
        assert drawn == int.from_bytes(read.given[-1], "big") >> (-count % 8)


def test_a_tape_runs_out_in_the_middle_of_a_draw_and_says_so() -> None:
    for call in (discrete_laplace, discrete_gaussian, geometric):
        with pytest.raises(TapeExhausted, match="3 bytes"):
            call(scale=1000, entropy=Tape(b"abc"))
        with pytest.raises(TapeExhausted):
            call(10, 1000, entropy=Tape(b"abc" * 10))
    tape = Tape(bytes(4))
    with pytest.raises(TapeExhausted):
        tape.take(5)
    # What was not given is still there.
    assert tape.take(4) == bytes(4)


def test_draws_leave_nothing_behind_in_an_engine() -> None:
    for make in (noise.laplace_engine, noise.gaussian_engine):
        engine: Any = make.__wrapped__(Fraction(777))
        engine.draw_many(1000, SYSTEM), engine.draw(SYSTEM)
        before = {name: copy.deepcopy(value) for name, value in vars(engine).items() if name not in {"family", "table"}}
        table = copy.deepcopy((engine.table.alias, engine.table.order, engine.table.first_bits))
        drawn = engine.draw_many(100_000, SYSTEM)
        drawn[:] = 7
        assert set(vars(engine)) == {*before, "family", "table"}
        for name, value in before.items():
            assert np.array_equal(vars(engine)[name], value) if not isinstance(value, tuple) else True, name
            if isinstance(value, tuple):
                assert all(np.array_equal(a, b) for a, b in zip(vars(engine)[name], value, strict=True)), name
        assert table == (engine.table.alias, engine.table.order, engine.table.first_bits)


def test_threads_that_use_an_engine_first_at_once_all_draw_the_right_noise() -> None:
    """A table that nobody has built yet, by eight threads: what each draws is counted against the law."""
    scale, count, threads = Fraction(98765, 432), 40_000, 8
    edges = edges_for(LAPLACE, scale, parts=4)
    chances = bin_probabilities(LAPLACE, scale, edges)
    noise.laplace_engine.cache_clear()
    start, results, errors = threading.Barrier(threads), list[Any](), list[BaseException]()

    def draw() -> None:
        try:
            start.wait()
            results.append(discrete_laplace(count, scale))
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=draw) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert len({result.tobytes() for result in results}) == threads
    for result in results:
        assert fit(binned(result, edges), chances).good
    # Between threads, too: draws of two threads at the same place are independent.
    same = sum(int((a == b).sum()) for at, a in enumerate(results) for b in results[:at])
    pairs, chance = count * threads * (threads - 1) // 2, 1 / (4 * float(scale))
    assert abs(same - pairs * chance) < 6.2 * (pairs * chance) ** 0.5


FORKS = """
import os
from viameter.sampling import discrete_laplace

def some():
    return [discrete_laplace(scale=2**40), *discrete_laplace(200, 2**40).tolist()]

some()
pipes = []
for _ in range(8):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, repr(some()).encode())
        os._exit(0)
    os.close(writing)
    pipes.append(reading)
print(some())
for reading in pipes:
    with os.fdopen(reading) as pipe:
        print(pipe.read())
    os.wait()
"""


def test_children_of_a_fork_and_their_parent_draw_differently_one_by_one_and_many() -> None:
    # In a process of its own: this one may have threads, which a fork would leave behind.
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    drawn = [literal_eval(line) for line in done.stdout.splitlines()]
    assert [len(numbers) for numbers in drawn] == [201] * 9
    # Any two of them are equal with a chance of 1e-6.
    assert len({number for numbers in drawn for number in numbers}) == 9 * 201
