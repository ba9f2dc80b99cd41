"""Data that were handed over in the place of something else do not come back in the text of an error."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import viameter as vm
from viameter.errors import ViameterError, plain

SPACE = vm.Space(vm.vectors(int, bounds=(0, 120)), vm.SymmetricDistance())
SCORES = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
COUNT = vm.count(SPACE) >> vm.laplace(scale=10)

MISTAKES: dict[str, Callable[[Any], Any]] = {
    "Odometer, space": lambda data: vm.Odometer(data, vm.PureDP),
    "Odometer, measure": lambda data: vm.Odometer(SPACE, data),
    "filter, budget": lambda data: vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=data),
    "filter, d_in": lambda data: vm.Odometer(SPACE, vm.PureDP).filter(d_in=data, budget=vm.pure(1)),
    "meter": vm.Odometer(SPACE, vm.PureDP)([1]),
    "resume": lambda data: vm.Odometer.resume(data, data),
    "Space, domain": lambda data: vm.Space(data, vm.SymmetricDistance()),
    "Space, metric": lambda data: vm.Space(vm.vectors(int), data),
    "measurement >>": lambda data: COUNT >> data,
    "describe": lambda data: vm.accounting.describe(data, d_in=1),
    "Accountant": lambda data: vm.Accountant().add(data),
    "adaptive": lambda data: vm.adaptive(SPACE, d_in=1, losses=data),
    "compose": lambda data: vm.compose(SPACE, data),
    "compose_losses": vm.compose_losses,
    "plot_profiles": vm.plot_profiles,
    "resize": lambda data: vm.resize(SPACE, size=data, fill=0),
    "clamp": lambda data: vm.clamp(SPACE, bounds=data),
    "laplace": lambda data: vm.laplace(SPACE, scale=data),
    "top_k": lambda data: vm.top_k(SCORES, k=data, scale=1),
    "calibrate, loss": lambda data: vm.calibrate(vm.laplace, vm.count(SPACE), d_in=1, loss=data),
    "calibrate, data": lambda data: vm.calibrate(vm.laplace, data, d_in=1, loss=vm.pure(1)),
    "accuracy": vm.accuracy,
    "pure": vm.pure,
    "renyi": vm.renyi,
    "profile": vm.profile,
    "to": lambda data: vm.pure(1).to(data),
    "Accountant, count": lambda data: vm.Accountant().add(vm.accounting.pure(1), data),
    "Subsample": lambda data: vm.accounting.Subsample(Fraction(1, 2), data),
    "anytime": lambda data: vm.anytime(d_in=1, delta="1/2", shape=data),
    "filter, rule": lambda data: vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure(1), rule=data),
    "to, by": lambda data: vm.pure(1).to(vm.ZCDP, by=data),
    "discrete_laplace": lambda data: vm.sampling.discrete_laplace(data, 1),
}


@pytest.mark.parametrize(
    "data", [[4171, 4172, 4173], np.array([4171, 4172, 4173]), {"age": [4171, 4172]}], ids=lambda d: type(d).__name__
)
@pytest.mark.parametrize("place", MISTAKES)
def test_rows_in_the_wrong_place_are_not_shown(place: str, data: Any) -> None:
    with pytest.raises(ViameterError) as error:
        MISTAKES[place](data)
    assert "417" not in str(error.value)


def test_what_is_public_is_shown() -> None:
    shown = [plain(value) for value in (None, True, 3, 0.5, "1/2", vm.pure(1), vm.PureDP, vm.ADAPTIVE, len)]
    assert shown == ["None", "True", "3", "0.5", "'1/2'", "pure(1)", "PureDP", "ADAPTIVE", "<built-in function len>"]
    assert plain("x" * 1000) == "a value of type str"
    assert plain((1, 2)) == "a value of type tuple"
    assert plain(Holder([4171]).show) == "a value of type method"


class Holder:
    """Something that shows what it holds."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def show(self) -> None: ...

    def __repr__(self) -> str:
        return f"Holder({self.rows})"
