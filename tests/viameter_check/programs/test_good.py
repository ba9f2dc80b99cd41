"""Certificates that hold: each is accepted, and the report says what was checked."""

import json

import pytest
from tests.viameter_check.programs.writing import Json, at, certificate, changed, neighbors, proof
from tests.viameter_check.programs.zoo import (
    CALLS,
    LAPLACE,
    ZOO,
    above_threshold,
    calls,
    gauss,
    laplace,
    pad,
    select,
    sparse,
)

from viameter_check import check
from viameter_check.programs import check_program


@pytest.mark.parametrize("name", ZOO)
def test_a_proof_that_holds_is_accepted(name: str) -> None:
    document = ZOO[name]()
    report = check(json.dumps(document))
    assert report.ok, report
    assert report.loss == document["claim"] and report.derived > 0
    assert str(report).splitlines()[-1] == "OK"
    assert check(document).statement == report.statement


def test_the_statement_says_the_program_the_claim_adjacency_and_the_noise() -> None:
    report = check_program(above_threshold())
    assert report.statement.splitlines() == [
        "Program above_threshold is private in pure: epsilon at most eps.",
        "It returns result: int.",
        "Adjacent inputs, in words: every element of q differs by at most 1.",
        "Adjacent inputs, as they were checked: private is q: list; the same in both runs is t: int; lists keep their"
        " length; abs(q<1>[any.k] - q<2>[any.k]) <= 1 for every any.k from 0 below len(q).",
        "Budgets, each any number above 0: eps.",
        "Noise: exact discrete noise on the integers.",
    ]


def test_the_statement_says_what_is_required_and_on_which_grid_numbers_lie() -> None:
    text = LAPLACE.replace("q: int", "q: int on 1/100").replace("return result", "return result on 1/100")
    text = text.replace("begin", "requires 0 <= q\nbegin")
    near = neighbors(["q"], "abs(q<1> - q<2>) <= 1")
    report = check_program(certificate(text, "eps", proof(text, near, units={"eps": 1}, shifts={"6": "q<1> - q<2>"})))
    assert report.ok, report
    assert "private is q: int in steps of 1/100" in report.statement
    assert "It returns result: int in steps of 1/100." in report.statement
    assert "Whoever runs it must see to: 0 <= q." in report.statement


def test_every_obligation_is_listed_with_its_time() -> None:
    report = check_program(sparse())
    assert [(one.line, one.rule) for one in report.obligations] == [(0, "units"), (0, "equality")] + [(12, "while")] * 4
    assert all(one.path == "proofs[0]" and one.seconds >= 0 for one in report.obligations)
    assert report.derived == sum(one.clauses for one in report.obligations)
    assert report.solver.startswith("cvc5 ")
    shown = str(report)
    assert "  * proofs[0], line 12, while: both tests agree (1 clause, " in shown
    listed = report.to_json()["obligations"]
    assert listed[0]["what"] == "factors are at least 1 by what the program requires"
    assert json.loads(json.dumps(report.to_json()))["ok"] is True


def test_the_rules_that_were_used_are_listed() -> None:
    assert check_program(sparse()).theorems == ("append", "assign", "cond", "equality", "laplace", "seq", "while")


def test_mechanisms_that_are_called_are_taken_on_trust() -> None:
    report = check_program(calls())
    (claim,) = report.claims
    assert claim.path == "mechanisms.noisy"
    assert claim.message == "the mechanism noisy has epsilon 1/2 and delta 1/1000 for arguments up to 2 apart"
    assert "Taken on trust:" in str(report)


def test_a_key_of_any_public_length_hides_a_number() -> None:
    assert check_program(pad("M")).ok


def test_a_looser_claim_follows() -> None:
    for amount in ("2*eps", "eps + 1", "eps + ln(3)", "3/2*eps + 1/2*eps"):
        assert check_program(laplace(amount, fine=2)).ok, amount
    assert not check_program(laplace("1/2*eps", fine=2)).ok
    assert check_program(laplace({"measure": "approx", "amount": "eps", "delta": "0"})).ok


def test_a_claim_may_grow_with_public_inputs() -> None:
    assert check_program(sparse("N*eps")).ok
    assert check_program(sparse("len(q)*eps + eps")).ok
    assert not check_program(sparse("len(q)*eps")).ok


def test_concentrated_loss_is_converted() -> None:
    # By the bound of Canonne, Kamath and Steinke: epsilon 0.42994 at delta 1e-6, and delta 3.45e-8 at epsilon 1/2.
    def claim(amount: str, delta: str = "1/1000000", rho: str = "1/200") -> dict[str, str]:
        return {"measure": "approx", "amount": amount, "delta": delta, "rho": rho}

    good = check_program(gauss(claim("1/2")))
    assert good.ok, good
    assert "epsilon at most 1/2 and delta at most 1/1000000 (from rho at most 1/200)" in good.statement
    assert check_program(gauss(claim("43/100"))).ok
    assert check_program(gauss(claim("1/2", delta="1/25000000"))).ok
    tight = check_program(gauss(claim("42/100"))).failures[0]
    assert (tight.path, tight.message) == ("claim.amount", "is too small for this rho and delta")
    assert not check_program(gauss(claim("1/2", delta="1/30000000"))).ok
    assert not check_program(gauss(claim("1/2", delta="0"))).ok
    assert check_program(gauss(claim("0", delta="1"))).ok
    for amount, rho in (("9*ln(3)", "1/200"), ("9", "1/200*ln(3)")):
        assert check_program(gauss(claim(amount, rho=rho))).failures[0].path in ("claim.amount", "claim.rho")
    for amount, delta, rho in (("1/2", "2", "1/200"), ("1/100", "1/1000000", "1"), ("1/2", "1/1000000", "(-1)")):
        assert check_program(gauss(claim(amount, delta, rho))).failures[0].path in (
            "claim",
            "claim.amount",
            "claim.rho",
        )
    below = check_program(gauss(claim("1/2", rho="1/400")))
    assert below.failures[0].path == "proofs[0].units[rho]"
    finer = changed(gauss(claim("1/2", rho="1/400")), (("proofs", 0, "units", "rho", "number"), 400))
    assert check_program(finer).failures[0].path == "claim.rho"


def test_only_numbers_are_converted_and_nothing_costs_nothing() -> None:
    text = """program it
input q: int
input N: int
requires 1 <= N
begin
  x :=$ gauss(10)
  result := 0
end
return result
"""
    annotated = proof(text, neighbors(["q"]), units={"rho": 200}, bounds={"6": ["0"]})

    def made(amount: str, rho: str, delta: str = "1/1000") -> Json:
        claim = {"measure": "approx", "amount": amount, "delta": delta, "rho": rho}
        return certificate(text, claim, annotated)

    for amount, rho, delta in (("0", "0", "0"), ("0", "0", "1/2"), ("1", "1/200", "1/1000")):
        assert check_program(made(amount, rho, delta)).ok
    for amount, rho in (("9*N", "1/200"), ("9", "1/200*N"), ("9*ln(3)", "1/200")):
        assert "number" in check_program(made(amount, rho)).failures[0].message


def test_a_delta_may_grow_with_public_inputs() -> None:
    text = CALLS.replace("begin", "input N: int\nrequires 1 <= N\nbegin")
    near, mechanisms = calls()["proofs"][0]["neighbors"], calls()["mechanisms"]
    annotated = proof(text, near, units={"1": 2, "delta": 1000})
    for delta, is_true in (("1/500*N", True), ("1/1000*N", False), ("1", True), ("3/500", True)):
        claim = {"measure": "approx", "amount": "1", "delta": delta}
        assert check_program(certificate(text, claim, annotated, mechanisms=mechanisms)).ok is is_true


def test_obligations_are_for_people_and_the_words_of_adjacency_too() -> None:
    listed = [{"line": 5, "rule": "laplace", "what": "anything", "more": []}]
    assert check_program(laplace(obligations=listed)).ok
    assert check_program(changed(laplace(), (("proofs", 0, "neighbors", "says"), ""))).ok


def test_what_a_proof_leaves_out_is_empty() -> None:
    document = select()
    for name in ("moves", "shifts", "split", "invariants", "variants", "obligations"):
        del document["proofs"][0][name]
    del document["mechanisms"]
    assert check_program(changed(document)).ok


SAME = ["i<1> == i<2>", "done<1> == done<2>", "result<1> == result<2>", "noisy_t<1> == noisy_t<2>", "cost.eps <= 0"]


def test_a_remark_says_that_adjacent_inputs_never_differ() -> None:
    document = laplace()
    document["proofs"][0]["neighbors"]["facts"] = ["q<1> == q<2>"]
    report = check_program(changed(document))
    assert report.ok and report.remarks == ("adjacent inputs never differ, so that nothing is hidden",)
    assert "Remarks:" in str(report)
    document = above_threshold()
    document["proofs"][0]["neighbors"]["facts"] = ["len(q) <= 1"]
    report = check_program(changed(document))
    assert report.remarks == ("no two inputs with lists of two or more elements are adjacent",)
    for fact in ("len(q) <= 2", "len(q) >= 9"):
        document["proofs"][0]["neighbors"]["facts"] = [fact]
        assert check_program(changed(document)).remarks == ()
    document["proofs"][0]["neighbors"] = neighbors([])
    document["proofs"][0]["shifts"] = {}
    document["proofs"][0]["invariants"] = {at(document["program"], "while"): SAME}
    report = check_program(changed(document))
    assert report.ok and report.remarks == ("adjacent inputs never differ, so that nothing is hidden",)
    assert check_program(above_threshold()).remarks == ()
