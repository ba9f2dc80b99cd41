"""Mechanisms as they are written become the core programs that one would write by hand."""

import inspect

import pytest
from tests.cases import for_each
from tests.logic.front import corpus

from viameter.errors import ParameterError
from viameter.logic.front.decorator import ProgramFunction
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.python import compile_source
from viameter.logic.lang.text import show_program

TEXTS = {
    "above_threshold": """
program above_threshold
input q: list
input t: int
budget eps
begin
  returned := false
  noise :=$ lap(2/eps)
  noisy_t := t + noise
  i := 0
  while i < len(q) and not returned do
    noise_2 :=$ lap(4/eps)
    if noisy_t <= q[i] + noise_2 then
      result := i
      returned := true
    else
      i := i + 1
    end
  end
  if not returned then
    result := -1
  end
end
return result
""",
    "sparse_vector": """
program sparse_vector
input q: list
input t: int
input N: int
budget eps
requires 1 <= N
begin
  noise :=$ lap(2/eps)
  noisy_t := t + noise
  count := 0
  index := 0
  stopped := false
  while index < len(q) and not stopped do
    x := q[index]
    if N <= count then
      stopped := true
    else
      noise_2 :=$ lap(4*N/eps)
      if noisy_t <= x + noise_2 then
        append(out, 1)
        count := count + 1
      else
        append(out, 0)
      end
      index := index + 1
    end
  end
end
return out
""",
    "noisy_max": """
program noisy_max
input q: list
budget eps
begin
  part := 0
  best := part
  at := part
  i := 0
  while i < len(q) do
    x := q[i]
    noise :=$ expo(2/eps)
    noisy := x + noise
    if i == 0 or best < noisy then
      best := noisy
      at := i
    end
    i := i + 1
  end
  result := at
end
return result
""",
    "clipped_mean": """
program clipped_mean
input q: list on 1/100
budget eps
each q: 0 <= q[any.k]
each q: q[any.k] <= 100
begin
  total :=$ lap(50/eps)
  index := 0
  while index < len(q) do
    x := q[index]
    total := total + min(x, 50)
    index := index + 1
  end
  result := total
end
return result on 1/100
""",
    "responses": """
program responses
input bits: list
each bits: 0 <= bits[any.k]
each bits: bits[any.k] <= 1
begin
  index := 0
  while index < len(bits) do
    bit := bits[index]
    coin :=$ flip(3/4)
    append(out, ite(ite(coin, bit == 1, bit != 1), 1, 0))
    index := index + 1
  end
end
return out
""",
    "count_and_sum": """
program count_and_sum
input ages: list
input ages.in: list
budget eps
requires len(ages) == len(ages.in)
each ages: 0 <= ages[any.k]
each ages: ages[any.k] <= 120
each ages.in: 0 <= ages.in[any.k]
each ages.in: ages.in[any.k] <= 1
begin
  count := 0
  slot := 0
  while slot < len(ages.in) do
    if ages.in[slot] == 1 then
      count := count + 1
    end
    slot := slot + 1
  end
  noise :=$ lap(2/eps)
  n := count + noise
  append(result, n)
  total := 0
  slot_2 := 0
  while slot_2 < len(ages.in) do
    if ages.in[slot_2] == 1 then
      total := total + ages[slot_2]
    end
    slot_2 := slot_2 + 1
  end
  noise_2 :=$ lap(240/eps)
  append(result, total + noise_2)
end
return result
""",
    "twice": """
program twice
input p: list
input top: int
budget eps
requires 1 <= top
begin
  above_threshold_returned := false
  above_threshold_noise :=$ lap(4/eps)
  above_threshold_noisy_t := top + above_threshold_noise
  above_threshold_i := 0
  while above_threshold_i < len(p) and not above_threshold_returned do
    above_threshold_noise_2 :=$ lap(8/eps)
    if above_threshold_noisy_t <= p[above_threshold_i] + above_threshold_noise_2 then
      above_threshold_result := above_threshold_i
      above_threshold_returned := true
    else
      above_threshold_i := above_threshold_i + 1
    end
  end
  if not above_threshold_returned then
    above_threshold_result := -1
  end
  first := above_threshold_result
""",
}


@for_each("name", TEXTS)
def test_a_mechanism_becomes_the_core_program_that_one_would_write(name: str) -> None:
    written: ProgramFunction = getattr(corpus, name)
    assert show_program(written.core).startswith(TEXTS[name].lstrip())
    if name != "twice":
        assert show_program(written.core) == TEXTS[name].lstrip()


def test_hints_stand_at_the_lines_of_the_core_program() -> None:
    written = corpus.sparse_vector
    lines = show_program(written.core).splitlines()
    assert {lines[line - 1].strip(): text for line, text in written.hints.shifts.items()} == {
        "noise :=$ lap(2/eps)": "1",
        "noise_2 :=$ lap(4*N/eps)": "ite(noisy_t<1> <= x<1> + noise_2<1>, 2, 0)",
    }
    assert {lines[line - 1].strip(): texts for line, texts in written.hints.invariants.items()} == {
        "while index < len(q) and not stopped do": ("index<1> == index<2>", "count<1> == count<2>")
    }


def test_a_variable_called_result_is_the_output_itself() -> None:
    text = "def f(x: int) -> int:\n    result = x\n    result += 1\n    return result\n"
    core = show_program(compile_source(text).program)
    assert core == "program f\ninput x: int\nbegin\n  result := x\n  result := result + 1\nend\nreturn result\n"
    twice = "def f(x: int) -> int:\n    result = x\n    if x > 0:\n        return 2\n    return result\n"
    assert "  result_2 := result\n" in show_program(compile_source(twice).program)


def test_hints_in_statements_that_are_never_reached_are_left_out() -> None:
    text = (
        "def f(x: int, eps: vm.Eps) -> int:\n    if DEBUG:\n        x2 = vm.lap(1, shift='1')\n        while x2 > 0:\n"
        "            vm.invariant('x<1> == x<2>')\n            x2 -= 1\n    return x + vm.lap(1 / eps, shift='0')\n"
    )
    found = compile_source(text, names={"DEBUG": False})
    assert list(found.shifts.values()) == ["0"] and found.invariants == {}
    assert len(compile_source(text, names={"DEBUG": True}).shifts) == 2


def test_lines_of_the_core_program_know_their_lines_in_the_file() -> None:
    written = corpus.above_threshold
    assert written.file == corpus.__file__
    file = inspect.getsource(corpus).splitlines()
    found = {line: file[written.core.source[line] - 1].strip() for line in written.core.source}
    assert found[7] == found[8] == "noisy_t = t + vm.lap(2 / eps)"
    assert found[10] == "while i < len(q):"
    assert found[11] == found[12] == "if q[i] + vm.lap(4 / eps) >= noisy_t:"
    assert found[13] == found[14] == "return i"
    assert found[16] == "i = i + 1"
    assert found[20] == "return -1"
    assert "above_threshold" in file[written.line] and file[written.line - 1].startswith("@program")


def test_a_program_in_a_function_knows_its_lines_and_the_names_around_it() -> None:
    written = corpus.nested_program()
    file = inspect.getsource(corpus).splitlines()
    assert "lap(3/eps)" in written.text
    assert "min(x, 10)" in written.text
    assert {file[line - 1].strip() for line in written.core.source.values()} == {
        "return min(x, LIMIT) + vm.lap(width / eps)"
    }


def test_an_error_in_a_program_in_a_function_names_the_line_of_the_file() -> None:
    with pytest.raises(ProgramError) as caught:
        corpus.nested()
    file = inspect.getsource(corpus).splitlines()
    assert caught.value.file == corpus.__file__
    assert file[caught.value.line - 1].strip() == 'text = """'
    assert "the constant" in str(caught.value)


def test_a_program_shows_its_name_its_text_and_its_documentation() -> None:
    written = corpus.above_threshold
    assert repr(written) == "<program above_threshold(q, t, eps): every element of q differs by at most 1>"
    assert written.text.splitlines()[0] == " 1  program above_threshold"
    assert written.__doc__ == "The first query above a threshold."
    assert written.__name__ == "above_threshold"  # type: ignore[attr-defined]
    assert written.function is not None and written.function.__name__ == "above_threshold"


def test_a_program_is_not_called_as_a_function() -> None:
    with pytest.raises(ParameterError, match=r"above_threshold\.measurement"):
        corpus.above_threshold([1, 2], 1, 1)


def test_what_other_programs_require_of_inputs_is_required_too() -> None:
    from viameter.logic.front.adjacent import all_differ
    from viameter.logic.front.decorator import program_from_source

    callee = program_from_source(
        "def f(p: list[int], n: int, m: vm.Between(0, 9), e: vm.Eps) -> int: return p[0] + m + vm.lap(n / e)",
        adjacent=all_differ("p"), requires=["n >= 1", "n <= len(p)"],
    )  # fmt: skip
    caller = program_from_source(
        "def g(q: list[int], k: int, e: vm.Eps) -> int:\n    x = 3\n    return f(q, k + 1, x, e) + f(q, 2, 4, e)",
        adjacent=all_differ("q"), names={"f": callee},
    )  # fmt: skip
    assert [str(fact) for fact in caller.core.requires] == ["1 <= k + 1", "k + 1 <= len(q)", "2 <= len(q)"]


def test_hints_of_a_program_that_is_called_are_renamed() -> None:
    from viameter.logic.front.adjacent import one_differs
    from viameter.logic.front.decorator import program_from_source

    callee = program_from_source(
        "def f(p: list[int], u: int, e: vm.Eps) -> list[int]:\n    out = []\n    for i in range(len(p)):\n"
        "        vm.invariant('i<1> <= p.at and same.out and cost.e <= u and p<1>[i<1>] >= 0')\n"
        "        out.append(p[i] + vm.lap(1 / e, shift='p<1>[i<1>] - p<2>[i<1>] + u'))\n    return out\n",
        adjacent=one_differs("p"),
    )  # fmt: skip
    caller = program_from_source(
        "def g(q: list[int], e: vm.Eps) -> list[int]:\n    i = 3\n    return f(q, 7, e / 3)\n",
        adjacent=one_differs("q"), names={"f": callee},
    )  # fmt: skip
    (shift,), (invariant,) = caller.hints.shifts.values(), caller.hints.invariants.values()
    assert shift == "q<1>[f_i<1>] - q<2>[f_i<1>] + (7)"
    assert invariant == ("f_i<1> <= q.at and same.result and cost.e <= (7) and q<1>[f_i<1>] >= 0",)
    lines = show_program(caller.core).splitlines()
    assert [lines[line - 1].strip() for line in caller.hints.shifts] == ["f_noise :=$ lap(3/e)"]
