"""Which inputs are neighbors: formulas decide, whatever a search guesses."""

from __future__ import annotations

from itertools import product

import pytest
from tests.logic.refute.corpus import all_differ, number_differs, one_differs, partial_sum, smart_sum

from viameter.errors import ParameterError
from viameter.logic.lang.parsing import read_program, read_term
from viameter.logic.neighbors import Neighbors, sorts_of
from viameter.logic.refute import related
from viameter.logic.refute.candidates import pairs
from viameter.logic.refute.moves import moves

LISTS = list(product((-1, 0, 1), repeat=2))


def test_every_element_by_one() -> None:
    program = partial_sum()
    for one, two in product(LISTS, LISTS):
        expected = all(abs(a - b) <= 1 for a, b in zip(one, two, strict=True))
        assert related(program, all_differ(program), {"q": one}, {"q": two}) == expected


def test_one_element_by_one_whichever_it_is() -> None:
    program = partial_sum()
    for one, two in product(LISTS, LISTS):
        gaps = [abs(a - b) for a, b in zip(one, two, strict=True)]
        assert related(program, one_differs(program), {"q": one}, {"q": two}) == (sum(gaps) <= 1)


def test_constants_that_are_no_index_are_found_too() -> None:
    program = partial_sum()
    fact = read_term("q<2>[any.k] == q<1>[any.k] + s", sorts_of(program, ("s",)))
    shifted = Neighbors(frozenset({"q"}), each=(("q", fact),), constants=("s",))
    assert related(program, shifted, {"q": (0, 2)}, {"q": (-3, -1)})
    assert not related(program, shifted, {"q": (0, 2)}, {"q": (1, 2)})


def test_public_inputs_and_lengths_are_the_same() -> None:
    program = smart_sum()
    near = one_differs(program)
    assert related(program, near, {"q": (0, 0), "M": 2}, {"q": (0, 1), "M": 2})
    assert not related(program, near, {"q": (0, 0), "M": 2}, {"q": (0, 1), "M": 3})
    assert not related(program, near, {"q": (0, 0), "M": 2}, {"q": (0,), "M": 2})


def test_what_the_program_requires_holds_in_both_runs() -> None:
    program = read_program(
        "program p\ninput q: list\nrequires q[0] <= 1\neach q: 0 <= q[any.k]\nbegin\nx := 0\nend\nreturn x\n"
    )
    near = all_differ(program)
    assert related(program, near, {"q": (0, 5)}, {"q": (1, 6)})
    assert not related(program, near, {"q": (1, 5)}, {"q": (2, 6)})
    assert not related(program, near, {"q": (2, 5)}, {"q": (1, 6)})
    assert not related(program, near, {"q": (0, 0)}, {"q": (0, -1)})
    assert not related(program, near, {"q": (0, -1)}, {"q": (0, 0)})


def test_lengths_in_facts_have_no_side() -> None:
    program = partial_sum()
    fact = read_term("len(q) == 2", sorts_of(program))
    two = Neighbors(frozenset({"q"}), facts=(fact,))
    assert related(program, two, {"q": (0, 1)}, {"q": (5, 6)})
    assert not related(program, two, {"q": (0,)}, {"q": (5,)})


def test_an_adjacency_about_no_list_of_the_program_is_refused() -> None:
    program = partial_sum()
    fact = read_term("any.k <= 1", sorts_of(program))
    with pytest.raises(ParameterError, match="no list"):
        related(program, Neighbors(frozenset({"q"}), each=(("p", fact),)), {"q": (0,)}, {"q": (0,)})


def test_an_asymmetric_relation_is_asked_in_its_own_order() -> None:
    program = partial_sum()
    fact = read_term("q<1>[any.k] <= q<2>[any.k] and q<2>[any.k] <= q<1>[any.k] + 1", sorts_of(program))
    upward = Neighbors(frozenset({"q"}), each=(("q", fact),))
    assert related(program, upward, {"q": (0, 1)}, {"q": (1, 1)})
    assert not related(program, upward, {"q": (1, 1)}, {"q": (0, 1)})
    assert related(program, upward.swapped(), {"q": (1, 1)}, {"q": (0, 1)})


def test_pairs_are_all_different_and_come_in_one_order_only() -> None:
    program = smart_sum()
    found = list(pairs(program, (one_differs(program),)))
    assert len({frozenset(pair.key) for pair in found}) == len(found) > 500
    assert all(pair.first["M"] == pair.second["M"] for pair in found)
    assert {len(pair.first["q"]) for pair in found} == {1, 2, 3, 4, 5}  # type: ignore[arg-type]
    assert min(pair.first["M"] for pair in found) == 1


def test_moves_keep_public_inputs_alike_and_lists_of_one_length() -> None:
    program = smart_sum()
    start = next(pair for pair in pairs(program, (one_differs(program),)) if pair.first["q"] == (0, 1))
    found = list(moves(program, frozenset({"q"}), start))
    assert all(pair.first["M"] == pair.second["M"] for pair in found)
    assert all(len(pair.first["q"]) == len(pair.second["q"]) for pair in found)  # type: ignore[arg-type]
    assert {len(pair.first["q"]) for pair in found} == {1, 2, 3}  # type: ignore[arg-type]


def test_numbers_alone_are_neighbors_too() -> None:
    program = read_program("program p\ninput q: int\nbegin\nx := q\nend\nreturn x\n")
    near = number_differs(program, by=3)
    assert related(program, near, {"q": 0}, {"q": 3}) and not related(program, near, {"q": 0}, {"q": 4})
    assert any(abs(pair.first["q"] - pair.second["q"]) == 3 for pair in pairs(program, (near,)))  # type: ignore[operator]
