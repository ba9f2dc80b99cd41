"""Programs over rows that may be added or removed: a slot that is not taken changes nothing, or there is no claim."""

import random
from itertools import count
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.running.naive import run
from tests.logic.running.programs import proved

import viameter as vm
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.front.adjacent import added_or_removed, all_differ
from viameter.logic.front.decorator import program_from_source
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.running.slots import require_slotwise

ROWS = added_or_removed("q")
SOURCES = [
    "def f(q: list[int], eps: vm.Eps) -> int: return sum(q) + vm.lap(1 / eps)",
    "def f(q: list[int], eps: vm.Eps) -> int: return len(q) + vm.lap(1 / eps)",
    """
def f(q: list[int], t: int, eps: vm.Eps) -> int:
    n = 0
    for x in q:
        if x > t:
            n = n + 1
            if n > 1:
                break
        else:
            continue
        n = n + 3
    return n + vm.lap(1 / eps)
""",
    """
def f(q: list[int], t: int, eps: vm.Eps) -> int:
    m = len(q)
    for x in q:
        for y in q:
            m = m + x * y
    for x in q:
        if x == t and m > 0:
            return m
    return -1
""",
    """
def f(q: list[int], t: int, eps: vm.Eps) -> list[int]:
    out = []
    for k in range(3):
        n = 0
        for x in q:
            n += 1 if x == k else t
            if x == 2:
                out.append(x + vm.lap(1 / eps))
        out.append(n + vm.lap(1 / eps))
    return out
""",
]


def with_gaps(rows: list[int], pick: random.Random) -> tuple[list[int], list[int]]:
    """The rows in slots, of which some between them are not taken and hold anything."""
    items: list[int] = []
    marks: list[int] = []
    for row in [*rows, None]:
        while pick.random() < 0.4:
            items.append(pick.randint(-5, 5))
            marks.append(0)
        if row is not None:
            items.append(row)
            marks.append(1)
    return items, marks


@pytest.mark.parametrize("text", SOURCES)
def test_programs_of_the_front_end_are_the_same_with_slots_that_are_not_taken(text: str) -> None:
    core = program_from_source(text, adjacent=ROWS).core
    require_slotwise(core, "q")
    pick = random.Random(3)
    for _ in range(100):
        rows, t = [pick.randint(0, 3) for _ in range(pick.randint(0, 5))], pick.randint(0, 2)
        items, marks = with_gaps(rows, pick)
        public = {"t": t} if core.input("t") else {}
        plain = run(core, {"q": rows, "q.in": [1] * len(rows), **public}, count(7))
        assert plain == run(core, {"q": items, "q.in": marks, **public}, count(7))


def lines(*body: str) -> Program:
    head = (
        "program p",
        "input q: list",
        "input q.in: list",
        "input t: int",
        "budget eps",
        "begin",
        "s := 0",
        "x := 0",
        "n := 0",
    )
    return read_program("\n".join([*head, *body, "end", "return n"]))


LOOP = ("while s < len(q.in) do", "if q.in[s] == 1 then", "x := q[s]", "n := n + x", "end", "s := s + 1", "end")


def test_a_loop_over_slots_by_hand_is_taken() -> None:
    require_slotwise(lines(*LOOP), "q")
    require_slotwise(lines(*LOOP, "s := 0", *LOOP), "q")
    require_slotwise(lines("while s < len(q.in) and n <= t do", *LOOP[1:]), "q")


SHORT = {
    "OVER": "while s < len(q.in) do",
    "TAKEN": "if q.in[s] == 1 then",
    "NEXT": "end; s := s + 1; end",
    "LOOP": "; ".join(LOOP),
    "REST": "; ".join(LOOP[1:]),
}
BAD = {
    "the number of slots": "n := len(q)",
    "the number of marks": "n := len(q.in)",
    "a mark": "n := q.in[0]",
    "a slot by its index": "n := q[0]",
    "a slot that is not taken": "OVER; n := n + q[s]; s := s + 1; end",
    "the index of a slot": "OVER; TAKEN; n := s; NEXT",
    "how often the loop went round": "OVER; TAKEN; n := q[s]; end; s := s + 1; n := n + 1; end",
    "what is done where no row is": "OVER; TAKEN; n := q[s]; else; n := n + 1; NEXT",
    "rows that are not there": "OVER; if q.in[s] == 0 then; n := n + 1; NEXT",
    "another test": "OVER; if q.in[s] == 1 or n == 0 then; n := n + 1; NEXT",
    "another loop": "while s < len(q) do; TAKEN; n := n + 1; NEXT",
    "a loop up to a slot": "while s < len(q.in) and s < 3 do; REST",
    "a loop that looks at marks": "while s < len(q.in) and q.in[s] == 1 do; REST",
    "a loop that looks at the number of slots": "while s < len(q.in) and len(q) <= 3 do; REST",
    "a loop that looks at the first slot": "while s < len(q.in) and q[0] <= 3 do; REST",
    "two slots at once": "OVER; TAKEN; n := q[s + 1]; NEXT",
    "every second slot": "OVER; TAKEN; n := q[s]; end; s := s + 2; end",
    "a counter that is set": "s := 1; LOOP",
    "a counter that is set in its loop": "OVER; TAKEN; s := 0; NEXT",
    "a counter that is drawn": "s :=$ uniform(0, 1); LOOP",
    "a counter after its loop": "LOOP; n := s",
    "the width of noise": "n :=$ lap(len(q)/eps)",
    "a choice among slots": "n :=$ choose(q, 1/eps)",
    "a loop within its own": "OVER; TAKEN; LOOP; NEXT",
    "the list for the marks": "OVER; if q[s] == 1 then; n := n + 1; NEXT",
}
"""Bodies, with short words for what they have in common."""


def written_out(body: str) -> list[str]:
    return "; ".join(SHORT.get(line, line) for line in body.split("; ")).split("; ")


@for_each("body", BAD.values())
def test_a_program_that_could_tell_a_slot_that_is_not_taken_is_refused(body: str) -> None:
    core = lines(*written_out(body))
    with pytest.raises(NoTheorem, match="uses q otherwise than row by row"):
        require_slotwise(core, "q")
    with pytest.raises(NoTheorem, match="row by row"):
        proved(core, ROWS, eps=1, t=1)


def test_a_counter_that_is_released_is_refused() -> None:
    core = lines(*LOOP)
    released = Program(core.name, core.inputs, core.budgets, (), core.body, next(s.target for s in core.body))  # type: ignore[union-attr]
    with pytest.raises(NoTheorem, match="row by row"):
        require_slotwise(released, "q")


def test_data_are_rows_and_all_their_slots_are_taken() -> None:
    text = "def f(q: list[vm.Between(0, 10)], eps: vm.Eps) -> int: return sum(q) + vm.lap(1 / eps)"
    made = program_from_source(text, adjacent=ROWS)
    found = proved(made.core, ROWS, eps=10**6)
    assert found([1, 2, 3]) == 6
    assert found([]) == 0
    assert (found.map(0).epsilon, found.map(3).epsilon) == (0, 3 * 10**6)
    mixed = program_from_source(text.replace("eps:", "t: int, eps:").replace("vm.lap", "t + vm.lap"), adjacent=ROWS)
    both = proved(mixed.core, ROWS, eps=10**6)
    assert both({"q": [1, 2, 3], "t": 100}) == 106
    assert both.input_space.distance({"q": [1, 2], "t": 1}, {"q": [2], "t": 1}) == 1
    with pytest.raises(ParameterError, match="rows of q may be added or removed; leave it out"):
        proved(made.core, ROWS, eps=1, length=3)


def test_rows_with_more_than_conditions_on_each_are_known_for_one_step() -> None:
    text = "def f(q: list[int], eps: vm.Eps) -> int: return sum(q) + vm.lap(1 / eps)"
    for requires in ("len(q) <= 5", "len(q) >= 2"):
        made = program_from_source(text, adjacent=ROWS, requires=requires)
        found = proved(made.core, ROWS, eps=1)
        assert (found.map(1), found.map(2)) == (vm.pure(1), vm.PureDP.infinite)


@for_each(
    ("fact", "several"),
    [
        ("each q: q[any.k] % 3 == 0", True),
        ("each q: q[any.k] <= t", True),
        ("each q: w[0] <= q[any.k]", True),
        ("requires 1 <= len(w)", True),
        ("each q: q[any.k] <= len(q)", False),
        ("each q: any.k <= 2", False),
        ("each q: 0 <= q[any.k] or any.k <= 2", False),
        ("each q: q[any.k] <= w[any.k]", False),
        ("each q: q[any.k] <= q[0]", False),
        ("requires 0 <= q[0]", False),
    ],
)
def test_rows_may_be_anything_at_all_places_or_are_known_for_one_step(fact: str, several: bool) -> None:
    core = read_program(
        f"program p\ninput q: list\ninput q.in: list\ninput t: int\ninput w: list\nbudget eps\n{fact}\nbegin\n"
        "n :=$ lap(1/eps)\nend\nreturn n"
    )
    found = proved(core, ROWS, eps=1)
    assert found.map(1) == vm.pure(1)
    assert found.map(2) == (vm.pure(2) if several else vm.PureDP.infinite)


def test_rows_together_with_another_input_are_refused() -> None:
    text = "def f(q: list[int], x: int, eps: vm.Eps) -> int: return sum(q) + x + vm.lap(1 / eps)"
    made: Any = program_from_source(text, adjacent=(ROWS, all_differ("x")))
    with pytest.raises(NoTheorem, match="more may differ at once"):
        proved(made.core, made.adjacent, eps=1)
