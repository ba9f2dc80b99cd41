"""Declared granularities, cuts, parts and losses as plain values: without a file, and without the command."""

import json
import subprocess
import sys
from inspect import signature
from typing import Any

import pytest

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import FormatError
from viameter.neighborhood import cuts
from viameter.neighborhood.declared import Written, read_amount, read_cut, read_granularity, read_loss, read_part
from viameter.neighborhood.declared.kinds import CUTS

SEARCHING: dict[str, dict[str, Any]] = {
    "predicates": {"kind": "predicates", "conditions": [{"ward": ["A"]}], "domains": {"ward": ["A", "B"]}},
    "constrained": {"kind": "constrained", "parts": 2, "most": 1},
}


def plain(text: str) -> Any:
    return json.loads(text, parse_float=Written)


def test_values_of_json_are_read_as_those_of_toml_are() -> None:
    assert read_granularity("bounded", "g") == nb.bounded()
    assert read_granularity(plain('{"name": "group", "of": {"name": "w-event", "w": 2}, "most": 3}'), "g") == nb.group(
        nb.w_event(2), 3
    )
    cut = read_cut(plain('{"kind": "subsets", "parts": 5, "at_most": 3}'), "c")
    assert repr(cut) == repr(nb.subsets(5, at_most=3))
    assert read_loss(plain('{"approx": ["1", "1e-6"]}'), "l") == vm.approx(1, "1e-6")
    assert read_amount("renyi", plain('{"2": "0.1"}'), "l") == vm.renyi({2: "0.1"})
    with pytest.raises(FormatError, match=r'^l\.pure = 0\.10: numbers .* taken exactly: "0\.10"$'):
        read_loss(plain('{"pure": 0.10}'), "l")
    with pytest.raises(FormatError, match=r"^g = None: expected a name"):
        read_granularity(plain("null"), "g")


@pytest.mark.parametrize("kind", SEARCHING)
def test_a_cut_that_searches_tells_whom_it_was_given_and_is_silent_otherwise(kind: str) -> None:
    told: list[str] = []
    cut: Any = read_cut(SEARCHING[kind], "c", progress=told.append)
    cut.progress("a line")
    assert told == ["a line"]
    silent: Any = read_cut(SEARCHING[kind], "c")
    assert silent.progress is None
    with pytest.raises(FormatError, match="c: unknown key 'progress'"):
        read_cut(SEARCHING[kind] | {"progress": "x"}, "c")


def test_every_cut_that_can_tell_of_its_progress_is_told_whom() -> None:
    takes = {
        name for name in cuts.__all__ if name.islower() and "progress" in signature(getattr(cuts, name)).parameters
    }
    assert {name for name, kind in CUTS.items() if kind.searches} == takes == set(SEARCHING)
    assert repr(read_cut({"kind": "whole"}, "c", progress=print)) == repr(nb.whole().cut)


def test_a_part_is_found_by_its_number_or_its_name() -> None:
    tree = read_cut({"kind": "tree", "within": {"top": "", "north": "top", "south": "top"}}, "c")
    assert [read_part(tree, value, "p") for value in ("south", "top", 1)] == [2, 0, 1]
    unnamed = nb.partition(3)
    assert [read_part(unnamed, value, "p") for value in (0, 2)] == [0, 2]
    refused: list[tuple[nb.Cut, Any, str]] = [
        (tree, "nort", r"^p = 'nort' is not the name of a part: did you mean 'north'\?$"),
        (tree, 3, "^p = 3: expected the number of a part, from 0 to 2, or one of top, north, south$"),
        (unnamed, "north", "^p = 'north': expected the number of a part, from 0 to 2$"),
        (unnamed, -1, "^p = -1: expected the number"),
        (unnamed, True, "^p = True: expected the number"),
        (unnamed, Written("1.0"), "^p = 1.0: numbers with a point"),
        # Nodes that Python declared need not be text.
        (nb.tree({1: None, 2: 1}), "top", "^p = 'top' is not the name of a part: expected one of 1, 2$"),
    ]
    for cut, value, expected in refused:
        with pytest.raises(FormatError, match=expected):
            read_part(cut, value, "p")


def test_the_readers_import_nothing_of_the_command() -> None:
    code = (
        "import sys, viameter.neighborhood.declared\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'click' or name == 'viameter.cli']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
