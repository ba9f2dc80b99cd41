"""Interrupts at random times, of threads that charge: to be run in a process of its own.

An exception that is thrown into a thread may come anywhere, also in code that was never made for it: the interpreter's
own, or that of whatever else runs in the process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import itertools
import random
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger

SECONDS = 30.0
"""For threads that should be long done."""

THREADS, VICTIMS = 4, 2


@dataclass(frozen=True)
class Found:
    """What came of it."""

    told: set[str]
    """The keys of requests that heard that they were charged."""
    charged: set[str]
    """The keys of requests that the ledger has charged."""
    interrupted: list[str]
    """The keys of requests that ended with an interrupt."""
    failed: list[str]
    """How others ended that did not go through."""
    spent: vm.Loss
    problems: list[str]
    """What is wrong with the ledger."""


def charge_and_interrupt(location: str | None) -> Found:
    """Charge a new ledger in threads, and interrupt two of them again and again; without a location, one in memory."""
    with ledgers.in_memory() if location is None else ledgers.open(location) as book:
        book.define("all", vm.pure(10_000), SPACE)
        told, interrupted, failed = _charge_in_threads(book)
        charged = {entry.record["key"] for entry in book.entries() if entry.kind == "reserve"}
        problems = [str(problem) for problem in ledgers.verify(book).problems]
        return Found(told, charged, interrupted, failed, book.scope("all").spent, problems)


def _charge_in_threads(book: Ledger) -> tuple[set[str], list[str], list[str]]:
    told: set[str] = set()
    begun: set[int] = set()
    interrupted: list[str] = []
    failed: list[str] = []
    done = threading.Event()

    def charge(name: int, numbers: Iterator[int]) -> None:
        while not done.is_set():
            key = f"{name}-{next(numbers)}"
            try:
                assert book.reserve(vm.pure(1), scopes=["all"], key=key).new
                told.add(key)
            except KeyboardInterrupt:
                interrupted.append(key)
            except BaseException:
                failed.append(traceback.format_exc())

    def charge_until_done(name: int) -> None:
        numbers = itertools.count()  # goes on after an interrupt: a key that was asked for is not asked for again
        while not done.is_set():
            try:
                begun.add(name)
                charge(name, numbers)
            except KeyboardInterrupt:  # between two requests
                continue

    threads = [threading.Thread(target=charge_until_done, args=(name,), daemon=True) for name in range(THREADS)]
    for thread in threads:
        thread.start()
    chance, end = random.Random(5), time.monotonic() + SECONDS
    while len(begun) < THREADS and time.monotonic() < end:  # until then, nobody would catch an interrupt
        time.sleep(0.001)
    while (len(interrupted) < 40 or len(told) < 100) and time.monotonic() < end and not failed:
        victim = ctypes.c_ulong(threads[chance.randrange(VICTIMS)].ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(victim, ctypes.py_object(KeyboardInterrupt))
        time.sleep(chance.uniform(0, 0.02))
    done.set()
    end = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback()
        raise AssertionError("a thread waits for something that nobody writes")
    return told, interrupted, failed
