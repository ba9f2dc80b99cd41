"""Two runs side by side: every value of a model stands where it belongs."""

from hypothesis import given
from hypothesis import strategies as st

from viameter.logic.present.model import MOST, runs
from viameter.logic.present.parts import Paragraph, Table


def test_values_of_the_two_runs_stand_in_two_columns_and_shared_ones_below() -> None:
    model = {
        "q<1>[10]": 1, "q<2>[10]": 1, "q<1>[2]": 3, "q<2>[2]": 4, "q<1>[-1]": 0, "seen<1>": True, "seen<2>": False,
        "len(q)": 3, "cost.eps": 2, "same.out": True, "eta.v31": -5, "before.12.left": 3, "before.12.right": 2,
    }  # fmt: skip
    table, shared = runs(model)
    assert isinstance(table, Table) and isinstance(shared, Paragraph)
    assert table.header == ("", "run 1", "run 2", "")
    assert table.rows == (
        ("q[-1]", "0", "", ""),
        ("q[2]", "3", "4", "≠"),
        ("q[10]", "1", "1", ""),
        ("the variant before this round", "3", "2", "≠"),
        ("seen", "true", "false", "≠"),
        ("eta, as drawn", "-5", "", ""),
    )
    assert shared.text == "In both runs: cost.eps = 2, len(q) = 3, same.out = true."


def test_two_draws_of_one_variable_are_both_shown() -> None:
    (table,) = runs({"x.v3": 1, "x.v4": 2})
    assert isinstance(table, Table) and table.rows == (("x, as drawn", "1 or 2", "", ""),)


def test_a_long_model_is_cut_and_says_so() -> None:
    (table,) = runs({f"q<1>[{k}]": k for k in range(MOST + 3)})
    assert isinstance(table, Table) and len(table.rows) == MOST and f"of {MOST + 3}" in table.title


names = st.sampled_from(["q", "rows.in", "noisy_t", "i"])


@given(
    st.dictionaries(
        st.tuples(names, st.none() | st.integers(-2, 30)),
        st.tuples(st.integers(), st.integers()),
        min_size=1,
        max_size=MOST,
    )
)
def test_no_value_is_lost(values: dict[tuple[str, int | None], tuple[int, int]]) -> None:
    model = {
        f"{name}<{side}>{'' if index is None else f'[{index}]'}": pair[side - 1]
        for (name, index), pair in values.items()
        for side in (1, 2)
    }
    (table,) = runs(model)
    assert isinstance(table, Table)
    assert set(table.rows) == {
        (f"{name}{'' if index is None else f'[{index}]'}", str(one), str(two), "≠" if one != two else "")
        for (name, index), (one, two) in values.items()
    }
