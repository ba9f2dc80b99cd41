"""A case file with everything that can happen to a variant, for the tests of the harness."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from importlib import import_module

from bench.measure import ENOUGH_SECONDS
from bench.model import Benchmark, Case, Variant


def adds_up(size: int) -> Callable[[], object]:
    numbers = list(range(size))
    return lambda: sum(numbers)


def adds_up_slowly(size: int) -> Callable[[], object]:
    numbers = list(range(size)) * 10
    return lambda: sum(numbers) / 10


def adds_up_aloud(size: int) -> Callable[[], object]:
    print("a library that prints")
    os.system("cat; echo a child that reads and prints")
    return adds_up(size)


def adds_up_wrongly(size: int) -> Callable[[], object]:
    return adds_up(size + 1)


def raises_in_set_up(size: int) -> Callable[[], object]:
    raise ValueError("no | `set-up`\nof this")


def until_the_second_repetition(size: int, end: Callable[[], object]) -> Callable[[], object]:
    run, calls = adds_up(size), 0

    def run_or_end() -> object:
        nonlocal calls
        calls += 1
        if calls > 4:  # three calls to prepare: for the value, the memory and the number of loops
            end()
        time.sleep(2 * ENOUGH_SECONDS)  # so that a timing is one call
        return run()

    return run_or_end


def raises_later(size: int) -> Callable[[], object]:
    def end() -> None:
        raise ArithmeticError("enough")

    return until_the_second_repetition(size, end)


def dies_later(size: int) -> Callable[[], object]:
    return until_the_second_repetition(size, lambda: os.kill(os.getpid(), signal.SIGKILL))


def is_not_installed(size: int) -> Callable[[], object]:
    import_module("a_peer_that_nobody_installed")
    return adds_up(size)


def dies(size: int) -> Callable[[], object]:
    os.write(2, b"out of memory, say\n")
    os._exit(3)


BENCHMARK = Benchmark(
    title="A fake",
    about="Adds up numbers.",
    cases=[
        Case(
            name="sum",
            parameters={"size": 1_000},
            variants=[
                Variant("reference", adds_up),
                Variant("slow", adds_up_slowly, environment="peer"),
                Variant("aloud", adds_up_aloud),
                Variant("half the work", adds_up_wrongly, units=500),
                Variant("wrong", adds_up_wrongly),
                Variant("raises", raises_in_set_up),
                Variant("absent", is_not_installed),
                Variant("raises later", raises_later),
                Variant("dies", dies, environment="peer"),
                Variant("dies later", dies_later, environment="peer"),
                Variant("no environment", adds_up, environment="nowhere"),
            ],
            units=1_000,
            unit="number",
            tolerance=1e-12,
            difference_to="slow",
            memory=True,
        ),
        Case(name="after all that", parameters={"size": 10}, variants=[Variant("reference", adds_up)]),
    ],
)
