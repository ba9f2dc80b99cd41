"""Intervals are drawn as they were given, from top to bottom, and however many there are the text has room."""

import builtins
from itertools import pairwise
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.viz import draw_intervals


def points(count: int) -> list[tuple[float, float, float]]:
    return [(10.0 + place, 8.0 + place, 13.0 + place) for place in range(count)]


def drawn(count: int, panels: int, label: str = "group {}") -> Any:
    groups = [label.format(place) for place in range(count)]
    given = [(f"panel {place}", points(count)) for place in range(panels)]
    return draw_intervals(given, groups=groups, title="Title", under="cost and guarantee")


def laid_out(figure: Any) -> None:
    """Have text and panels put where they are to be seen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def test_points_and_ends_are_those_given_and_the_first_is_on_top() -> None:
    (axes,) = drawn(3, 1).axes
    lower, upper, value = axes.lines
    assert value.get_xydata().tolist() == [[10.0, 0.0], [11.0, 1.0], [12.0, 2.0]]
    assert lower.get_xdata().tolist() == [8.0, 9.0, 10.0] and upper.get_xdata().tolist() == [13.0, 14.0, 15.0]
    assert [part.tolist() for part in axes.collections[0].get_segments()][2] == [[10.0, 2.0], [15.0, 2.0]]
    bottom, top = axes.get_ylim()
    assert bottom > 2 and top < 0
    assert [label.get_text() for label in axes.get_yticklabels()] == ["group 0", "group 1", "group 2"]


@pytest.mark.parametrize(("count", "panels"), [(1, 1), (3, 1), (16, 3), (60, 1), (60, 3), (5, 5)])
def test_labels_of_groups_do_not_touch_and_nothing_is_outside_of_the_picture(count: int, panels: int) -> None:
    figure = drawn(count, panels, label="[{}, a rather long name of a group)")
    laid_out(figure)
    whole = figure.bbox
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == panels
    for axes in shown:
        boxes = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_visible()]
        boxes.sort(key=lambda box: box.y0)
        assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))
        tight = axes.get_tightbbox()
        assert whole.x0 <= tight.x0 and tight.x1 <= whole.x1 + 1 and whole.y0 <= tight.y0
        # Titles of panels stay below the lines above them.
        assert tight.y1 <= min(text.get_window_extent().y0 for text in figure.texts)
    for text in figure.texts:
        box = text.get_window_extent()
        assert box.x1 <= whole.x1 and box.y1 <= whole.y1


def test_long_lines_above_the_panels_are_broken() -> None:
    figure = draw_intervals([("n", points(2))], groups=["a", "b"], title="words " * 40, under="more words " * 40)
    laid_out(figure)
    title, under = (text.get_window_extent() for text in figure.texts)
    assert max(title.x1, under.x1) <= figure.bbox.x1 and under.y1 <= title.y0
    assert under.y0 >= figure.axes[0].get_tightbbox().y1


def test_numbers_on_the_axis_are_written_out() -> None:
    figure = draw_intervals([("n", [(3e8 + 5, 3e8, 3e8 + 9)])], groups=[""], title="", under="")
    laid_out(figure)
    (axes,) = figure.axes
    assert axes.xaxis.get_offset_text().get_text() == ""
    assert all(label.get_text().startswith("30000000") for label in axes.get_xticklabels()[1:-1])


def test_nothing_is_read_as_a_formula(tmp_path: Any) -> None:
    figure = draw_intervals([("$\\bad$", points(1))], groups=["$x_{$"], title="$a^$", under="$\\worse{$")
    figure.savefig(tmp_path / "plain.png")


def test_no_groups_are_an_empty_picture(tmp_path: Any) -> None:
    draw_intervals([("n", [])], groups=[], title="", under="").savefig(tmp_path / "empty.png")


def test_numbers_that_do_not_fit_the_groups_are_refused() -> None:
    with pytest.raises(ParameterError, match="panel 'n' has 2 points for 1 groups"):
        draw_intervals([("n", points(2))], groups=["a"], title="", under="")
    with pytest.raises(ParameterError, match="at least one panel"):
        draw_intervals([], groups=[], title="", under="")


def test_what_is_missing_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ParameterError, match=r"pip install 'viameter\[plot\]'"):
        draw_intervals([("n", points(1))], groups=["a"], title="", under="")
