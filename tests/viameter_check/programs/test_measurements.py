"""verified-program: measurements of programs are certified, and what is edited in their certificates is refused."""

import dataclasses
import json
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
from tests.cases import for_each
from tests.viameter_check.forging import changed, refused_at

import viameter as vm
from viameter.logic import program_from_core, program_from_source
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.lang.parsing import read_program
from viameter_check import check
from viameter_check.programs import checking

NODE = ("derivation",)
HEAD = "def f(q: list[{}], eps: vm.Eps) -> int: "
ABOVE = """
def above(q: list[int], t: int, eps: vm.Eps) -> int:
    noisy = t + vm.lap(2 / eps)
    for i, x in enumerate(q):
        if x + vm.lap(4 / eps) >= noisy:
            return i
    return -1
"""
GRID = """
def grid(q: list[vm.Between(0, 1, grid="1/100")], eps: vm.Eps) -> vm.Grid("1/100"):
    return q[0] + q[1] + vm.lap(1 / eps)
"""
EACH = """
def each(q: list[int], eps: vm.Eps) -> list[int]:
    out = []
    for x in q:
        out.append(x + vm.lap(1 / eps))
    return out
"""
SCALED = "def scaled(x: int, n: int, eps: vm.Eps) -> int: return x + vm.lap(n / eps)"
HIDDEN = "def hidden(x: int, y: int, eps: vm.Eps) -> int: return x + vm.lap(1 / eps)"
ORDERED = "def ordered(x: int, n: int, eps: vm.Eps) -> int: return max(0, min(x, 9)) + vm.lap(1 / eps)"


def _calls() -> Any:
    text = "program calls\ninput x: int\nbegin\ny :=$ call m(x)\nz :=$ call m(x)\nout := y + z\nend\nreturn out\n"
    integers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    noisy = mechanism(vm.gaussian(integers, scale=8).to(vm.ApproxDP, delta="1/1000"), distance=2)
    core = dataclasses.replace(read_program(text), mechanisms={"m": noisy})
    return program_from_core(core, adjacent=vm.all_differ("x", by=2))


def _made(
    text: str, adjacent: Any, requires: str | tuple[str, ...] = (), *, bound: str | None = None, **given: Any
) -> Callable[[], Any]:
    """What makes the measurement; a bound that is told need not be looked for, which takes seconds with loops."""

    def made() -> Any:
        program = program_from_source(text, adjacent=adjacent, requires=requires)
        return program.measurement(verdict=vm.verify(program, bound), **given)

    return made


KINDS: dict[str, Callable[[], Any]] = {
    "number": _made(SCALED, vm.all_differ("x", by=2), "n >= 1", eps="1/2", n=3),
    "number, with a public input among the data": _made(SCALED, vm.all_differ("x", by=2), "n >= 1", eps="1/2"),
    "number between ends that are data": _made(ORDERED, vm.all_differ("x"), "n <= x", eps=1),
    "number that is something odd": _made(ORDERED, vm.all_differ("x", by=2), "x % 2 == n", eps=1, n=0),
    "truth value": _made("def tell(b: bool) -> bool: return b == vm.flip('3/4')", vm.all_differ("b")),
    "gaussian": _made("def bell(x: vm.Between(0, 10)) -> int: return x + vm.gauss(10)", vm.all_differ("x")),
    "every element": _made(ABOVE, vm.all_differ("q"), bound="eps", eps=1, t=3),
    "every element, upwards": _made(ABOVE, vm.all_differ("q", monotone=True), bound="3/4*eps", eps=1, t=3),
    "one element": _made(EACH, vm.one_differs("q"), bound="eps", eps=1),
    "one element, of so many": _made(EACH, vm.one_differs("q"), bound="eps", eps=1, length=7),
    "replaced": _made(
        HEAD.format("vm.Between(0, 5)") + "return sum(q) + vm.lap(5 / eps)", vm.one_differs("q", by=None),
        bound="eps", eps=1,
    ),
    "rows": _made(
        HEAD.format("vm.Between(0, 5)") + "return sum(q) + vm.lap(5 / eps)", vm.added_or_removed("q"), bound="eps",
        eps=1,
    ),
    "a grid": _made(GRID, vm.all_differ("q", by="1/10"), bound="1/5*eps", eps=1),
    "a relation": _made(HIDDEN, vm.related("abs(x<1> - x<2>) <= 1"), eps=1),
    "a relation, given y": _made(HIDDEN, vm.related("abs(x<1> - x<2>) <= 1 and y >= 0"), eps=1, y=3),
    "two inputs": _made(
        "def two(x: int, y: int, eps: vm.Eps) -> int: return x + y + vm.lap(2 / eps)",
        (vm.all_differ("x"), vm.all_differ("y")), eps=1,
    ),
    "a mechanism": lambda: _calls().measurement(),
    "a logarithm and a length": _made(
        "def many(q: list[int], eps: vm.Eps) -> int:\n    s = 0\n    for x in q:\n        s = x + vm.lap(1 / eps)\n"
        "    return s",
        vm.all_differ("q"), bound="len(q)*eps", eps="1/3", length=4,
    ),
}  # fmt: skip


@cache
def measured(kind: str) -> Any:
    return KINDS[kind]()


@cache
def _text(kind: str, d_in: Any) -> str:
    return str(measured(kind).certificate(d_in).text)


def document(kind: str, d_in: Any = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_text(kind, d_in))
    return found


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_certificate_of_a_measurement_of_a_program_is_derived_again(kind: str) -> None:
    for d_in in (0, 1, 2, 3, "inf"):
        report = check(_text(kind, d_in))
        assert report.ok, (d_in, report)
        assert report.theorems == ("verified-program",) and not report.claims


def test_chains_conversions_and_other_spaces_are_derived_again() -> None:
    rows = vm.Space(vm.vectors(int, size=3), vm.HammingDistance())
    program = program_from_source(
        HEAD.format("vm.Between(0, 5)") + "return sum(q) + vm.lap(5 / eps)", adjacent=vm.one_differs("q", by=None)
    )
    proof = json.loads(document("replaced")["derivation"]["parameters"]["certificate"])
    bounded = vm.Space(vm.vectors(int, bounds=(0, 5), size=3), vm.HammingDistance())
    after = rows >> vm.clamp(bounds=(0, 5)) >> program.measurement(verdict=proof, eps=1, space=bounded)
    for made in (after, after >> vm.postprocess(abs), after.to(vm.ZCDP)):
        assert check(made.certificate(2).text).ok
    twice = measured("number").input_space >> vm.compose([measured("number"), measured("number")])
    assert check(twice.certificate(2).text).ok


GIVEN_Y = "abs(x<1> - x<2>) <= 1, 0 <= y; or abs(x<2> - x<1>) <= 1, 0 <= y"
FORGERIES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("number", ("parameters", "loss", "epsilon"), "1/100"),
    ("number", ("parameters", "budgets", 0, 1), "100"),
    ("number", ("parameters", "budgets"), []),
    ("number", ("parameters", "budgets"), [["eps", "1/2"], ["eps", "1/3"]]),
    ("number", ("parameters", "by"), "100"),
    ("number", ("parameters", "spacing"), "100"),
    ("number", ("parameters", "moves"), "0"),
    ("number", ("parameters", "public"), [["n", "-3"]]),
    ("number", ("parameters", "public"), [["x", "3"]]),
    ("number", ("parameters", "public"), [["n", True]]),
    ("number", ("parameters", "lengths"), [["x", "3"]]),
    ("number", ("parameters", "certificate"), "{}"),
    ("number", ("input", "metric"), "DiscreteDistance()"),
    ("number", ("input", "domain"), "vectors(int)"),
    ("number", ("input", "domain"), "scalars(float)"),
    ("number, with a public input among the data", ("input", "domain"), "inputs(x: int; public n: int)"),
    ("number, with a public input among the data", ("input", "domain"), "inputs(x: int; n: int; requires 1 <= n)"),
    ("number, with a public input among the data", ("input", "domain"), "inputs(x: int; requires 1 <= n)"),
    ("number, with a public input among the data", ("input", "metric"), "InputDistance(AbsoluteDistance(), of='n')"),
    (
        "number, with a public input among the data", ("input", "metric"),
        "InputDistance(AbsoluteDistance(), of='x', grid='1/2')",
    ),
    ("number that is something odd", ("parameters", "most"), "inf"),
    ("truth value", ("parameters", "loss", "epsilon"), "1"),
    ("truth value", ("input", "domain"), "finite([0, 1, 2])"),
    ("gaussian", ("input", "domain"), "scalars(int)"),
    ("gaussian", ("input", "domain"), "scalars(int, bounds=(0, 11))"),
    ("gaussian", ("parameters", "loss", "rho"), "1/201"),
    ("every element", ("input", "metric"), "HammingDistance()"),
    ("every element", ("input", "metric"), "MonotoneDistance()"),
    ("every element, upwards", ("input", "metric"), "LInfDistance()"),
    ("one element", ("input", "metric"), "LInfDistance()"),
    ("one element", ("input", "metric"), "L2Distance()"),
    ("one element", ("input", "metric"), "InsertDeleteDistance()"),
    ("one element, of so many", ("input", "domain"), "vectors(int)"),
    ("replaced", ("input", "domain"), "vectors(int)"),
    ("replaced", ("input", "metric"), "InsertDeleteDistance()"),
    ("rows", ("input", "metric"), "HammingDistance()"),
    ("rows", ("input", "metric"), "SymmetricDistance()"),
    ("rows", ("input", "domain"), "vectors(int)"),
    ("a grid", ("parameters", "by"), "1"),
    ("a grid", ("parameters", "spacing"), "1/10"),
    ("a relation", ("parameters", "most"), "inf"),
    ("a relation", ("input", "metric"), "ProgramAdjacency('abs(x<1> - x<2>) <= 2')"),
    ("a relation", ("input", "metric"), "ProgramAdjacency('anything')"),
    ("a relation", ("input", "metric"), "ProgramAdjacency(nothing)"),
    ("a relation", ("input", "metric"), "ProgramAdjacency('abs(x<1> - x<2>) <= 1; or anything')"),
    ("a relation, given y", ("input", "metric"), "ProgramAdjacency('abs(x<1> - x<2>) <= 1, 0 <= y', y=-3)"),
    *(
        ("a relation, given y", ("input", "metric"), f"ProgramAdjacency({text})")
        for text in (
            f"{GIVEN_Y!r}", f"{GIVEN_Y!r}, y=True", f"{GIVEN_Y!r}, y=3.0", f"{GIVEN_Y!r}, y=3, y=3", f"{GIVEN_Y!r},y=3",
            f"{GIVEN_Y!r}, y=3, eps=1", f"{GIVEN_Y!r}  # or any two integers\n, y=3", f"\n{GIVEN_Y!r}, y=3",
            f"{GIVEN_Y!r}, **{{'y': 3}}", "'" + GIVEN_Y.replace("y", "\\x79") + "', y=3", f'"{GIVEN_Y}", y=3',
            f"{GIVEN_Y.partition('; or ')[0]!r}, y=3", f"{GIVEN_Y + ' '!r}, y=3",
        )
    ),
    *(
        ("number that is something odd", ("input", "domain"), f"inputs({text})")
        for text in (
            "x: int; requires x % 2 == n", "x: int; requires x % 2 == n; where n = 1",
            "x: int; requires x % 2 == n; where n = 0; where n = 0", "x: int; requires x % 2 == n; where n = False",
            "x: int; where n = 0; requires x % 2 == n", "x: int; requires x % 2 == n; where n = 0; anything",
            "x: int; requires x % 2 == 0; where n = 0", "requires x % 2 == n; x: int; where n = 0",
        )
    ),
    ("a grid", ("input", "metric"), "InputDistance(LInfDistance(), of='q', grid='2/200')"),
    (
        "a grid", ("input", "domain"),
        "inputs(q: list on 2/200; requires each q: 0 <= q[any.k]; requires each q: q[any.k] <= 100)",
    ),
    ("two inputs", ("input", "metric"), "InputDistance(AbsoluteDistance(), of='x')"),
    ("a mechanism", ("parameters", "mechanisms"), []),
    ("a mechanism", ("parameters", "loss", "delta"), "0"),
    ("a logarithm and a length", ("parameters", "lengths", 0, 1), "1"),
]  # fmt: skip


def test_forgeries_of_texts_are_near_the_genuine_ones() -> None:
    assert document("a relation, given y")["derivation"]["input"]["metric"] == f"ProgramAdjacency({GIVEN_Y!r}, y=3)"
    place = document("number that is something odd")["derivation"]["input"]
    assert place["domain"] == "inputs(x: int; requires x % 2 == n; where n = 0)"


@for_each(("kind", "path", "value"), FORGERIES)
def test_what_is_edited_is_refused(kind: str, path: tuple[Any, ...], value: Any) -> None:
    forged = document(kind, 1)
    changes = [((*NODE, *path), value)]
    if path[0] == "input":
        changes.append((("claim", "neighborhood", path[1]), value))
    again = changed(forged, *changes)
    metric = again["claim"]["neighborhood"]["metric"]
    text = f"On data at most 1 apart in {metric}, releases" + again["claim"]["text"].partition("releases")[2]
    refused_at(changed(again, (("claim", "text"), text)))


def test_a_smaller_loss_is_refused_wherever_it_is_written() -> None:
    for kind in KINDS:
        good = document(kind, 1)
        for name in ("epsilon", "rho", "delta"):
            if name in good["derivation"]["bound"]:
                assert refused_at(changed(good, ((*NODE, "bound", name), "0"), (("claim", "loss", name), "0")))


def test_the_witness_is_checked_and_bound_to_its_place() -> None:
    good = document("number")
    inner = json.loads(good["derivation"]["parameters"]["certificate"])
    inner["claim"]["amount"] = "1/1000*eps"
    forged = changed(good, ((*NODE, "parameters", "certificate"), json.dumps(inner)))
    assert refused_at(forged) == "derivation.parameters.certificate.digest"
    other = document("a relation")["derivation"]["parameters"]["certificate"]
    assert refused_at(changed(good, ((*NODE, "parameters", "certificate"), other)))
    # A mechanism's certificate that is fine, of a mechanism that costs more.
    calls = document("a mechanism")
    integers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    for entry, d_in in ((vm.laplace(integers, scale="1/10"), 2), (vm.laplace(integers, scale=1000), 1)):
        text = entry.certificate(d_in).text
        found = changed(calls, ((*NODE, "parameters", "mechanisms", 0, 1), text))
        assert refused_at(found) == "derivation.parameters.mechanisms.m"


def _always(loss: vm.Loss, _: Any) -> vm.Loss:
    return loss


def test_what_a_mechanism_takes_on_trust_is_not_taken_over_by_a_program() -> None:
    integers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    calls = document("a mechanism")
    for loss in (vm.pure("1/1000"), vm.approx("1/1000", "1/1000000")):
        vouched = vm.measurement(
            integers, function=abs, measure=loss.measure, privacy=partial(_always, loss), trust="it is so"
        )
        text = vouched.certificate(2).text
        assert check(text).ok and check(text).claims
        report = check(changed(calls, ((*NODE, "parameters", "mechanisms", 0, 1), text)))
        assert not report.ok and "rests on trust, which a program does not take over" in str(report)


def test_without_the_solver_the_certificate_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text("number", 1)
    checking.proven.cache_clear()
    monkeypatch.setitem(sys.modules, "cvc5", None)
    report = check(text)
    assert not report.ok
    assert 'needs the solver cvc5, which is not installed: pip install "viameter[verify]"' in str(report)


ROWS_AND_SLOTS = [
    "s := len(q.in)", "s := q[0]", "s := q.in[0]", "s := len(q)", "i := 1", "i := i + 0", "s := q[i]",
]  # fmt: skip


@for_each("line", ROWS_AND_SLOTS)
def test_a_program_that_sees_slots_is_not_run_on_rows(line: str) -> None:
    from viameter_check.programs.slots import require_rows_only
    from viameter_check.programs.texts import read_program as read
    from viameter_check.report import Refused

    good = "\n".join([
        "program p", "input q: list", "input q.in: list", "begin", "s := 0", "i := 0", "while i < len(q.in) do",
        "if q.in[i] == 1 then", "s := s + q[i]", "end", "i := i + 1", "end", "t := 0", "end", "return s\n",
    ])  # fmt: skip
    require_rows_only(read(good), "q")
    with pytest.raises(Refused):
        require_rows_only(read(good.replace("+ q[i]\nend", "+ q[i]\nelse\ns := s + 1\nend")), "q")
    with pytest.raises(Refused):
        require_rows_only(read(good.replace("t := 0", line)), "q")


def test_what_a_certificate_said_in_words_is_not_believed() -> None:
    found = program_from_source(SCALED, adjacent=vm.all_differ("x", by=2), requires="n >= 1")
    from tests.viameter_check.programs.writing import sealed

    from viameter.logic import verify
    from viameter_check.programs import check_program

    verdict = verify(found, "2*eps")
    assert verdict.certificate is not None
    plain = verdict.certificate.to_json()
    assert "says" not in plain["proofs"][0]["neighbors"]
    plain["proofs"][0]["neighbors"]["says"] = "x differs by anything at all"
    report = check_program(sealed(plain))
    assert report.ok and "anything at all" not in str(report)
    assert "Adjacent inputs, in words: x differs by at most 2.\n" in str(report)
    assert "x differs" not in verdict.certificate.claim and "abs(x<1> - x<2>) <= 2" in verdict.certificate.claim
