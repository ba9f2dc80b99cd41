"""Moves: draws that are made later; and the tree of rules, which follows from the text."""

import pytest
from tests.cases import for_each
from tests.viameter_check.programs.writing import Json, at, certificate, changed, neighbors, proof, refused
from tests.viameter_check.programs.zoo import CLAMPED, EARLY, LATE, clamped, early, laplace, noisy_max

from viameter_check.programs import check_program

MOVED = """program it
input q: int
budget eps
begin
  a := 1
  x := 0
  x :=$ lap(1/eps, a)
  {}
  result := q + x
end
return result
"""


def moved(statement: str, past: int = 1, line: int = 7) -> Json:
    """A draw that is moved past one statement; `text` has it there."""
    lines = MOVED.format(statement).splitlines()
    size = len(statement.splitlines())
    after = [*lines[:6], *lines[7 : 7 + size], lines[6], *lines[7 + size :]]
    text = "\n".join(after) + "\n"
    near = neighbors(["q"], "abs(q<1> - q<2>) <= 1")
    shifts = {at(text, "x :=$"): "q<1> - q<2>"}
    if "y :=$" in statement:
        shifts[at(text, "y :=$")] = "0"
    annotated = proof(text, near, moves=[{"line": line, "past": past}], units={"eps": 1}, shifts=shifts)
    return certificate(MOVED.format(statement), "eps", annotated)


@pytest.mark.parametrize("statement", ["b := a", "y :=$ lap(1/eps)", "append(l, a)", "if true then\n    b := 1\n  end"])
def test_a_draw_is_moved_past_what_has_nothing_to_do_with_it(statement: str) -> None:
    report = check_program(moved(statement))
    assert report.ok, report


@for_each(
    ("statement", "message"),
    [
        ("b := x", "line 8 uses 'x'"),
        ("x := 2", "line 8 uses 'x'"),
        ("a := 2", "line 8 changes 'a'"),
        ("x :=$ lap(1/eps)", "line 8 uses 'x'"),
        ("a :=$ lap(1/eps)", "line 8 changes 'a'"),
        ("y :=$ lap(1/eps, x)", "line 8 uses 'x'"),
        ("append(l, x)", "line 8 uses 'x'"),
        ("if x > 0 then\n    b := 1\n  end", "line 8 uses 'x'"),
        ("if true then\n    b := x\n  end", "line 9 uses 'x'"),
        ("if true then\n    b := 1\n  else\n    a := 1\n  end", "line 11 changes 'a'"),
        ("y :=$ uniform(0, x)", "line 8 uses 'x'"),
    ],
)
def test_a_draw_is_not_moved_past_what_uses_it_or_what_it_needs(statement: str, message: str) -> None:
    place, found = refused(moved(statement))
    assert place == "proofs[0].moves[0].past" and message in found


@for_each(
    ("move", "place"),
    [
        ({"line": 5, "past": 1}, "proofs[0].moves[0].line"),
        ({"line": 8, "past": 1}, "proofs[0].moves[0].line"),
        ({"line": 4, "past": 1}, "proofs[0].moves[0].line"),
        ({"line": 99, "past": 1}, "proofs[0].moves[0].line"),
        ({"line": 7, "past": 3}, "proofs[0].moves[0].past"),
        ({"line": 7, "past": 0}, "proofs[0].moves[0].past"),
        ({"line": 7, "past": -1}, "proofs[0].moves[0].past"),
        ({"line": 7, "past": True}, "proofs[0].moves[0].past"),
        ({"line": "7", "past": 1}, "proofs[0].moves[0].line"),
        ({"line": 7}, "proofs[0].moves[0]"),
        ("up", "proofs[0].moves[0]"),
    ],
)
def test_a_move_is_of_a_draw_past_statements_of_its_block(move: object, place: str) -> None:
    assert refused(changed(moved("b := a"), (("proofs", 0, "moves"), [move])))[0] == place


def test_the_text_is_what_the_moves_make_of_the_program() -> None:
    document = early()
    for moves in ([], [{"line": 5, "past": 2}], [{"line": 5, "past": 3}, {"line": 11, "past": 1}]):
        assert not check_program(changed(document, (("proofs", 0, "moves"), moves))).ok
    assert refused(changed(document, (("proofs", 0, "moves"), [])))[0] == "proofs[0].text"
    # One by one: the line of a move is that of the text which the moves before it have made.
    steps = [{"line": 5, "past": 1}, {"line": 6, "past": 1}, {"line": 7, "past": 1}]
    assert check_program(changed(document, (("proofs", 0, "moves"), steps))).ok
    assert refused(changed(document, (("proofs", 0, "moves"), steps * 50)))[0] == "proofs[0].moves"
    for old, new in (
        ("input q", "input p"),
        ("budget eps", "budget epsilon"),
        ("s := 0", "s := 1"),
        ("return result", "return s"),
    ):
        assert not check_program(changed(document, (("proofs", 0, "text"), LATE.replace(old, new)))).ok


def test_text_with_other_spaces_is_the_same_program() -> None:
    wide = EARLY.replace(":=", "  :=").replace("  end", "      end")
    assert check_program(changed(early(), (("program",), wide))).ok


def test_the_tree_is_that_of_the_text() -> None:
    document = noisy_max()
    whole = ("proofs", 0, "tree")
    loop = (*whole, "premises", 0, "premises", 3)
    for path, value, place in (
        ((*whole, "rule"), "equality", "tree.rule"),
        ((*whole, "line"), 1, "tree.line"),
        ((*whole, "line"), False, "tree.line"),
        ((*whole, "premises"), [], "tree.premises"),
        ((*whole, "premises", 0, "rule"), "assign", "tree.premises[0].rule"),
        ((*whole, "premises", 0, "line"), 6, "tree.premises[0].line"),
        ((*loop, "rule"), "awhile", "tree.premises[0].premises[3].rule"),
        (
            (*loop, "premises", 0, "premises", 1, "rule"),
            "cond",
            "tree.premises[0].premises[3].premises[0].premises[1].rule",
        ),
        (
            (*loop, "premises", 0, "premises", 0, "line"),
            10,
            "tree.premises[0].premises[3].premises[0].premises[0].line",
        ),
        ((*loop, "premises", 0, "premises", 0, "more"), 1, "tree.premises[0].premises[3].premises[0].premises[0]"),
        (
            (*loop, "premises", 0, "premises", 1, "premises"),
            {},
            "tree.premises[0].premises[3].premises[0].premises[1].premises",
        ),
    ):
        assert refused(changed(document, (path, value)))[0] == f"proofs[0].{place}", path
    assert refused(changed(laplace(), (("proofs", 0, "tree"), None)))[0] == "proofs[0].tree"


def test_a_branch_within_one_where_the_runs_part_parts_them_too() -> None:
    document = clamped()
    outer = int(at(CLAMPED, "if"))
    document["proofs"][0]["split"] = [outer]
    assert check_program(changed(document)).ok
    inner = document["proofs"][0]["tree"]["premises"][0]["premises"][0]["premises"][1]
    assert inner["rule"] == "cond-split"
    inner["rule"] = "cond"
    assert check_program(changed(document)).ok
    inner["rule"] = "while"
    assert not check_program(changed(document)).ok
