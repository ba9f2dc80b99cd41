"""One evaluation and one execution against the naive meaning of terms; which variables are live."""

from __future__ import annotations

from random import Random

import pytest
from tests.cases import for_each
from tests.logic.exact import naive
from tests.logic.exact.random_programs import Writer, random_text

from viameter.errors import ParameterError
from viameter.logic.exact import Value, evaluate, run
from viameter.logic.exact.evaluating import start_of
from viameter.logic.exact.liveness import live_before, without_dead
from viameter.logic.exact.ranges import greater, item, lesser, quotient, remainder, same
from viameter.logic.exact.translating import Translator
from viameter.logic.lang.core import Sample, While, assigned, statements_of
from viameter.logic.lang.parsing import read_program, read_term
from viameter.logic.lang.terms import Sort

SORTS: dict[str, Sort] = {
    "a": "int",
    "b": "int",
    "c": "int",
    "t": "int",
    "q": "list",
    "p": "bool",
    "r": "bool",
    "yes": "bool",
}


@for_each("seed", range(90))
def test_terms_mean_the_same_evaluated_compiled_and_naively(seed: int) -> None:
    random = Random(seed)
    writer = Writer(random, samples=0)
    term = read_term(writer.number(3) if seed % 2 else writer.test(3), SORTS)
    scope = {
        "greater": greater, "item": item, "lesser": lesser, "quotient": quotient, "remainder": remainder, "same": same,
    }  # fmt: skip
    text = Translator(
        read_program("program p\nbegin\nend\nreturn x\n".replace("begin", "begin\nx := 0")), False
    ).python(term, {name: name for name in SORTS})
    for _ in range(10):
        memory: dict[str, Value] = {name: random.randint(-4, 4) for name in "abct"}
        memory |= {"q": tuple(random.randint(-4, 4) for _ in range(random.randint(0, 3)))}
        memory |= {name: random.random() < 0.5 for name in ("p", "r", "yes")}
        expected = naive.value(term, memory)
        assert evaluate(term, memory) == expected
        assert eval(text, {**scope, **memory}) == expected


@for_each("seed", range(30))
def test_an_execution_is_one_of_the_paths(seed: int) -> None:
    random = Random(seed)
    program = read_program(random_text(random, samples=0))
    inputs = {"q": (2, -1), "t": 1, "yes": True}
    masses, lost = naive.distribution(program, inputs, {}, 0)
    assert lost == 0
    assert masses == {run(program, inputs, []): 1}


def test_a_tape_gives_noise_around_the_center() -> None:
    text = (
        "program p\ninput q: int\nbegin\nx :=$ lap(3, q)\nf :=$ flip(1/2)\nappend(o, x)\nappend(o, f)\nend\nreturn o\n"
    )
    assert run(read_program(text), {"q": 5}, [-2, 1]) == (3, True)
    with pytest.raises(ParameterError, match="tape"):
        run(read_program(text), {"q": 5}, [-2])


def test_an_execution_without_end_is_refused() -> None:
    text = "program p\nbegin\nx := true\nwhile x do\ny := 1\nend\nend\nreturn y\n"
    with pytest.raises(ParameterError, match="did not end"):
        run(read_program(text), {}, [], steps=30)


def test_sides_are_looked_up_by_their_text() -> None:
    term = read_term("abs(q<1>[any.k] - q<2>[any.k]) <= 1", {"q": "list", "any.k": "int"})
    memory: dict[str, Value] = {"q<1>": (0, 5), "q<2>": (1, 7), "any.k": 0}
    assert evaluate(term, memory) is True
    assert evaluate(term, {**memory, "any.k": 1}) is False
    with pytest.raises(ParameterError, match="has no value"):
        evaluate(term, {"q<1>": (0,)})


LOOP = """program p
input q: list
begin
  i := 0
  s := 0
  c := 0
  while i < len(q) do
    n :=$ lap(2)
    m :=$ lap(2)
    if q[i] + n > s then
      s := i
      c := c + 1
    end
    i := i + 1
  end
end
return s
"""


def test_noise_is_dead_after_its_test_and_so_is_a_counter_that_nobody_asks() -> None:
    program = read_program(LOOP)
    after = frozenset({"s"})
    loop = program.body.statements[-1]
    assert isinstance(loop, While)
    assert live_before(loop.body, frozenset({"i", "s"})) == {"i", "s", "q"}
    assert live_before(program.body, after) <= {"q"}
    body = without_dead(program.body, after)
    assert [s.target.name for s in statements_of(body) if isinstance(s, Sample)] == ["n"]
    assert "c" not in {var.name for var in assigned(body)}


def test_what_is_read_around_a_loop_is_live_in_it() -> None:
    body = "x := 1\ny := 0\ni := 0\nwhile i < 3 do\nz := y\ny := x\nx := x + 1\ni := i + 1\nend\n"
    text = f"program p\nbegin\n{body}end\nreturn z\n"
    program = read_program(text)
    assert run(program, {}, []) == 2
    loop = program.body.statements[-1]
    assert live_before(type(program.body)((loop,)), frozenset({"z"})) == {"x", "y", "z", "i"}
    assert start_of(program) == {"x": 0, "y": 0, "i": 0, "z": 0}
