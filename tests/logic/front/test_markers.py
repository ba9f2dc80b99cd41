"""The words that programs are written with: refused outside of one, and what they say of grids inside."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

from viameter.errors import NumberError, ParameterError
from viameter.logic.front import markers
from viameter.logic.front.python import compile_source
from viameter.logic.lang.text import show_program


@for_each("name", [*markers.NOISE, "invariant"])
def test_noise_outside_a_program_is_refused(name: str) -> None:
    function: Callable[..., Any] = markers.MARKERS[name]
    given = ("x", "y") if name in ("uniform", "choose") else ("x",)
    with pytest.raises(
        ParameterError, match=rf"vm\.{name} is part of a program: write it in a function under @vm\.program"
    ):
        function(*given)


def test_a_budget_outside_a_program_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"vm\.Eps is part of a program"):
        markers.Eps()
    budget = object.__new__(markers.Eps)
    uses: list[Callable[[], markers.Eps]] = [
        lambda: budget / 2, lambda: 2 / budget, lambda: budget * 2, lambda: 2 * budget, lambda: budget + budget,
        lambda: budget - budget,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ParameterError, match=r"vm\.Eps is part of a program"):
            use()


def test_grids_and_bounds_are_checked_when_they_are_made() -> None:
    assert markers.Grid("0.01").step == Fraction(1, 100)
    assert markers.Between(0, 1) == markers.Between("0", Fraction(1))
    with pytest.raises(ParameterError, match="positive"):
        markers.Grid(0)
    with pytest.raises(NumberError):
        markers.Grid(0.1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="low <= high"):
        markers.Between(2, 1)
    with pytest.raises(ParameterError, match="1/2 is not on the grid"):
        markers.Between("1/2", 1)
    with pytest.raises(ParameterError, match="positive"):
        markers.Between(0, 1, grid=-1)


def noise(header: str, call: str = "vm.lap(1 / eps)", private: str = "q") -> str:
    """The sampling statement of a program that draws, and returns what it drew if that fits."""
    inputs, _, returned = header.partition(" -> ")
    body = "return y" if returned != "int" else "return 1"
    text = f"def f({inputs}, eps: vm.Eps) -> {returned}:\n    y = {call}\n    {body}\n"
    compiled = compile_source(text, private=frozenset(private.split()))
    return next(line.strip() for line in show_program(compiled.program).splitlines() if ":=$" in line)


@for_each(
    ("header", "expected"),
    [
        ("q: int -> int", "y :=$ lap(1/eps)"),
        ('q: vm.Grid("1/100") -> vm.Grid("1/100")', "y :=$ lap(100/eps)"),
        ('q: list[vm.Grid("1/100")] -> int', "y :=$ lap(100/eps)"),
        ('q: list[vm.Between(0, 1, grid="1/4")], t: int -> int', "y :=$ lap(4/eps)"),
        ('q: int, t: vm.Grid("1/4") -> int', "y :=$ lap(1/eps)"),
        ('q: int -> vm.Grid("1/4")', "y :=$ lap(1/eps)"),
        ('q: bool -> vm.Grid("1/4")', "y :=$ lap(4/eps)"),
        ('q: vm.Grid("1/4") -> vm.Grid("1/8")', "y :=$ lap(1/eps)"),
    ],
)
def test_noise_without_a_grid_stands_on_the_one_that_private_inputs_and_the_result_share(
    header: str, expected: str
) -> None:
    assert noise(header) == expected


def test_private_inputs_on_two_grids_leave_noise_on_the_integers() -> None:
    assert noise('q: vm.Grid("1/4"), r: vm.Grid("1/2") -> int', private="q r") == "y :=$ lap(1/eps)"


@for_each(
    ("call", "expected"),
    [
        ('vm.lap(1 / eps, grid="1/3")', "y :=$ lap(3/eps)"),
        ("vm.lap(scale=2 * n / (3 * eps), grid=Fraction(1, 2))", "y :=$ lap(4/3*n/eps)"),
        ("lap(n * len(r) * (n + 1) / eps)", "y :=$ lap(len(r)*n*(n + 1)/eps)"),
        ("vm.lap(1 / ln(3))", "y :=$ lap(1/ln(3))"),
        ('vm.geom("1/3")', "y :=$ expo(1/ln(3/2))"),
        ("vm.expo(g / eps)", "y :=$ expo(1/10*g/eps)"),
        ("vm.gauss(7 / 2)", "y :=$ gauss(7/2)"),
        ("vm.lap(eps / (eps * eps1))", "y :=$ lap(1/eps1)"),
        ("vm.lap(n * n / (n * eps) * 2)", "y :=$ lap(2*n/eps)"),
        ("vm.lap(1 / (eps / 4 + eps / 4))", "y :=$ lap(2/eps)"),
        ("vm.lap(3 / (eps - eps / 4))", "y :=$ lap(4/eps)"),
        ("vm.choose(r, 2 / eps)", "y :=$ choose(r, 2/eps)"),
        ("vm.uniform(n, 2 * n)", "y :=$ uniform(n, 2 * n)"),
        ("vm.lap(1 / eps, center=q)", "y :=$ lap(1/eps, q)"),
    ],
)
def test_laws_are_read(call: str, expected: str) -> None:
    assert noise('q: int, r: list[int], n: int, g: vm.Grid("1/10"), eps1: vm.Eps -> int', call) == expected
