"""The programs on the slides, from their printed form: verified, and held to what the neighborhood room says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.logic.programs import is_proved

import viameter as vm
from viameter import neighborhood as nb
from viameter.logic import program_from_core

MEAN = """
Mean (d : private data) : public real
  i:=0;
  s:=0;
  while (i<size(d))
    s:=s + d[i]
    i:=i+1;
  z:=$ Lap(sens/eps, (s/i))
  return z
"""
RUNNING_SUMS = """
DummySum (d : {0,1} list) : real list
  i := 0;
  s := 0;
  r := [];
  while (i < size d)
    s := s + d[i]
    z := $ Lap (eps, s)
    r := r ++ [z];
    i := i + 1;
  return r
"""
SUMMED_AFTERWARDS = """
DummySum (d : {0,1} list) : real list
  i:=0;
  s:=0;
  r:=[];
  while (i<size d)
    z:=$ Lap (eps, d[i])
    s:= s + z
    r:= r ++ [s];
    i:= i+1;
  return r
"""
LENGTH = 7


def program_of(text: str, **given: Any) -> Any:
    return program_from_core(text, adjacent=vm.one_differs("d", by=1), **given)


def proved_cost(text: str, *, eps: str, **given: Any) -> Fraction:
    """What one step costs by the proof, as the program's own measurement says it."""
    program = program_of(text)
    verdict = vm.verify(program)
    assert verdict.status is vm.Status.PROVED
    measured = program.measurement(verdict=verdict, eps=eps, **given)
    epsilon = measured.map(1).epsilon
    assert isinstance(epsilon, Fraction)
    return epsilon


def composed(leaves: list[Any]) -> Fraction:
    loss: Any = nb.compose(nb.event(), leaves).loss
    return Fraction(loss.epsilon)


@pytest.mark.parametrize("grid", ["1", "1/100"])
def test_the_mean_of_the_slides_is_proved_at_eps(grid: str) -> None:
    program = program_of(MEAN, grid=grid)
    assert vm.verify(program, "eps", seconds=60).status is vm.Status.PROVED
    assert not is_proved(program, "99/100*eps")


def test_the_mean_is_one_release_of_all_data() -> None:
    whole = [nb.leaf(nb.whole(), vm.pure("1/10"))]
    assert proved_cost(MEAN, eps="1/10", sens=1) == composed(whole) == Fraction(1, 10)


def test_noise_on_each_running_sum_costs_as_overlapping_prefixes_do() -> None:
    prefixes = nb.intervals([(0, last) for last in range(LENGTH)])
    leaves = [nb.leaf(prefix, vm.pure("1/10")) for prefix in prefixes]
    assert proved_cost(RUNNING_SUMS, eps="1/10", length=LENGTH) == composed(leaves) == Fraction(LENGTH, 10)


def test_noise_on_each_element_costs_as_a_partition_does() -> None:
    moments = nb.intervals([(moment, moment) for moment in range(LENGTH)])
    leaves = [nb.leaf(moment, vm.pure("1/10")) for moment in moments]
    assert proved_cost(SUMMED_AFTERWARDS, eps="1/10") == composed(leaves) == Fraction(1, 10)
