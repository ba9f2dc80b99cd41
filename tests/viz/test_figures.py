"""Figures show the numbers they were given, and say what is missing where matplotlib is not installed."""

import builtins
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.viz import draw_profiles, draw_spending


def test_every_profile_is_a_line_with_its_name() -> None:
    figure = draw_profiles({"one": [(0.0, 0.5), (1.0, 0.1)], "other": [(0.0, 0.2), (1.0, 1e-20)]}, title="Profiles")
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["one", "other"]
    assert axes.lines[0].get_xydata().tolist() == [[0.0, 0.5], [1.0, 0.1]]
    # What is too small for the axis is left out.
    assert axes.lines[1].get_xydata().tolist() == [[0.0, 0.2]]
    assert axes.get_yscale() == "log" and axes.get_title(loc="left") == "Profiles"
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2


def test_spending_is_drawn_in_steps_below_the_budget() -> None:
    figure = draw_spending([0.1, 0.4], unit="epsilon in PureDP", budget=1.0, title="Spent")
    (axes,) = figure.axes
    steps, budget = axes.lines
    assert steps.get_xydata().tolist() == [[0.0, 0.0], [1.0, 0.1], [2.0, 0.4], [2.5, 0.4]]
    assert set(budget.get_ydata()) == {1.0}
    assert axes.get_ylim() == (0.0, pytest.approx(1.15))
    assert axes.get_ylabel() == "spent, epsilon in PureDP"


def test_nothing_spent_and_no_budget_is_still_a_picture(tmp_path: Any) -> None:
    draw_spending([], unit="rho in ZCDP", budget=None, title="Spent").savefig(tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_what_is_missing_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ParameterError, match=r"pip install 'viameter\[plot\]'"):
        draw_profiles({}, title="Profiles")
