"""Pictures of losses have the numbers of the library in them."""

from fractions import Fraction

import pytest

import viameter as vm
from viameter.errors import ParameterError

SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())
COUNT = vm.count(SPACE) >> vm.laplace(scale=10)


def test_profiles_have_the_deltas_of_conversion() -> None:
    losses = {"pure": vm.pure(1), "zcdp": vm.zcdp("1/10")}
    (axes,) = vm.plot_profiles(losses, most=2).axes
    for line in axes.lines:
        points = line.get_xydata().tolist()
        assert len(points) > 30
        for epsilon, delta in points[::10]:
            loss = losses[line.get_label()]
            assert delta == pytest.approx(float(loss.to(vm.ApproxDP, epsilon=Fraction(epsilon)).delta), rel=1e-9)


def test_losses_without_names_are_named_by_themselves() -> None:
    (axes,) = vm.plot_profiles([vm.gdp(1), vm.zcdp("1/2")]).axes
    assert [line.get_label() for line in axes.lines] == ["gdp(1)", "zcdp(1/2)"]
    # Without `most`, it goes on until all deltas are small.
    assert all(line.get_ydata()[-1] < 1e-9 for line in axes.lines)


def test_spending_of_a_filter_and_of_an_odometer() -> None:
    capped = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure(1))([1])
    meter = vm.Odometer(SPACE, vm.PureDP)([1])
    for _ in range(3):
        capped(COUNT)
        meter(COUNT)
    (axes,) = vm.plot_spending(capped).axes
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.3])
    assert set(axes.lines[1].get_ydata()) == {1.0}
    assert axes.get_ylabel() == "spent, epsilon in PureDP"
    (axes,) = vm.plot_spending(meter, d_in=2).axes
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.6])
    assert len(axes.lines) == 1


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ParameterError, match="takes losses"):
        vm.plot_profiles([])
    with pytest.raises(ParameterError, match="d_in is missing"):
        vm.plot_spending(vm.Odometer(SPACE, vm.PureDP)([1]))
    curve = vm.Odometer(SPACE, vm.RenyiDP)([1])
    with pytest.raises(ParameterError, match="is a curve"):
        vm.plot_spending(curve, d_in=1)
