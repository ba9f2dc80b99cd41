"""Pictures of budgets show the numbers that they were given."""

from datetime import UTC, datetime
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.viz import Burndown, draw_burndown


def budget(**other: Any) -> Burndown:
    given: dict[str, Any] = {
        "name": "visits",
        "under": "half of it is spent\nfor people",
        "unit": "rho in ZCDP",
        "spent": [(0.0, 0.0), (1.0, 0.1), (2.0, 0.25)],
        "budget": [(0.0, 0.5), (1.5, 0.75)],
        "labels": ["budget 1/2", "budget 3/4"],
        "charges": [(1.0, 0.1), (2.0, 0.25)],
        "end": 2.5,
    }
    return Burndown(**given | other)


def lines(axes: Any) -> dict[str, list[list[float]]]:
    return {str(line.get_label()): line.get_xydata().tolist() for line in axes.lines}


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_steps_marks_and_budgets_stand_where_they_were_given() -> None:
    (axes,) = draw_burndown([budget()], over="charges").axes
    drawn = lines(axes)
    assert drawn["spent"] == [[0, 0], [1, 0.1], [2, 0.25], [2.5, 0.25]]
    assert drawn["budget"] == [[0, 0.5], [1.5, 0.75], [2.5, 0.75]]
    assert drawn["charges"] == [[1, 0.1], [2, 0.25]]
    assert {line.get_drawstyle() for line in axes.lines if line.get_label() != "charges"} == {"steps-post"}
    assert axes.get_title(loc="left") == "visits" and axes.get_ylabel() == "rho in ZCDP"
    assert axes.get_xlabel() == "charges" and "half of it is spent\nfor people" in texts(axes)
    assert {"budget 1/2", "budget 3/4"} <= set(texts(axes))
    assert axes.get_ylim() == (0, pytest.approx(0.885)) and axes.get_xlim() == (0, 2.5)


def test_renewals_and_closings_are_marked() -> None:
    (axes,) = draw_burndown([budget(renewals=[1.5, 1.8], closed=[(2.2, 0.75)])], over="charges").axes
    upright = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
    assert upright == [1.5, 1.8] and texts(axes).count("starts over") == 1
    assert lines(axes)["closed"] == [[2.2, 0.75]] and "closed: entries were lost" in texts(axes)


def test_times_are_dates_and_names_are_no_formulas(tmp_path: Any) -> None:
    may, june = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    odd = "$\\frac{1$ _x_"
    shown = budget(name=odd, under=odd, spent=[(may, 0.0)], budget=[(may, 1.0)], labels=[odd], charges=[], end=june)
    figure = draw_burndown([shown, budget()], over="time", title=odd)
    figure.savefig(tmp_path / "burndown.png")
    assert (tmp_path / "burndown.png").read_bytes()[:4] == b"\x89PNG"
    first, _ = figure.axes
    assert any("May" in text.get_text() for text in first.get_xticklabels())


def test_many_charges_have_no_marks() -> None:
    many = [(float(place), place / 100) for place in range(100)]
    (axes,) = draw_burndown([budget(spent=many, charges=many, end=100.0)], over="charges").axes
    assert "charges" not in lines(axes) and len(lines(axes)["spent"]) == 101


def test_one_budget_is_drawn_on_axes_that_were_given() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.add_subplot()
    assert draw_burndown([budget()], over="charges", axes=axes) is figure
    assert "spent" in lines(axes)
    with pytest.raises(ParameterError, match="room for one budget, and 2"):
        draw_burndown([budget(), budget()], over="charges", axes=axes)
    with pytest.raises(ParameterError, match="at least one"):
        draw_burndown([], over="charges")
