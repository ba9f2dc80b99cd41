"""Pictures of answers show the numbers of the answer, its cost, and names as they are."""

from typing import Any

import pytest
from tests.tables.showing.made import answer, carriers, estimate

from viameter.errors import ParameterError
from viameter.tables.showing import draw_answer


def texts(figure: Any) -> list[str]:
    """The lines above the panels."""
    return [text.get_text() for text in figure.texts]


def test_all_aggregates_have_a_panel_with_values_and_intervals() -> None:
    figure = draw_answer(carriers())
    counts, delays = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["n", "delay"]
    values = counts.lines[-1].get_xydata().tolist()
    assert values == [[1000.0, 0.0], [1007.0, 1.0], [1014.0, 2.0]]
    segments = [segment.tolist() for segment in delays.collections[0].get_segments()]
    assert segments[0] == [[11.9456, 0.0], [12.7456, 0.0]]
    assert [label.get_text() for label in counts.get_yticklabels()] == ["C0", "C1", "C2"]
    assert texts(figure) == [
        "n, delay by carrier",
        "cost zcdp(1/200) for one tailnum with all of its rows (user); confidence 95% of each interval",
    ]


def test_one_aggregate_is_drawn_by_its_name() -> None:
    figure = carriers().plot("delay")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["delay"]
    assert texts(figure)[0] == "delay by carrier"
    with pytest.raises(ParameterError, match="there is no aggregate 'speed'; there are n, delay"):
        draw_answer(carriers(), "speed")


def test_an_answer_without_groups_is_one_point(tmp_path: Any) -> None:
    figure = draw_answer(answer((), [()], {"n": estimate([(5, 1, 9)], whole=True)}))
    assert texts(figure)[0] == "n" and figure.axes[0].lines[-1].get_xydata().tolist() == [[5.0, 0.0]]
    figure.savefig(tmp_path / "one.png")


def test_of_more_groups_than_there_is_room_for_the_title_tells() -> None:
    figure = draw_answer(carriers(100), "n")
    assert texts(figure)[0] == "n by carrier: the first 60 of 100 groups"
    assert len(figure.axes[0].get_yticklabels()) == 60
    assert texts(draw_answer(carriers(60), "n"))[0] == "n by carrier"


def test_keys_that_look_like_formulas_or_break_lines_are_drawn_as_they_are(tmp_path: Any) -> None:
    keys = [("$x_{$", 1), ("a\nb", 2), ("$$", None)]
    figure = draw_answer(answer(("$^$", "k"), keys, {"$\\frac$": estimate([(1.0, 0.0, 2.0)] * 3)}))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["$x_{$, 1", "a\\nb, 2", "$$, NULL"]
    figure.savefig(tmp_path / "odd.png")
