"""Indices below 0: a program reads there what Python reads, and is proved of that."""

from __future__ import annotations

import pytest

import viameter as vm
from viameter.logic import program_from_source
from viameter.logic.verdict import Status
from viameter_check.programs import check_program

AT = "def at(q: list[int], t: int, eps: vm.Eps) -> int:\n    "
BELOW_ZERO = {
    "a constant": "i = 0 - 1\n    return q[i]",
    "a step down": "i = 0\n    i -= 1\n    return q[i]",
    "a negation": "i = 1\n    return q[-i]",
    "a minimum": "i = min(0, -2)\n    return q[i]",
    "a public input": "return q[t] if t < 0 else 0",
    "a quotient": "i = 1\n    return q[i // -1]",
    "a remainder": "i = 1\n    return q[i % -2]",
    "a product": "i = 1\n    return q[i * (0 - 1)]",
    "a draw": "i = vm.lap(1 / eps)\n    return q[i] if i < 0 else 0",
    "a uniform draw": "i = vm.uniform(0 - 1, 0 - 1)\n    return q[i]",
    "a branch": "i = 0\n    if t > 0:\n        i = 0 - 1\n    return q[i] if t > 0 else 0",
    "a conditional": "i = 0 if t > 0 else -1\n    return q[i] if t <= 0 else 0",
    "a conditional, the other way": "i = -1 if t > 0 else 0\n    return q[i] if t > 0 else 0",
    "a range": "for i in range(0 - 1, 0):\n        return q[i]\n    return 0",
    "through another variable": "i = 0\n    j = 0\n    for k in range(2):\n        j, i = i, -1\n    return q[j]",
}


@pytest.mark.parametrize("body", list(BELOW_ZERO))
def test_a_read_below_zero_costs_what_python_reads_there(body: str) -> None:
    released = program_from_source(AT + BELOW_ZERO[body], adjacent=vm.one_differs("q", by=None))
    assert vm.verify(released, "0", seconds=10).status is Status.REFUTED


def test_an_index_that_may_be_below_zero_is_proved_and_the_checker_agrees() -> None:
    body = "out = []\n    for i in range(len(q)):\n        out.append(q[i - 1] + vm.lap(1 / eps))\n    return out"
    shifted = program_from_source(
        AT.replace("-> int", "-> list[int]") + body, adjacent=vm.all_differ("q"), requires="t >= 0"
    )
    assert "q[len(q) + (i - 1)]" in shifted.text
    found = vm.verify(shifted, "len(q)*eps", seconds=20)
    assert found.status is Status.PROVED and found.certificate is not None
    assert check_program(found.certificate.text).ok


def test_what_a_program_requires_of_a_number_does_not_bind_the_variable_of_a_caller() -> None:
    one = program_from_source(
        "def one(q: list[int], i: vm.Between(0, 5)) -> int: return q[i]", adjacent=vm.all_differ("q"),
        requires="i >= 0",
    )  # fmt: skip
    text = "def f(q: list[int], t: int) -> int:\n    j = 0\n    j = j - 1\n    return one(q, j)"
    caller = program_from_source(text, adjacent=vm.one_differs("q", by=None), names={"one": one})
    assert vm.verify(caller, "0", seconds=10).status is Status.REFUTED
