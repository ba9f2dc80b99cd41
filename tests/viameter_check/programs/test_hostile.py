"""Hostile certificates: whatever is strange is refused with a place and a text, never with a traceback."""

import json
import random
from typing import Any

import pytest
from tests.cases import for_each
from tests.viameter_check.forging import leaves
from tests.viameter_check.programs.writing import Json, at, certificate, changed, neighbors, proof, refused, sealed
from tests.viameter_check.programs.zoo import (
    LAPLACE,
    PREFIX,
    ZOO,
    above_threshold,
    calls,
    gauss,
    laplace,
    monotone,
    noisy_max,
    prefix_sum,
    response,
    select,
    sparse,
)

from viameter_check import check
from viameter_check.programs import check_program

STRANGE: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), "", "x", "-1", "1/0", "inf", "+1", " ", "cost.eps", "any.k", "out.R",
    "\ud800", "\x00", "(" * 500, "1" * 5000, "q<1>", "true", "ln(1/2)", [], {}, [[]], {"": {}}, ["q"], {"5": "0"},
]  # fmt: skip


@pytest.mark.parametrize("name", ["sparse", "calls", "noisy_max"])
def test_strange_values_anywhere_are_refused_without_a_traceback(name: str) -> None:
    chosen = random.Random(17)
    document = ZOO[name]()
    paths = [path for path, _ in leaves(document) if path[0] not in ("digest", "sha256")]
    for path in paths:
        for value in chosen.sample(STRANGE, 2):
            report = check(changed_or_raw(document, path, value))
            assert report.ok or report.failures[0].message
            str(report).encode("ascii")
            if report.ok:
                assert is_harmless(document, path, value), (path, value)


def changed_or_raw(document: Json, path: tuple[Any, ...], value: Any) -> Json:
    forged = json.loads(json.dumps(document))
    inner = forged
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return sealed(forged)


def is_harmless(document: Json, path: tuple[Any, ...], value: Any) -> bool:
    """Words for people, a finer unit, and what says the same."""
    inner: Any = document
    for part in path:
        inner = inner[part]
    same = (inner, value) in (("0", ""), ("1", "true"))
    return path[-1] in ("says", "number") or inner == value or same


def test_branches_are_exchanged_for_strange_values_too() -> None:
    document = sparse()
    chosen = random.Random(23)
    for name in ("claim", "mechanisms", "proofs", "program", "noise", "format", "version"):
        for value in chosen.sample(STRANGE, 10):
            assert not check(changed_or_raw(document, (name,), value)).ok or (name, value) == ("mechanisms", {})
    for name in document["proofs"][0]:
        for value in chosen.sample(STRANGE, 6):
            report = check_program(changed_or_raw(document, ("proofs", 0, name), value))
            assert not report.ok or value in ([], {})


def test_what_is_no_json_or_has_a_name_twice_is_refused() -> None:
    text = json.dumps(laplace())
    assert (
        check(text.replace('"version": 1', '"version": 1, "version": 1'))
        .failures[0]
        .message.startswith("a name stands")
    )
    for old, new in (
        ('"version": 1', '"version": 1.0'),
        ('"version": 1', '"version": 1e0'),
        ('"version": 1', '"version": NaN'),
    ):
        assert check(text.replace(old, new)).failures[0].path == "version"
    assert check_program("{").failures[0].message.startswith("is not JSON")
    assert check_program("[" * 200_000).failures[0].path == "certificate"
    assert not check_program("[]").ok
    assert not check_program(" " * (2**22 + 1)).ok
    deep = text.replace('"obligations": []', '"obligations": ' + "[" * 400 + "]" * 400)
    assert "levels" in check(deep).failures[0].message
    assert not check(text.replace('"number": 1', f'"number": {"1" * 4500}')).ok


def test_a_changed_certificate_is_refused_at_its_hash() -> None:
    document = laplace()
    assert refused({**document, "noise": "real noise"})[0] == "digest"
    assert refused({**document, "digest": "0" * 64})[0] == "digest"
    assert refused(sealed({**document, "noise": "real noise"}))[0] == "noise"
    forged = sealed(document)
    forged["sha256"] = "0" * 64
    canonical = {name: value for name, value in forged.items() if name != "digest"}
    import hashlib

    forged["digest"] = hashlib.sha256(json.dumps(canonical, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert refused(forged)[0] == "sha256"


@for_each(
    ("change", "place"),
    [
        ((("format",), "viameter program certificate/2"), "format"),
        ((("version",), 2), "version"),
        ((("version",), True), "version"),
        ((("more",), 1), "certificate"),
        ((("proofs",), []), "proofs"),
        ((("proofs", 0, "more"), 1), "proofs[0]"),
        ((("proofs", 0, "shifts"), {"5": "q<1> - q<2>", "6": "0"}), "proofs[0].shifts[6]"),
        ((("proofs", 0, "shifts"), {"05": "0"}), "proofs[0].shifts"),
        ((("proofs", 0, "shifts"), {"+5": "0"}), "proofs[0].shifts"),
        ((("proofs", 0, "shifts"), {"5": "noise<2> - noise<1>"}), "proofs[0].shifts[5]"),
        ((("proofs", 0, "shifts"), {"5": "q - q"}), "proofs[0].shifts[5]"),
        ((("proofs", 0, "shifts"), {"5": "true"}), "proofs[0].shifts[5]"),
        ((("proofs", 0, "shifts"), {"5": "eps"}), "proofs[0].shifts[5]"),
        ((("proofs", 0, "bounds"), {"5": ["1"]}), "proofs[0].bounds[5]"),
        ((("proofs", 0, "split"), [5]), "proofs[0].split[0]"),
        ((("proofs", 0, "invariants"), {"5": []}), "proofs[0].invariants[5]"),
        ((("proofs", 0, "variants"), {"5": "1"}), "proofs[0].variants[5]"),
        ((("proofs", 0, "units"), {"rate": {"number": 1}}), "proofs[0].units"),
        ((("proofs", 0, "units"), {"ln(6/2)": {"number": 1}}), "proofs[0].units"),
        ((("proofs", 0, "units"), {"ln(1)": {"number": 1}}), "proofs[0].units"),
        ((("proofs", 0, "units"), {"ln(3/0)": {"number": 1}}), "proofs[0].units"),
        ((("proofs", 0, "units", "eps", "number"), 0), "proofs[0].units[eps].number"),
        ((("proofs", 0, "units", "eps", "number"), -1), "proofs[0].units[eps].number"),
        ((("proofs", 0, "units", "eps", "number"), "1"), "proofs[0].units[eps].number"),
        ((("proofs", 0, "units", "eps", "number"), True), "proofs[0].units[eps].number"),
        ((("proofs", 0, "units", "eps", "factors"), ["q"]), "proofs[0].units[eps].factors[0]"),
        ((("proofs", 0, "units", "eps", "factors"), ["q<1>"]), "proofs[0].units[eps].factors[0]"),
        ((("proofs", 0, "units", "eps", "factors"), ["1"] * 21), "proofs[0].units[eps].factors"),
        ((("proofs", 0, "pointwise"), 1), "proofs[0].pointwise"),
        ((("proofs", 0, "obligations"), [1]), "proofs[0].obligations[0]"),
        ((("proofs", 0, "text"), LAPLACE.replace("noise", "n")), "proofs[0].text"),
        ((("proofs", 0, "neighbors", "private"), ["p"]), "proofs[0].neighbors.private[0]"),
        ((("proofs", 0, "neighbors", "private"), ["noise"]), "proofs[0].neighbors.private[0]"),
        ((("proofs", 0, "neighbors", "private"), []), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["q"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["noise"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["eps"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["cost.eps"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["out.R"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), ["c", "c"]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "constants"), [["c"]]), "proofs[0].neighbors.constants[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["q == 0"]), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["noise<1> == 0"]), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["cost.eps == 0"]), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["any.k == 0"]), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["out.R == 0"]), "proofs[0].neighbors.facts[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["true"] * 201), "proofs[0].neighbors.facts"),
        ((("proofs", 0, "neighbors", "each"), [["q", "true"]]), "proofs[0].neighbors.each[0]"),
        ((("proofs", 0, "neighbors", "each"), [[["q"], "true"]]), "proofs[0].neighbors.each[0]"),
        ((("proofs", 0, "neighbors", "facts"), ["q<1> < q<1>"]), "proofs[0].neighbors"),
        ((("proofs", 0, "neighbors", "facts"), ["1 <= q<1> - q<2>", "1 <= q<2> - q<1>"]), "proofs[0].neighbors"),
        ((("claim",), {"measure": "pure"}), "claim"),
        ((("claim",), {"measure": "gdp", "amount": "1"}), "claim.measure"),
        ((("claim",), {"measure": ["pure"], "amount": "1"}), "claim.measure"),
        ((("claim",), {"measure": "pure", "amount": "eps", "delta": "1"}), "claim"),
        ((("claim",), {"measure": "pure", "amount": "eps", "rho": "1"}), "claim"),
        ((("claim",), {"measure": "zcdp", "amount": "eps"}), "claim.amount"),
        ((("claim",), {"measure": "zcdp", "amount": "ln(3)"}), "claim.amount"),
        ((("claim",), {"measure": "approx", "amount": "eps", "delta": "eps"}), "claim.delta"),
        ((("claim",), {"measure": "approx", "amount": "eps", "delta": "3/2"}), "claim.delta"),
        ((("claim",), {"measure": "approx", "amount": "eps", "delta": "ln(2)"}), "claim.delta"),
        ((("proofs", 0, "units", "eps"), {}), "proofs[0].units[eps]"),
        ((("proofs", 0, "units", "eps"), {"number": 1, "more": 1}), "proofs[0].units[eps]"),
        ((("claim",), {"measure": "approx", "amount": "eps", "delta": "(-1)"}), "claim.delta"),
        ((("claim",), {"measure": "approx", "amount": "eps", "delta": "0", "rho": "1"}), "claim.amount"),
        ((("claim",), {"measure": "approx", "amount": "1", "delta": "1/9", "rho": "(-1)"}), "claim.rho"),
    ],
)
def test_what_is_out_of_place_is_refused_there(change: tuple[tuple[Any, ...], Any], place: str) -> None:
    assert refused(changed(laplace(), change))[0] == place


def test_adjacency_that_nothing_satisfies_is_refused() -> None:
    for each in (["q", "false"], ["q", "q<1>[any.k] < q<1>[any.k]"], ["q", "any.k < 0"]):
        document = changed(above_threshold(), (("proofs", 0, "neighbors", "each"), [each]))
        place, message = refused(document)
        assert place == "proofs[0].neighbors" and "no two inputs are adjacent" in message
    text = LAPLACE.replace("begin", "requires q < 0\nrequires 0 < q\nbegin")
    near = neighbors(["q"])
    document = certificate(text, "eps", proof(text, near, units={"eps": 1}, shifts={"7": "0"}))
    assert "no two inputs are adjacent" in refused(document)[1]


def test_a_fact_about_each_element_speaks_of_its_own_list() -> None:
    text = PREFIX.replace("budget", "input w: list\nbudget")
    document = prefix_sum()
    near = document["proofs"][0]["neighbors"]
    for fact in (
        "w<1>[any.k] == w<2>[any.k]",
        "w[any.k] == 0",
        "q<1>[any.k] == w<1>[0]",
        "q[any.k] == 0",
        "any.k<1> == 0",
    ):
        forged = {**near, "private": ["q", "w"], "each": [["q", fact]]}
        place, _ = refused(certificate(text, "eps", proof(text, forged)))
        assert place == "proofs[0].neighbors.each[0]"


def test_invariants_speak_of_the_two_runs_and_of_nothing_else() -> None:
    document = above_threshold()
    loop = at(document["program"], "while")
    for n, text in enumerate(
        [
            "i == 0",
            "t<1> == t<2>",
            "eps == 1",
            "any.k == 0",
            "out.R == 0",
            "same.q",
            "cost.rho == 0",
            "0",
            "len(i) == 0",
            "i<3> == 0",
        ]
    ):
        forged = changed(document, (("proofs", 0, "invariants", loop), ["true"] * n + [text]))
        assert refused(forged)[0] == f"proofs[0].invariants[{loop}][{n}]", text
    for variant in ("len(q) - i<1>", "cost.eps", "done", "len(q) - j", "q"):
        assert (
            refused(changed(document, (("proofs", 0, "variants", loop), variant)))[0] == f"proofs[0].variants[{loop}]"
        )
    for name in ("invariants", "variants"):
        assert refused(changed(document, (("proofs", 0, name), {})))[0] == f"proofs[0].{name}"
    assert (
        refused(changed(document, (("proofs", 0, "invariants", loop), ["true"] * 201)))[0]
        == f"proofs[0].invariants[{loop}]"
    )


def test_an_invariant_is_shown_where_the_loop_is_entered_and_kept() -> None:
    document = above_threshold()
    loop = at(document["program"], "while")
    invariant = document["proofs"][0]["invariants"][loop]
    for text in ("false", "i<1> >= 1", "cost.eps <= 1"):
        forged = changed(document, (("proofs", 0, "invariants", loop), [*invariant, text]))
        place, message = refused(forged)
        assert place == f"proofs[0].invariants[{loop}][5]" and message.startswith("at the start: does not hold")
    for text in ("i<1> == 0", "not done<1>"):
        forged = changed(document, (("proofs", 0, "invariants", loop), [*invariant, text]))
        place, message = refused(forged)
        assert place == f"proofs[0].invariants[{loop}][5]" and "the body keeps the invariant" in message
    for n in (0, 3):
        left = invariant[:n] + invariant[n + 1 :]
        assert not check_program(changed(document, (("proofs", 0, "invariants", loop), left))).ok


def test_bounds_are_of_draws_that_need_them() -> None:
    for document, name in ((select(), "best"), (gauss(), "noise")):
        line = at(document["program"], name)
        assert refused(changed(document, (("proofs", 0, "bounds"), {})))[0] == "proofs[0].bounds"
        for bounds in (["1"] * 3, [], "1", [f"{name}<1>", "1"][: len(document["proofs"][0]["bounds"][line])]):
            assert refused(changed(document, (("proofs", 0, "bounds", line), bounds)))[0] == f"proofs[0].bounds[{line}]"
        assert (
            refused(changed(document, (("proofs", 0, "bounds", line, 0), "true")))[0] == f"proofs[0].bounds[{line}][0]"
        )
    line = at(select()["program"], "best")
    assert refused(changed(select(), (("proofs", 0, "shifts"), {line: "0"})))[0] == f"proofs[0].shifts[{line}]"


def test_shifts_of_what_has_few_values_do_not_depend_on_what_is_drawn() -> None:
    line = at(response()["program"], "honest")
    forged = changed(response(), (("proofs", 0, "shifts", line), "honest<1>"))
    assert "cannot depend on honest<1>" in refused(forged)[1]
    line = at(gauss()["program"], "noise")
    assert "cannot depend" in refused(changed(gauss(), (("proofs", 0, "shifts", line), "noise<1>")))[1]


@for_each(
    ("name", "value"),
    [("distance", "-1"), ("distance", "inf"), ("epsilon", "+1"), ("epsilon", "inf"), ("epsilon", 1), ("delta", "2"),
     ("delta", "0.5"), ("delta", "2/4")],
)  # fmt: skip
def test_what_is_said_of_mechanisms_is_read_strictly(name: str, value: Any) -> None:
    assert refused(changed(calls(), (("mechanisms", "noisy", name), value)))[0] == f"mechanisms.noisy.{name}"


def test_numbers_of_a_thousand_digits_do_no_harm() -> None:
    for name in ("distance", "epsilon", "delta"):
        for value in ("9" * 1200, f"1/{'9' * 1200}"):
            report = check_program(changed(calls(), (("mechanisms", "noisy", name), value)))
            assert not report.ok or name == "distance"


def test_a_mechanism_that_nothing_is_said_of_is_refused() -> None:
    assert refused(changed(calls(), (("mechanisms",), {})))[0] == "mechanisms"
    assert refused(changed(calls(), (("mechanisms",), [])))[0] == "mechanisms"
    assert refused(changed(calls(), (("mechanisms", "a b"), {})))[0] == "mechanisms"
    for entry in ({}, {"distance": "2", "epsilon": "1/2"}, {**calls()["mechanisms"]["noisy"], "more": ""}, "noisy"):
        assert refused(changed(calls(), (("mechanisms", "noisy"), entry)))[0] == "mechanisms.noisy"


def test_programs_that_grow_beyond_bounds_are_refused() -> None:
    body = "  x := q\n" + "  x := x*x + 1\n" * 30 + "  noise :=$ lap(1/eps)\n  result := x + noise\n"
    text = LAPLACE.replace("  noise :=$ lap(1/eps)\n  result := q + noise\n", body)
    document = certificate(text, "eps", proof(text, neighbors(["q"]), units={"eps": 1}))
    assert "multiplies" in refused(document)[1]
    body = "".join(f"  if q > {n} then\n    y := y + {n}\n  else\n    y := {n} - y\n  end\n" for n in range(40))
    text = LAPLACE.replace("  noise :=$", f"  y := 0\n{body}  noise :=$").replace("q + noise", "y + noise")
    document = certificate(text, "eps", proof(text, neighbors(["q"]), units={"eps": 1}))
    assert "clauses must hold here" in refused(document)[1]


def test_what_cannot_be_decided_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """program it
input q: int
input a: int
input b: int
input c: int
begin
  if a*a*a + b*b*b + c*c*c == 114 then
    result := q
  else
    result := 0
  end
end
return result
"""
    document = certificate(text, "0", proof(text, neighbors(["q"])))
    monkeypatch.setattr("viameter_check.programs.solving.LIMIT", 200)
    place, message = refused(document)
    assert place == "proofs[0].text" and "could not be decided" in message
    monkeypatch.setattr("viameter_check.programs.questions.MOST_SECONDS", 0.0)
    assert "could not be decided" in refused(monotone())[1]


def test_failures_name_values_that_fail() -> None:
    report = check_program(changed(laplace(), (("proofs", 0, "shifts", "5"), "0")))
    (failure,) = report.failures
    assert failure.path == "proofs[0].text"
    assert "at the start: does not hold: both runs return the same: " in failure.message
    assert "it fails where " in failure.message and "q<1> = " in failure.message
    assert len(check_program(noisy_max(law="lap(1/eps)", shift="0")).failures) <= 6
