"""Programs of the slides, as they are printed there."""

from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.front.interpreter import Tape, run

from viameter.errors import ParameterError
from viameter.logic.front.adjacent import one_differs
from viameter.logic.front.decorator import program_from_core
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.slides import read_slides
from viameter.logic.lang.text import show_program

MEAN = """
Mean (d : private data) : public real
  i:=0;
  s:=0;
  while (i<size(d))
    s:=s + d[i]
    i:=i+1;
  z:=$ Lap(sens/eps, (s/i))
  return z
"""
RUNNING = """```
DummySum (d : {0,1} list) : real list
  i := 0;
  s := 0;
  r := [];
  while (i < size d)
    s := s + d[i]
    z := $ Lap (eps, s)
    r := r ++ [z];
    i := i + 1;
  return r
```"""
EACH = """
DummySum (d : {0,1} list) : real list
  i:=0;
  s:=0;
  r:=[];
  while (i<size d)
    z:=$ Lap (eps, d[i])
    s:= s + z
    r:= r ++ [s];
    i:= i+1;
  return r
"""


def test_the_mean_is_read() -> None:
    assert show_program(read_slides(MEAN)) == (
        "program Mean\ninput d: list\ninput sens: int\nbudget eps\nrequires 1 <= sens\nbegin\n"
        "  i := 0\n  s := 0\n  while i < len(d) do\n    s := s + d[i]\n    i := i + 1\n  end\n"
        "  z :=$ lap(sens/eps, s // i)\n  result := z\nend\nreturn result\n"
    )


def test_the_sums_are_read() -> None:
    head = "program DummySum\ninput d: list\nbudget eps\neach d: 0 <= d[any.k]\neach d: d[any.k] <= 1\nbegin\n"
    start, end = "  i := 0\n  s := 0\n  while i < len(d) do\n", "    i := i + 1\n  end\nend\nreturn r\n"
    assert show_program(read_slides(RUNNING)) == (
        f"{head}{start}    s := s + d[i]\n    z :=$ lap(1/eps, s)\n    append(r, z)\n{end}"
    )
    assert show_program(read_slides(EACH)) == (
        f"{head}{start}    z :=$ lap(1/eps, d[i])\n    s := s + z\n    append(r, s)\n{end}"
    )


def test_lines_are_those_of_the_slide() -> None:
    program = read_slides(EACH)
    lines, slide = show_program(program).splitlines(), EACH.splitlines()
    assert {lines[core - 1].strip(): slide[line - 1].strip() for core, line in program.source.items()} == {
        "i := 0": "i:=0;", "s := 0": "s:=0;", "while i < len(d) do": "while (i<size d)",
        "z :=$ lap(1/eps, d[i])": "z:=$ Lap (eps, d[i])", "s := s + z": "s:= s + z", "append(r, s)": "r:= r ++ [s];",
        "i := i + 1": "i:= i+1;",
    }  # fmt: skip


@for_each("grid", ["1", "1/10", "1/3"])
def test_a_quotient_is_rounded_down_to_the_grid(grid: str) -> None:
    step = Fraction(grid)
    program = read_slides(MEAN, grid=grid)
    assert program.output_grid == step
    for items in ([], [7], [3, -8, 4], [1, 1]):
        tape: Any = Tape(3)
        found = run(program, {"d": items, "sens": 2}, {"eps": Fraction(1, 2)}, tape)
        noise = Tape(3).take()
        mean = Fraction(sum(items), len(items)) if items else Fraction(0)
        assert found - noise == mean // step
        assert tape.record == [("lap", Fraction(2) / Fraction(1, 2) / step)]


def test_bounds_are_stated_only_if_they_are_given() -> None:
    assert read_slides(MEAN).each == ()
    each = read_slides(MEAN, bounds=(0, 1)).each
    assert [str(fact) for _, fact in each] == ["0 <= d[any.k]", "d[any.k] <= 1"]
    real = "F (d : real list) : real\n  z :=$ Lap(2/eps, d[0])\n  return z\n"
    program = read_slides(real, grid="1/10", bounds=("-1/2", 1))
    assert [str(fact) for _, fact in program.each] == ["-5 <= d[any.k]", "d[any.k] <= 10"]
    assert program.inputs[0].grid == Fraction(1, 10)


def test_the_running_sum_on_a_grid_stays_what_it_is() -> None:
    program = read_slides(EACH, grid="1/4")
    tape = Tape(5)
    found = run(program, {"d": [1, 0, 1]}, {"eps": Fraction(1, 2)}, tape)
    numbers = Tape(5)
    total, wanted = Fraction(0), []
    for item in (1, 0, 1):
        total += item + Fraction(numbers.take(), 4)
        wanted.append(total / Fraction(1, 4))
    assert found == wanted
    assert tape.record == [("lap", Fraction(8))] * 3


def test_branches_and_other_types_are_read() -> None:
    program = read_slides(
        "Cap (d : int list, n : int, b : bool, k : {0,...,9}) : int list\n"
        "  r := []; i := 0\n"
        "  while (i < size(d)) do\n"
        "    if (d[i] = n)\n"
        "      x := 1\n"
        "    else\n"
        "      x := 2; skip\n"
        "    r := r ++ [x + k]\n"
        "    i := i + 1\n"
        "  return r\n"
    )
    assert run(program, {"d": [3, 4, 3], "n": 3, "b": True, "k": 5}, {}, Tape(0)) == [6, 7, 6]
    assert [str(fact) for fact in program.requires] == ["0 <= k", "k <= 9"]


def test_a_program_of_the_slides_is_a_program_with_its_adjacency() -> None:
    written = program_from_core(EACH, adjacent=one_differs("d", by=1))
    assert written.parameters == ("d", "eps")
    assert repr(written) == "<program DummySum(d, eps): one element of d differs by at most 1>"
    assert program_from_core(show_program(written.core), adjacent=one_differs("d")).core == written.core
    assert program_from_core(written.core, adjacent=one_differs("d")).core == written.core
    assert program_from_core(MEAN, adjacent=one_differs("d"), grid="1/10").core.output_grid == Fraction(1, 10)


@for_each(
    ("text", "line", "what"),
    [
        ("Mean d\n  return 1", 1, "this is no header"),
        ("", 1, "this is no header"),
        ("F (d : stuff) : real\n  return 1", 1, "the type 'stuff' is not known"),
        ("F (d : int) : real\n  z :=$ Gauss(1, d)\n  return z", 2, "this law is not known"),
        ("F (d : int) : real\n  z :=$ Lap(1)\n  return z", 2, "this law is not known"),
        ("F (d : int) : real\n  z + 1\n  return z", 2, "this statement is not known"),
        ("F (d : int) : real\n  z := d +\n  return z", 2, "the expression 'd +' cannot be read"),
        ("F (d : int) : real\n  while (d > 1)\n  return d", 3, "indentation"),
        ("F (d : int) : real\n  d := 1\n  return d", 2, "the parameter d is assigned to"),
        ("F (d : int) : real\n  z :=$ Lap(1/eps/d, d)\n  return z", 2, "d is"),
        ("F (d : int) : real\n  i := 1\n  i := d\n  z :=$ Lap(i/eps, d)\n  return z", 4, "a scale must be public: i"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_slides(text)
    assert what in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("<slides>", line)


def test_only_texts_are_read_and_on_a_grid_of_one_over_a_whole_number() -> None:
    for grid in ("2/3", 5, 0, -1):
        with pytest.raises(ParameterError, match="expected"):
            read_slides(EACH, grid=grid)
    with pytest.raises(ParameterError, match="expected a text"):
        read_slides(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="expected a core program or its text"):
        program_from_core(3, adjacent=one_differs("d"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="grid: only a program in the slides' language"):
        program_from_core(show_program(read_slides(EACH)), adjacent=one_differs("d"), grid=2)
