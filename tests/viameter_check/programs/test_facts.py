"""What is known of adjacent inputs: what the program requires of each run, and facts about the elements of lists."""

import pytest
from tests.viameter_check.programs.writing import Json, neighbors, straight

from viameter_check.programs import check_program


def quiet(known: str, *, header: str, near: Json) -> bool:
    """Whether it is accepted that a fact is always true: else the program would return what is private."""
    body = f"result := ite({known}, 1, p)"
    near = {**near, "private": [*near["private"], "p"]}
    return check_program(straight(body, claim="0", header=f"input p: int\n{header}", near=near)).ok


def test_what_is_read_outside_a_list_is_0() -> None:
    for private in ([], ["q"]):
        near = neighbors(private)
        for known in ("q[-1] == 0", "q[len(q)] == 0", "q[len(q) + 5] == 0"):
            assert quiet(known, header="input q: list", near=near)
        for known in ("q[0] == 0", "q[-1] == 1", "q[len(q) - 1] == 0", "q[3] == 0 or len(q) > 4"):
            assert not quiet(known, header="input q: list", near=near)


def test_facts_about_elements_hold_within_the_list_only() -> None:
    for private in ([], ["q"]):
        header = "input q: list\neach q: 2 <= q[any.k]"
        near = neighbors(private)
        for known in ("2 <= q[3] or len(q) <= 3", "q[3] == 0 or 2 <= q[3]", "2 <= q[0] or q[0] == 0 and len(q) == 0"):
            assert quiet(known, header=header, near=near)
        for known in ("len(q) > 3 or q[3] == 1", "2 <= q[3]", "2 <= q[-1]", "2 < q[3] or len(q) <= 3"):
            assert not quiet(known, header=header, near=near)


def test_facts_about_elements_are_those_of_the_list() -> None:
    header = "input q: list\ninput w: list\neach q: 2 <= q[any.k]\neach w: w[any.k] <= 1"
    near = neighbors([])
    assert quiet("w[0] <= 1 and (2 <= q[0] or len(q) == 0)", header=header, near=near)
    assert not quiet("2 <= w[0] or len(w) == 0", header=header, near=near)
    near = neighbors(["q", "w"], each=[("q", "q<1>[any.k] == q<2>[any.k]")])
    assert quiet("q[0] == q[0] + 0*w[0]", header=header, near=near)
    body = "result := {}[0]"
    assert check_program(straight(body.format("q"), claim="0", header=header, near=near)).ok
    assert not check_program(straight(body.format("w"), claim="0", header=header, near=near)).ok


@pytest.mark.parametrize("header", ["input q: int\nrequires 0 <= q <= 5", "input q: list\neach q: 0 <= q[any.k] <= 5"])
def test_what_is_required_holds_in_both_runs(header: str) -> None:
    value = "q[0]" if "list" in header else "q"
    document = straight(f"result :=$ lap(5/eps, {value})", header=header, near=neighbors(["q"]), units={"eps": 5})
    assert check_program(document).ok
    for old, new in (("0 <= ", "-1 <= "), ("<= 5", "<= 6")):
        loose = header.replace(old, new)
        document = straight(f"result :=$ lap(5/eps, {value})", header=loose, near=neighbors(["q"]), units={"eps": 5})
        assert not check_program(document).ok


def test_facts_are_known_where_other_facts_read_a_list() -> None:
    header = "input q: list\ninput c: int\nrequires 1 <= len(q)\neach q: q[any.k] == 7"
    assert quiet("c == 7", header=header, near=neighbors(["q"], "c == q<1>[0]", "c == q<2>[0]"))
    near = neighbors(["q"], "c == q<1>[d]", "c == q<2>[d]", "0 <= d < len(q)", constants=["d"])
    assert quiet("c == 7", header=header, near=near)
    near = neighbors(["q"], "c == q<1>[d]", "c == q<2>[d]", "0 <= d", constants=["d"])
    assert not quiet("c == 7", header=header, near=near)
    # An element that is an index, and one behind another.
    header = "input q: list\neach q: q[any.k] == any.k + 1"
    assert quiet("q[q[0]] == 2 or len(q) <= 1", header=header, near=neighbors(["q"]))
    assert not quiet("q[q[0]] == 2 or len(q) <= 0", header=header, near=neighbors(["q"]))
    header = "input q: list\neach q: any.k == 0 or q[any.k] == q[any.k - 1] + 1"
    assert quiet("q[2] == q[0] + 2 or len(q) <= 2", header=header, near=neighbors(["q"]))


def test_a_factor_s_bound_is_not_taken_from_adjacency() -> None:
    unit = {"eps": {"number": 1, "factors": ["N"]}}
    header = "input q: int\ninput N: int"
    body = "result :=$ lap(N/eps, 0)"
    near = neighbors(["q"], "1 <= N")
    assert not check_program(straight(body, header=header, near=near, units=unit)).ok
    assert check_program(straight(body, header=f"{header}\nrequires 1 <= N", near=near, units=unit)).ok
