"""Names of new columns, and text keys: what some engine would cut or refuse is refused before a charge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable

LONGEST = "n" * 61 + "é"
"""63 bytes in UTF-8, which is what PostgreSQL keeps of a name."""
UNFIT = {"long": LONGEST + "x", "long in bytes": "é" * 32, "nul": "a\0b", "surrogate": "a\ud800"}
Load = Callable[[Any, str, Any], EngineTable]


def opened(source: Any) -> Any:
    return vm.open(source, unit=vm.per("u", rows=4), budget=vm.zcdp(10**9))


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("way", ["derive", "join"])
def test_a_name_that_an_engine_would_change_is_refused(name: str, way: str) -> None:
    table = opened({"u": [1, 2]})
    ways: dict[str, Callable[[], Any]] = {
        "derive": lambda: table.derive(**{UNFIT[name]: table["u"] + 1}),
        "join": lambda: table.join(vm.public({"u": [1, 2], UNFIT[name]: [3, 4]}), on=["u"]),
    }
    with pytest.raises(ParameterError, match="column name"):
        ways[way]()
    assert table.spent == vm.zcdp(0)


@pytest.mark.parametrize("name", ["nul", "surrogate"])
def test_a_table_of_lists_with_a_name_that_an_engine_would_change_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="column name"):
        opened({"u": [1, 2], UNFIT[name]: [3, 4]})


def test_columns_that_were_opened_keep_their_long_names() -> None:
    name = UNFIT["long"]
    table = opened({"u": [1, 2], name: [3, 4]})
    answer = table.derive(**{name: table[name] + 1}).agg(s=vm.sum(name, bounds=(0, 9))).release(spend=vm.zcdp(10**8))
    assert round(answer["s"].value[0]) == 9


def test_the_longest_names_are_joined_derived_and_grouped_by(backend: Any, load: Load) -> None:
    """With names that agree in all but their last letter, so that a prefix before them would make them one."""
    first, other, key = (LONGEST[:-1] + letter for letter in "abc")
    one = load(backend, "long_names", {"u": [1, 2, 3], key: ["x", "y", "x"]}).expression
    table = opened(one).join(vm.public({key: ["x", "y"], first: [1, 2], other: [5, 7]}), on=[key])
    table = table.derive(**{LONGEST[1:] + "d": table[other] - table[first]})
    asked = table.group_by(key, keys=["x", "y", "\x01"]).agg(
        a=vm.sum(first, bounds=(0, 9)), b=vm.sum(other, bounds=(0, 9)), c=vm.sum(LONGEST[1:] + "d", bounds=(0, 9))
    )
    answer = asked.release(spend=vm.zcdp(10**8))
    found = {name: [round(value) for value in answer[name].value] for name in "abc"}
    assert found == {"a": [2, 2, 0], "b": [10, 7, 0], "c": [8, 5, 0]}


def test_the_longest_names_of_two_private_tables_are_joined(backend: Any, load: Load) -> None:
    first, other, key = (LONGEST[:-1] + letter for letter in "abc")
    visits = load(backend, "long_visits", {"u": [1, 2], key: [1, 2]}).expression
    stays = load(backend, "long_stays", {"u": [1, 2], key: [1, 3], first: [3, 4], other: [5, 6]}).expression
    both = vm.open({"visits": visits, "stays": stays}, unit=vm.per("u", rows=4), budget=vm.zcdp(10**9))
    joined = both["visits"].join(both["stays"], on=[key])
    answer = joined.agg(a=vm.sum(first, bounds=(0, 9)), b=vm.sum(other, bounds=(0, 9))).release(spend=vm.zcdp(10**8))
    assert (round(answer["a"].value[0]), round(answer["b"].value[0])) == (3, 5)


@pytest.mark.parametrize("key", ["\ud800", "a\0", "x\udfff"])
def test_text_that_no_engine_can_hold_is_no_key_and_in_no_public_table(key: str) -> None:
    table = opened({"u": [1, 2], "k": ["a", "b"], "l": ["a", "b"]})
    for keys in ([key], {"k": [key]}, ["a", key]):
        with pytest.raises(ParameterError, match="keys of 'k'"):
            table.group_by("k", keys=keys)
    with pytest.raises(ParameterError, match="keys of 'l'"):
        table.group_by("k", "l", keys=[("a", key)])
    with pytest.raises(ParameterError, match="public column 'k'"):
        vm.public({"k": [key], "v": [1]})
    assert table.spent == vm.zcdp(0)
