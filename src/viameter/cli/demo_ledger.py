"""The part of the tour about the ledger: what was spent before, the same answer under the same key, a refusal."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import viameter as vm
from viameter.errors import AnswerLost, OverBudget
from viameter.ledger import Ledger, history, verify

Say = Callable[[str], None]


def released(question: Any, spend: vm.Loss, key: str) -> Any:
    """The answer under a key; if an earlier run was cut off there, it is asked, and paid for, under another one."""
    for attempt in itertools.count(1):
        try:
            return question.release(spend=spend, key=key if attempt == 1 else f"{key}, asked again {attempt}")
        except AnswerLost:
            continue
    raise AssertionError


def show_what_was_spent(say: Say, book: Ledger, path: str) -> None:
    """What an earlier run spent, if there was one, and how to start over."""
    charges = [line for line in history(book) if line.costs]
    if not charges:
        return
    (scope,) = book.scopes()
    settled = {entry.record["reserved"] for entry in book.entries() if entry.kind in ("commit", "fail")}
    lost = [line for line in charges if line.seq not in settled]
    times = "1 charge" if len(charges) == 1 else f"{len(charges)} charges"
    say(indent(f"{path} is of an earlier run: {scope.spent!r} of {scope.budget!r} was spent, in {times}"))
    for line in lost:
        say(indent(f"cut off before it was answered, and charged all the same: {line.query} (asked, and paid, anew)"))
    say(indent("what was answered comes from the ledger: the same answers, and nothing more is spent"))
    say(indent(f"{start_over(path)}\n"))


def start_over(path: str) -> str:
    """How to begin anew, which is fine for a demo and a refund anywhere else."""
    return f"(to start over: rm {path}*; with real data that would be a refund, and a witness kept elsewhere tells)"


def show_ledger(say: Say, book: Ledger, flights: Any, question: Any, answer: Any) -> None:
    """The same key again, a question that does not fit, and the chain read from its first entry."""
    say("\n9. What was spent is on disk, and shared by all who ask:\n")
    before = flights.spent
    again = released(question, vm.zcdp("1/10"), "flights of airlines")
    same = again.to_dicts() == answer.to_dicts() and flights.spent == before
    say(indent(f"asked again under the same key: the same answer, and nothing more is spent: {same}"))
    try:
        question.release(spend=vm.zcdp(4))
    except OverBudget as refusal:
        say(indent(f"asked for {refusal.asked!r}: refused before a row is read; nothing was spent"))
    found = verify(book)
    held = "all entries in order, each with the hash of the one before it" if found.ok else "NOT in order"
    say(indent(f"the ledger read again from its first entry: {held}"))


def indent(text: str) -> str:
    """Text as it stands under a heading of the tour."""
    return "\n".join(f"   {line}" if line else "" for line in text.split("\n"))
