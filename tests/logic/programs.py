"""Programs in core text with their adjacency and true cost, and what the prover alone says of a program."""

from __future__ import annotations

import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_amount, read_program, read_term
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import Sort, Term
from viameter.logic.neighbors import Neighbors
from viameter.logic.verdict import Status, Verdict

_VERIFY = import_module("viameter.logic.verify")
_SORTS: dict[str, Sort] = {"q": "list", "any.k": "int", "q.at": "int"}


def _term(text: str) -> Term:
    return read_term(text, _SORTS)


_Q = frozenset({"q"})
ALL = Neighbors(_Q, (), (("q", _term("abs(q<1>[any.k] - q<2>[any.k]) <= 1")),), (), "every q differs by at most 1")
UP = Neighbors(
    _Q,
    (),
    (("q", _term("0 <= q<2>[any.k] - q<1>[any.k] and q<2>[any.k] - q<1>[any.k] <= 1")),),
    (),
    "every q grows by at most 1",
)
_AT = "ite(any.k == q.at, abs(q<1>[any.k] - q<2>[any.k]) <= 1, q<1>[any.k] == q<2>[any.k])"
ONE = Neighbors(_Q, (), (("q", _term(_AT)),), ("q.at",), "one q differs by at most 1")

_SVT = """  noise :=$ lap({threshold}/eps)
  noisy_t := t + noise
  i := 0
  count := 0
  while i < len(q) and count < N do
    eta :=$ lap({query}*N/eps)
    if noisy_t <= q[i] + eta then
{above}
      count := count + 1
    else
      append(out, 0)
    end
    i := i + 1
  end
"""
_SVT_INPUTS = ("t: int", "N: int")
_LOOP = """  i := 0
  s := 0
  while i < len(q) do
{body}
    i := i + 1
  end
"""
_MAX = """  i := 0
  best := 0
  while i < len(q) do
    eta :=$ {law}
    if i == 0 or best < q[i] + eta then
      best := q[i] + eta
      result := i
    end
    i := i + 1
  end
"""
_BLOCKS = """  i := 0
  next := 0
  n := 0
  s := 0
  while i < len(q) do
    s := s + q[i]
    if (i + 1) % M == 0 then
{block}
      next := n
      s := 0
      append(out, next)
    else
      z :=$ lap(1/eps)
      next := next + q[i] + z
      append(out, next)
    end
    i := i + 1
  end
"""


def program(name: str, body: str, output: str, *inputs: str, requires: str = "") -> Program:
    """A program over a list q and one budget eps."""
    head = "".join(f"input {entry}\n" for entry in ("q: list", *inputs))
    wanted = f"requires {requires}\n" if requires else ""
    return read_program(f"program {name}\n{head}budget eps\n{wanted}begin\n{body}end\nreturn {output}\n")


def amount(text: str, of: Program) -> Amount:
    """A claim about a program."""
    return read_amount(text, frozenset(of.budgets), {entry.name: entry.sort for entry in of.inputs})


def _svt(name: str, threshold: int, query: int, above: str) -> Program:
    body = _SVT.format(threshold=threshold, query=query, above=above)
    return program(name, body, "out", *_SVT_INPUTS, requires="1 <= N")


ABOVE = """  noise :=$ lap(2/eps)
  noisy_t := t + noise
  i := 0
  returned := false
  while not returned and i < len(q) do
    eta :=$ lap(4/eps)
    if noisy_t <= q[i] + eta then
      result := i
      returned := true
    else
      i := i + 1
    end
  end
  if not returned then
    result := -1
  end
"""
ADAPTIVE = """  noise :=$ lap(2/eps)
  noisy_t := t + noise
  i := 0
  cost := 0
  while i < len(q) and cost + 4 <= 16 do
    eta :=$ lap(32/eps)
    if noisy_t + sigma <= q[i] + eta then
      append(out, 2)
      cost := cost + 2
    else
      eta2 :=$ lap(16/eps)
      if noisy_t <= q[i] + eta2 then
        append(out, 1)
        cost := cost + 4
      else
        append(out, 0)
      end
    end
    i := i + 1
  end
"""
REDRAW = """  noise :=$ lap(2*N/eps)
  noisy_t := t + noise
  i := 0
  count := 0
  while i < len(q) and count < N do
    eta :=$ lap(4*N/eps)
    if noisy_t <= q[i] + eta then
      append(out, 1)
      count := count + 1
      noise :=$ lap(2*N/eps)
      noisy_t := t + noise
    else
      append(out, 0)
    end
    i := i + 1
  end
"""
_NUMERIC = "      extra :=$ lap(3*N/eps)\n      append(out, q[i] + extra)"
_SUM = _LOOP.format(body="    s := s + q[i]")
_RIGHT: list[tuple[Program, Neighbors, str]] = [
    (program("above_threshold", ABOVE, "result", "t: int"), ALL, "eps"),
    (_svt("sparse_vector", 2, 4, "      append(out, 1)"), ALL, "eps"),
    (_svt("monotone_sparse_vector", 2, 2, "      append(out, 1)"), UP, "eps"),
    (_svt("monotone_sparse_vector_back", 2, 2, "      append(out, 1)"), UP.swapped(), "eps"),
    (_svt("numeric_sparse_vector", 3, 6, _NUMERIC), ALL, "eps"),
    (_svt("gap_sparse_vector", 2, 4, "      append(out, q[i] + eta - noisy_t)"), ALL, "eps"),
    (program("redrawn_sparse_vector", REDRAW, "out", *_SVT_INPUTS, requires="1 <= N"), ALL, "eps"),
    (program("adaptive_sparse_vector", ADAPTIVE, "out", "t: int", "sigma: int"), ALL, "eps"),
    (program("noisy_max", _MAX.format(law="lap(2/eps)"), "result"), ALL, "eps"),
    (program("noisy_max_exponential", _MAX.format(law="expo(2/eps)"), "result"), ALL, "eps"),
    (program("partial_sum", _SUM + "  z :=$ lap(1/eps)\n  result := s + z\n", "result"), ONE, "eps"),
    (program("early_noise", "  z :=$ lap(1/eps)\n" + _SUM + "  result := s + z\n", "result"), ONE, "eps"),
    (
        program(
            "prefix_sum",
            _LOOP.format(body="    z :=$ lap(1/eps)\n    s := s + q[i] + z\n    append(out, s)"),
            "out",
        ),
        ONE,
        "eps",
    ),
    (
        program(
            "dummy_sum_1",
            _LOOP.format(body="    s := s + q[i]\n    z :=$ lap(1/eps, s)\n    append(out, z)"),
            "out",
        ),
        ONE,
        "len(q)*eps",
    ),
    (
        program(
            "dummy_sum_2",
            _LOOP.format(body="    z :=$ lap(1/eps, q[i])\n    s := s + z\n    append(out, s)"),
            "out",
        ),
        ONE,
        "eps",
    ),
    (program("histogram", _LOOP.format(body="    z :=$ lap(1/eps)\n    append(out, q[i] + z)"), "out"), ONE, "eps"),
    (
        program("smart_sum", _BLOCKS.format(block="      z :=$ lap(1/eps)\n      n := n + s + z"), "out", "M: int"),
        ONE,
        "2*eps",
    ),
]
RIGHT: dict[str, tuple[Program, Neighbors, Amount]] = {
    p.name: (p, neighbors, amount(claim, p)) for p, neighbors, claim in _RIGHT
}
"""Correct programs, each at its true cost."""

_WRONG: list[tuple[Program, Neighbors, str]] = [
    (
        program("no_query_noise", ABOVE.replace("    eta :=$ lap(4/eps)\n", "    eta := 0\n"), "result", "t: int"),
        ALL,
        "eps",
    ),
    (program("noisy_max_half", _MAX.format(law="lap(1/eps)"), "result"), ALL, "eps"),
    (program("noisy_max_value", _MAX.format(law="lap(2/eps)"), "best"), ALL, "eps"),
    (program("smart_sum_bare_block", _BLOCKS.format(block="      n := n + s"), "out", "M: int"), ONE, "2*eps"),
    (program("partial_sum_half", _SUM + "  z :=$ lap(1/2/eps)\n  result := s + z\n", "result"), ONE, "eps"),
    (program("doubled_noise", "  z :=$ lap(1/eps)\n  result := 2 * z + q[0]\n", "result"), ONE, "eps"),
    (_svt("returns_noisy_value", 2, 4, "      append(out, q[i] + eta)"), ALL, "eps"),
]
WRONG: dict[str, tuple[Program, Neighbors, Amount]] = {
    p.name: (p, neighbors, amount(claim, p)) for p, neighbors, claim in _WRONG
}
"""Programs that cost more than is claimed of them."""


def by_the_prover(program: Any, bound: Any = None, *, seconds: float = 60.0) -> Verdict:
    """The verdict of `verify` if no counterexample is looked for: its time is up where one would be.

    What has no proof is UNKNOWN as soon as the prover has nothing left to try.
    """
    ahead = 0.0

    def refute(*_: object, **__: object) -> None:
        nonlocal ahead
        ahead = seconds

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead)
    with patch.multiple(_VERIFY, FIRST=seconds, refute=refute, time=clock):
        found: Verdict = _VERIFY.verify(program, bound, seconds=seconds)
    return found


def is_proved(program: Any, bound: Any, *, seconds: float = 60.0) -> bool:
    """Whether the prover proves a bound."""
    return by_the_prover(program, bound, seconds=seconds).status is Status.PROVED
