"""Proofs of what is not true: each is refused, at the place where it goes wrong."""

from collections.abc import Callable

import pytest
from tests.cases import for_each
from tests.viameter_check.programs.writing import (
    NEAR,
    Json,
    at,
    certificate,
    changed,
    neighbors,
    proof,
    refused,
    straight,
    tree,
)
from tests.viameter_check.programs.zoo import (
    LAPLACE,
    MONOTONE,
    above_threshold,
    calls,
    centered,
    clamped,
    early,
    gauss,
    histogram,
    laplace,
    monotone,
    noisy_max,
    pad,
    prefix_sum,
    response,
    select,
    sparse,
    swap,
)

from viameter_check.programs import check_program


@pytest.mark.parametrize("made", [laplace, above_threshold, prefix_sum, noisy_max, select, sparse])
def test_less_than_the_true_cost_is_not_proved(made: Callable[..., Json]) -> None:
    assert check_program(made(fine=100)).ok
    place, message = refused(made("99/100*eps", fine=100))
    assert place == "claim.amount" and "cost.eps is at most what is claimed" in message


@pytest.mark.parametrize(
    ("made", "claim"),
    [(centered, "0*eps"), (swap, "0"), (response, "0"), (clamped, "1/2*eps"), (early, "0*eps"), (monotone, "0*eps")],
)
def test_less_than_the_true_cost_is_not_proved_in_other_programs(made: Callable[[str], Json], claim: str) -> None:
    assert refused(made(claim))[0] == "claim.amount"


def test_less_delta_or_epsilon_than_that_of_calls_is_not_proved() -> None:
    assert refused(calls({"measure": "approx", "amount": "1/2", "delta": "1/500"}))[0] == "claim.amount"
    assert refused(calls({"measure": "approx", "amount": "1", "delta": "1/1000"}))[0] == "claim.delta"
    assert refused(calls({"measure": "pure", "amount": "1"}))[0] == "claim.amount"


def test_less_rho_than_that_of_a_gaussian_is_not_proved() -> None:
    document = changed(gauss({"measure": "zcdp", "amount": "1/201"}), (("proofs", 0, "units", "rho", "number"), 40200))
    assert refused(document)[0] == "claim.amount"
    assert refused(gauss({"measure": "pure", "amount": "1"}))[0] == "claim.amount"


def test_a_new_draw_knows_nothing_of_the_old_one() -> None:
    body = "x :=$ lap(1/eps)\nx :=$ lap(1/eps)\nresult := q + x"
    assert refused(straight(body, shifts=["q<1> - q<2>", "0"]))[0] == "proofs[0].text"
    assert check_program(straight(body, shifts=["0", "q<1> - q<2>"])).ok


def test_a_new_draw_in_a_loop_knows_nothing_of_the_one_before() -> None:
    # What is known of x from before the loop cannot be an invariant of a loop that draws x again.
    text = """program it
input q: int
input n: int
budget eps
begin
  x :=$ lap(1/eps)
  i := 0
  while i < n do
    x :=$ lap(1/eps)
    i := i + 1
  end
  result := q + x
end
return result
"""
    invariant = ["i<1> == i<2>", "x<2> == x<1> + q<1> - q<2>", "cost.eps <= 1"]
    document = certificate(
        text,
        "eps",
        proof(
            text,
            NEAR,
            units={"eps": 1},
            shifts={"6": "q<1> - q<2>", "9": "0"},
            invariants={"8": invariant},
            variants={"8": "n - i"},
        ),
    )
    place, message = refused(document)
    assert place == "proofs[0].invariants[8][1]" and message.startswith("line 8, the body keeps the invariant")


def test_a_shift_takes_no_two_values_to_one() -> None:
    body = "x :=$ lap(1/eps)\nresult := ite(x == 5, 1, 0)"
    place, message = refused(straight(body, shifts=["ite(x<1> == 0, 1, 0)"]))
    assert place == "proofs[0].shifts[5]" and "takes no two values to one" in message
    assert check_program(straight(body, shifts=["ite(x<1> == 0, 1, ite(x<1> == 1, -1, 0))"])).ok
    assert refused(straight(body.replace("lap", "expo"), shifts=["ite(x<1> == 0, 1, 0)"]))[0] == "proofs[0].shifts[5]"


def test_one_sided_noise_stays_on_its_side() -> None:
    body = "x :=$ expo(1/eps)\nresult := q + x"
    place, message = refused(straight(body, shifts=["q<1> - q<2>"]))
    assert place == "proofs[0].shifts[5]" and "is possible" in message
    # The shift -1 is injective, and takes no value that is possible in the first run out of the range but 0.
    assert not check_program(straight("x :=$ expo(1/eps)\nresult := 1", shifts=["-1"])).ok
    # What cannot be drawn does not matter: the shift is injective on the values that can.
    for shift in ("1", "ite(x<1> < 0, 2, 1)", "ite(x<1> < 0, -9, 1)"):
        assert check_program(straight("x :=$ expo(1/eps)\nresult := 1", shifts=[shift])).ok


def test_one_sided_noise_costs_what_the_shift_says_with_its_sign() -> None:
    assert check_program(swap("eps")).ok
    # Where 1 is drawn the cost is -1: it pays for what costs 1 there.
    body = "x :=$ expo(1/eps)\ny :=$ lap(1/eps)\nresult := ite(x == 7, 1, 0)"
    there = "ite(x<1> == 0, 1, ite(x<1> == 1, -1, 0))"
    assert check_program(straight(body, shifts=[there, "ite(x<1> == 1, 2, 0)"])).ok
    assert not check_program(straight(body, shifts=[there, "ite(x<1> == 0, 1, 0)"])).ok


@for_each("shift", ["0", "1", "q<1> - q<2>", "(q<1> - q<2>) // 2", "-1", "q<2> - q<1>", "q<1>", "1/2"])
def test_twice_the_noise_hides_no_odd_difference(shift: str) -> None:
    assert not check_program(straight("x :=$ lap(1/eps)\nresult := 2*x + q", shifts=[shift])).ok


@pytest.mark.parametrize(("shift", "unit"), [("1", 1), ("2", 1), ("1 + q<1>[i<1>] - q<2>[i<2>]", 1)])
def test_noisy_max_with_half_the_noise_is_not_proved(shift: str, unit: int) -> None:
    assert not check_program(noisy_max(law="lap(1/eps)", shift=shift, unit=unit)).ok
    assert not check_program(noisy_max(law="expo(1/eps)", shift=shift, unit=unit)).ok


LEAK = """program leak
input d: int
begin
  i := 0
  r := 0
  while i < 2 do
    if i == 1 then
      r := d
    end
    i := i + 1
  end
end
return r
"""


def leak(variant: str, *invariant: str) -> Json:
    loop = at(LEAK, "while")
    annotated = proof(LEAK, neighbors(["d"]), invariants={loop: ["i<1> == i<2>", *invariant]}, variants={loop: variant})
    return certificate(LEAK, "0", annotated)


def test_a_loop_whose_variant_does_not_decrease_is_refused() -> None:
    report = check_program(leak("i + 1", "0 <= i<1>"))
    assert any(f.path == "proofs[0].variants[6]" and "the variant decreases" in f.message for f in report.failures)


@pytest.mark.parametrize("invariant", ["r<1> == r<2>", "i<1> <= 1 => r<1> == r<2>", "i<1> < 2 => r<1> == r<2>"])
def test_a_loop_that_leaks_at_its_end_is_refused(invariant: str) -> None:
    assert not check_program(leak("2 - i", invariant)).ok


def test_a_loop_that_runs_as_often_as_the_input_says_is_refused() -> None:
    """That both tests agree is shown from the invariant, and not from both being true."""
    text = "program counts\ninput d: int\nbegin\n  i := 0\n  while i < d do\n    i := i + 1\n  end\nend\nreturn i\n"
    loop = at(text, "while")
    annotated = proof(text, neighbors(["d"]), invariants={loop: ["i<1> == i<2>"]}, variants={loop: "d - i"})
    place, message = refused(certificate(text, "0", annotated))
    assert place == f"proofs[0].invariants[{loop}]" and "both tests agree" in message


@pytest.mark.parametrize(
    ("variant", "what"),
    [("5 - i", ""), ("1 - i", "at least 1"), ("2", "decreases"), ("i", "decreases"), ("len(q) - i", "input list")],
)
def test_a_variant_is_at_least_1_and_decreases(variant: str, what: str) -> None:
    text = LEAK.replace("r := d", "r := 1").replace("leak", "quiet")
    invariant = ["i<1> == i<2>", "r<1> == r<2>", "0 <= i<1>"]
    document = certificate(
        text, "0", proof(text, neighbors(["d"]), invariants={"6": invariant}, variants={"6": variant})
    )
    if what:
        place, message = refused(document)
        assert place == "proofs[0].variants[6]" and what in message
    else:
        assert check_program(document).ok


@pytest.mark.parametrize(
    ("other", "whats"), [("i", ["decreases"]), ("0 - i", ["at least 1"]), ("7", ["decreases"]), ("2 - i", [])]
)
def test_a_variant_is_asked_of_both_runs(other: str, whats: list[str]) -> None:
    # Where d < 0, which it may be in one run alone, the variant is another one.
    text = """program it
input d: int
begin
  i := 0
  while i < 2 do
    i := i + 1
  end
end
return i
"""
    invariant, variant = ["i<1> == i<2>", "0 <= i<1>"], f"ite(d < 0, {other}, 2 - i)"
    near = [neighbors(["d"], f"0 <= d<{side}>") for side in (1, 2)]
    proofs = [proof(text, one, invariants={"5": invariant}, variants={"5": variant}) for one in near]
    failures = check_program(certificate(text, "0", *proofs)).failures
    for n in (0, 1):
        found = [failure.message for failure in failures if failure.path == f"proofs[{n}].variants[5]"]
        assert bool(found) is bool(whats)
        assert all(any(what in message for message in found) for what in whats)
    both = neighbors(["d"], "0 <= d<1>", "0 <= d<2>")
    assert check_program(certificate(text, "0", {**proofs[0], "neighbors": both})).ok


def test_a_relation_that_is_not_symmetric_is_proved_in_both_directions() -> None:
    document = monotone()
    up, down = document["proofs"]
    for proofs, place in (([up], "[0]"), ([down], "[0]"), ([up, up], "[1]"), ([down, down], "[1]")):
        found, message = refused(changed(document, (("proofs",), proofs)))
        assert found == f"proofs{place}.neighbors" and "runs exchanged" in message
    assert check_program(changed(document, (("proofs",), [down, up]))).ok


def test_both_directions_are_checked() -> None:
    document = monotone()
    for n in (0, 1):
        wrong = changed(document, (("proofs", n, "shifts", at(MONOTONE, "noise")), "0"))
        assert refused(wrong)[0] == f"proofs[{n}].text"


def test_one_sided_noise_needs_the_second_direction_for_a_monotone_relation() -> None:
    up = neighbors(["q"], "q<2> == q<1> - 1")
    document = straight("x :=$ expo(1/eps)\nresult := q + x", near=up, shifts=["1"])
    assert refused(document)[0] == "proofs[0].neighbors"


def test_a_second_relation_may_not_have_constants_of_its_own() -> None:
    document = monotone()
    document["proofs"][1]["neighbors"]["constants"] = ["c"]
    document["proofs"][1]["neighbors"]["facts"].append("c == c")
    assert refused(changed(document))[0] == "proofs[1].neighbors"
    document["proofs"][0]["neighbors"]["constants"] = ["c"]
    assert check_program(changed(document)).ok
    document["proofs"][1]["neighbors"]["private"] = []
    assert refused(changed(document))[0] == "proofs[1].neighbors.facts[0]"
    document["proofs"][1]["neighbors"]["facts"] = []
    assert refused(changed(document))[0] in ("proofs[1].neighbors", "proofs[1].shifts[5]")


def test_both_directions_speak_of_the_same_private_inputs() -> None:
    text = MONOTONE.replace("budget", "input p: int\nbudget")
    shifts, units = {"6": "q<1> - q<2>"}, {"eps": 1}
    up, down = "0 <= q<2> - q<1> <= 1", "0 <= q<1> - q<2> <= 1"
    for private in (["q", "p"], ["q"]):
        first = proof(text, neighbors(["q", "p"], up), units=units, shifts=shifts)
        second = proof(text, neighbors(private, down), units=units, shifts=shifts)
        document = certificate(text, "eps", first, second)
        if len(private) == 2:
            assert check_program(document).ok
        else:
            assert refused(document)[0] == "proofs[1].neighbors"


def test_a_relation_between_elements_is_symmetric_or_not() -> None:
    document = above_threshold()
    document["proofs"][0]["neighbors"]["each"] = [["q", "0 <= q<1>[any.k] - q<2>[any.k] <= 1"]]
    assert refused(changed(document))[0] == "proofs[0].neighbors"


def test_the_scale_of_noise_is_public() -> None:
    for law in ("lap(q/eps)", "expo(2*q/eps)", "lap(y/eps)"):
        document = straight(f"y := 1\nx :=$ {law}\nresult := 0", units={"eps": {"number": 2, "factors": []}})
        place, message = refused(document)
        assert place == "proofs[0].text[6]" and "is not public" in message
    header = "input q: list"
    lists = neighbors(["q"])
    assert refused(straight("x :=$ lap(q[0]/eps)\nresult := 0", near=lists, header=header))[0] == "proofs[0].text[5]"
    place, message = refused(straight("x :=$ lap(len(q)/eps)\nresult := 0", near=lists, header=header,
                                      units={"eps": {"number": 1, "factors": ["len(q)"]}}))  # fmt: skip
    assert place == "proofs[0].text[5]" and "at least 1" in message
    header += "\nrequires 1 <= len(q)"
    assert check_program(straight("x :=$ lap(len(q)/eps)\nresult := 0", near=lists, header=header,
                                  units={"eps": {"number": 1, "factors": ["len(q)"]}})).ok  # fmt: skip


def test_the_elements_of_a_public_list_are_public_and_those_of_a_private_one_are_not() -> None:
    header = "input q: list\ninput w: list\nrequires 1 <= w[0]\nrequires 1 <= q[0]"
    for factor, is_public in (("w[0]", True), ("q[0]", False), ("(q[0] + len(q))", False), ("(w[0] + len(q))", True)):
        document = straight(
            f"x :=$ lap({factor}/eps)\nresult := 0", near=neighbors(["q"]), header=header,
            units={"eps": {"number": 1, "factors": [factor] if is_public else []}},
        )  # fmt: skip
        if is_public:
            assert check_program(document).ok
        else:
            place, message = refused(document)
            assert place == "proofs[0].text[8]" and "is not public" in message


def test_a_factor_is_at_least_1_by_what_the_program_requires_and_not_by_adjacency() -> None:
    document = sparse()
    for text, facts in ((None, []), ("1 <= t", []), ("0 <= N", []), (None, ["1 <= N"])):
        program = document["program"].replace("requires 1 <= N", f"requires {text or '0 <= 0'}")
        forged = changed(
            document,
            (("program",), program),
            (("proofs", 0, "text"), program),
            (("proofs", 0, "neighbors", "facts"), facts),
        )
        place, message = refused(forged)
        assert place == "proofs[0].text[13]" and "1 <= N" in message


def test_a_unit_makes_every_cost_whole() -> None:
    for number in (1, 2, 3, 6):
        assert refused(changed(above_threshold(), (("proofs", 0, "units", "eps", "number"), number)))[1].startswith(
            "line "
        )
    for place, unit in (((), {"number": 4}), (("number",), 2), (("factors",), ["N", "t"])):
        document = changed(sparse(), (("proofs", 0, "units", "eps", *place), unit))
        assert not check_program(document).ok
    document = changed(gauss({"measure": "zcdp", "amount": "1"}), (("proofs", 0, "units", "rho", "number"), 100))
    assert refused(document)[0] == "proofs[0].units"
    document = changed(calls(), (("proofs", 0, "units", "1", "number"), 1))
    assert refused(document)[0] == "proofs[0].units"
    del document["proofs"][0]["units"]["delta"]
    assert not check_program(changed(document, (("proofs", 0, "units", "1", "number"), 2))).ok


def test_a_unit_whose_factor_may_be_0_is_refused() -> None:
    text = LAPLACE.replace("budget", "input N: int\nbudget")
    unit = {"eps": {"number": 1, "factors": ["N"]}}
    document = certificate(text, "eps", proof(text, NEAR, units=unit, shifts={"6": "q<1> - q<2>"}))
    assert refused(document)[0] == "proofs[0].units[eps].factors[0]"
    text = text.replace("begin", "requires 1 <= N\nbegin")
    assert check_program(certificate(text, "eps", proof(text, NEAR, units=unit, shifts={"7": "q<1> - q<2>"}))).ok


def test_sigma_counts_twice_in_the_unit() -> None:
    text = """program it
input q: int
input s: int
requires 1 <= s
begin
  result :=$ gauss(s, q)
end
return result
"""

    def made(factors: list[str], claim: str) -> Json:
        unit = {"rho": {"number": 2, "factors": factors}}
        return certificate(
            text, {"measure": "zcdp", "amount": claim}, proof(text, NEAR, units=unit, bounds={"6": ["1"]})
        )

    assert check_program(made(["s", "s"], "1/2")).ok
    assert refused(made(["s"], "1/2"))[0] == "proofs[0].units"


@pytest.mark.parametrize("claim", ["eps + N", "eps + N*ln(2)", "eps + (-1)", "eps + (-1)*ln(5)"])
def test_no_part_of_a_claim_is_below_0(claim: str) -> None:
    text = LAPLACE.replace("budget", "input N: int\nbudget")
    document = certificate(text, claim, proof(text, NEAR, units={"eps": 1}, shifts={"6": "q<1> - q<2>"}))
    assert refused(document)[0] == "claim.amount"


@for_each("claim", ["q*eps", "len(x)*eps", "eps*eps", "eps/2/0", "eps/q", "2/eps", "eps + ln(1/2)", "-eps", "eps\n"])
def test_claims_are_over_public_inputs_and_budgets(claim: str) -> None:
    assert refused(laplace(claim))[0] == "claim.amount"


def test_a_pad_that_is_shorter_than_the_number_hides_nothing() -> None:
    document = pad()
    for name in (("program",), ("proofs", 0, "text")):
        document = changed(document, (name, document["program"].replace("uniform(0, 9)", "uniform(0, 8)")))
    assert refused(document)[0] == "proofs[0].text"


def test_the_ends_of_a_uniform_draw_are_the_same_in_both_runs_and_in_order() -> None:
    header, near = "input q: int\ninput N: int", neighbors(["q"], "0 <= q<1> <= 3", "0 <= q<2> <= 3")
    for law in ("uniform(0, q)", "uniform(q, 9)", "uniform(5, 4)", "uniform(0, N)"):
        document = straight(f"x :=$ {law}\nresult := 0", claim="0", header=header, near=near)
        assert refused(document)[0] == "proofs[0].text[6]", law
    known = header + "\nrequires 0 <= N"
    for value in ("0", "ite(0 <= x <= N, 1, q)"):
        body = f"x :=$ uniform(0, N)\nresult := {value}"
        assert check_program(straight(body, claim="0", header=known, near=neighbors(["q"]))).ok
    for value in ("ite(1 <= x <= N, 1, q)", "ite(0 <= x < N, 1, q)"):
        body = f"x :=$ uniform(0, N)\nresult := {value}"
        assert not check_program(straight(body, claim="0", header=known, near=neighbors(["q"]))).ok
    for body in ("x :=$ uniform(1, 4)\nresult := ite(1 <= x <= 4, 1, q)", "x :=$ uniform(3, 6)\nresult := (q + x) % 4"):
        assert check_program(straight(body, claim="0", near=near, shifts=["q<1> - q<2>"], header=header)).ok
    assert check_program(straight("y := 3\nx :=$ uniform(y, 2*y)\nresult := x", claim="0")).ok


def test_the_exponential_mechanism_costs_the_range_of_the_change() -> None:
    line = at(select()["program"], "best")
    for bounds in (["0", "1"], ["-1", "0"], ["1", "-1"], ["0", "0"]):
        document = changed(select(), (("proofs", 0, "bounds", line), bounds))
        assert refused(document)[0] == f"proofs[0].bounds[{line}]"
    document = changed(select(), (("proofs", 0, "bounds", line), ["-1", "2"]))
    assert refused(document)[0] == "claim.amount"
    # Scores that all rise by the same change nothing, and rising scores cost half.
    rising = neighbors(["q"], each=[("q", "0 <= q<2>[any.k] - q<1>[any.k] <= 1")])
    falling = neighbors(["q"], each=[("q", "0 <= q<1>[any.k] - q<2>[any.k] <= 1")])
    document = select("1/2*eps")
    up, down = ({**document["proofs"][0], "neighbors": near} for near in (rising, falling))
    up, down = {**up, "bounds": {line: ["0", "1"]}}, {**down, "bounds": {line: ["-1", "0"]}}
    assert check_program(changed(document, (("proofs",), [up, down]))).ok
    together = neighbors(["q"], each=[("q", "q<2>[any.k] == q<1>[any.k] + c")], constants=["c"])
    both = {**document["proofs"][0], "neighbors": together, "bounds": {line: ["c", "c"]}}
    other = neighbors(["q"], each=[("q", "q<1>[any.k] == q<2>[any.k] + c")], constants=["c"])
    back = {**both, "neighbors": other, "bounds": {line: ["-c", "-c"]}}
    assert check_program(changed(select("0"), (("proofs",), [both, back]))).ok


def test_the_bounds_of_scores_are_in_order_for_an_empty_list_too() -> None:
    line = at(select()["program"], "best")
    empty = ["ite(len(q) == 0, 1, -1)", "ite(len(q) == 0, -1, 1)"]
    place, message = refused(changed(select(), (("proofs", 0, "bounds", line), empty)))
    assert place == f"proofs[0].bounds[{line}]" and "in order" in message


def test_a_shift_that_follows_the_center_costs_nothing() -> None:
    gaussian: Json = {"units": {"rho": 2}, "bounds": {"5": ["0"]}}
    for law, parts in (("lap(1/eps, q)", Json()), ("gauss(1, q)", gaussian)):
        for shift, is_true in (("q<2> - q<1>", True), ("q<1> - q<2>", False)):
            document = straight(f"x :=$ {law}\nresult := x - q", claim="0", shifts=[shift], **parts)
            assert check_program(document).ok is is_true


def test_what_is_chosen_is_an_index_of_the_list() -> None:
    near = neighbors(["q", "p"], each=[("q", "abs(q<1>[any.k] - q<2>[any.k]) <= 1")])

    def made(known: str) -> Json:
        body = f"x :=$ choose(q, 2/eps)\nresult := ite({known}, 1, p)"
        header = "input q: list\ninput p: int"
        return straight(body, near=near, header=header, units={"eps": 2}, bounds={"6": ["-1", "1"]})

    for known in ("0 <= x", "x < len(q) or x == 0", "x < len(q) or len(q) == 0", "0 < len(q) or x == 0"):
        assert check_program(made(known)).ok, known
    for known in ("x < len(q)", "1 <= x or len(q) == 0", "x < len(q) - 1 or len(q) == 0", "0 < len(q) or x == 1"):
        assert refused(made(known))[0] == "proofs[0].text", known


def test_a_gaussian_shift_is_within_its_bound() -> None:
    line = at(gauss()["program"], "noise")
    for bound in (["0"], ["q<1> - q<2>"], ["-1"]):
        assert refused(changed(gauss(), (("proofs", 0, "bounds", line), bound)))[0] == f"proofs[0].bounds[{line}]"
    assert refused(changed(gauss(), (("proofs", 0, "bounds", line), ["2"])))[0] == "claim.amount"
    assert refused(changed(gauss(), (("proofs", 0, "shifts", line), "0")))[0] == "proofs[0].text"
    document = histogram()
    (line,) = document["proofs"][0]["bounds"]
    for bound in (["0"], ["ite(i<1> == q.at + 1, 1, 0)"]):
        assert refused(changed(document, (("proofs", 0, "bounds", line), bound)))[0] == f"proofs[0].bounds[{line}]"
    assert not check_program(changed(document, (("proofs", 0, "bounds", line), ["1"]))).ok


def test_rho_is_not_mixed_with_anything() -> None:
    for other in ("lap(1/eps)", "expo(1)", "flip(1/3)", "choose(l, 1)"):
        body = f"x :=$ gauss(1)\ny :=$ {other}\nresult := 0"
        document = straight(
            body, header="input q: int\ninput l: list", units={"rho": 2}, bounds={"6": ["0"]},
            claim={"measure": "zcdp", "amount": "1"},
        )  # fmt: skip
        place, message = refused(document)
        assert place == "proofs[0].text" and "a proof in rho has no other cost" in message
    for other in ("flip(1/2)", "flip(0)", "uniform(1, 2)"):
        document = straight(
            f"x :=$ gauss(1)\ny :=$ {other}\nresult := 0", units={"rho": 2}, bounds={"5": ["0"]},
            claim={"measure": "zcdp", "amount": "0"},
        )  # fmt: skip
        assert check_program(document).ok


def test_only_integers_without_rho_and_delta_are_proved_pointwise() -> None:
    for document in (response(), prefix_sum(), gauss(), calls()):
        text, proofs = document["program"], document["proofs"]
        wrong = {**proofs[0], "pointwise": True, "tree": tree(text, [], pointwise=True)}
        assert refused(changed(document, (("proofs",), [wrong])))[0] == "proofs[0].pointwise"
    document = laplace()
    pointwise = {**document["proofs"][0], "pointwise": True, "tree": tree(LAPLACE, [], pointwise=True)}
    assert check_program(changed(document, (("proofs",), [pointwise]))).ok
    assert refused(changed(document, (("proofs",), [{**pointwise, "shifts": {"5": "0"}}])))[0] == "proofs[0].text"
    dear = {**pointwise, "units": {"eps": {"number": 2}}}
    assert refused(changed(document, (("proofs",), [dear]), (("claim", "amount"), "1/2*eps")))[0] == "claim.amount"
    # Only what happens when the first run returns R matters.
    partly = {**pointwise, "shifts": {"5": "ite(q<1> + noise<1> == out.R, q<1> - q<2>, 0)"}}
    assert refused(changed(document, (("proofs",), [partly])))[0] == "proofs[0].shifts[5]"


def test_the_outcome_is_spoken_of_in_pointwise_proofs_only() -> None:
    document = noisy_max()
    place, _ = refused(
        changed(document, (("proofs", 0, "pointwise"), False), (("proofs", 0, "tree", "rule"), "equality"))
    )
    assert place == "proofs[0].shifts[9]"


def test_a_flip_costs_the_logarithm_of_its_odds() -> None:
    for probability, base in (("3/4", "ln(3)"), ("1/3", "ln(2)"), ("2/5", "ln(3/2)"), ("1/2", "0"), ("9/10", "ln(9)")):
        document = response(base)
        text = document["program"].replace("3/4", probability)
        document["proofs"][0]["units"] = {} if base == "0" else {base: {"number": 3}}
        assert check_program(changed(document, (("program",), text), (("proofs", 0, "text"), text))).ok
        less = changed(document, (("program",), text), (("proofs", 0, "text"), text), (("claim", "amount"), "ln(6/5)"))
        assert check_program(less).ok is (probability == "1/2")


def test_an_impossible_outcome_is_never_the_other_run_s() -> None:
    for probability in ("0", "1"):
        document = response("ln(3)")
        text = document["program"].replace("3/4", probability)
        forged = changed(document, (("program",), text), (("proofs", 0, "text"), text))
        place, message = refused(forged)
        assert place == "proofs[0].shifts[4]" and "impossible" in message
        assert refused(changed(forged, (("proofs", 0, "shifts"), {})))[0] == "proofs[0].text"


def test_runs_part_only_where_nothing_is_drawn_and_no_loop_is_run() -> None:
    for inner in ("  y :=$ lap(1/eps)", "  while false do\n  end"):
        body = f"if q > 0 then\n{inner}\nend\nresult := 0"
        document = straight(body, split=[5])
        document["proofs"][0] |= {"shifts": {}, "invariants": {"6": []}, "variants": {"6": "1"}}
        place, message = refused(changed(document))
        assert place == "proofs[0].split[0]" and "cannot part" in message


def test_a_branch_that_the_runs_take_together_has_one_test() -> None:
    document = clamped()
    inner = int(at(document["program"], "if", 1))
    wrong = {**document["proofs"][0], "split": [inner], "tree": tree(document["program"], [inner], pointwise=False)}
    place, message = refused(changed(document, (("proofs",), [wrong])))
    assert place == f"proofs[0].text[{at(document['program'], 'if')}]" and "the same branch" in message


def test_a_list_to_which_one_run_alone_appends_is_not_the_same() -> None:
    text = """program it
input q: int
begin
  if q > 0 then
    append(l, 1)
  else
    append(l, 1)
  end
end
return l
"""
    document = certificate(text, "0", proof(text, neighbors(["q"]), split=[4]))
    assert refused(document)[0] == "proofs[0].text"
    document = certificate(text, "0", proof(text, neighbors(["q"], "(q<1> > 0) == (q<2> > 0)")))
    assert check_program(document).ok


def test_calls_get_arguments_that_are_near_enough() -> None:
    assert check_program(calls()).ok
    for distance in ("1", "3/2", "0"):
        place, message = refused(changed(calls(), (("mechanisms", "noisy", "distance"), distance)))
        assert place == "mechanisms" and "near" in message


def test_what_is_read_outside_a_list_is_0_and_nothing_is_known_of_it_otherwise() -> None:
    lists = neighbors(
        ["q"], each=[("q", "q<1>[any.k] == q<2>[any.k] + 0*any.k or abs(q<1>[any.k] - q<2>[any.k]) <= 1")]
    )
    header = "input q: list"
    assert check_program(straight("result := q[len(q)] + q[-1]", claim="0", near=lists, header=header)).ok
    assert refused(straight("result := q[0]", claim="0", near=lists, header=header))[0] == "proofs[0].text"
    same = neighbors(["q"], each=[("q", "q<1>[any.k] == q<2>[any.k]")])
    assert check_program(straight("result := q[0] + q[5]", claim="0", near=same, header=header)).ok
    first = neighbors(["q"], each=[("q", "any.k == 0 or q<1>[any.k] == q<2>[any.k]")])
    assert check_program(straight("result := q[1] + q[5]", claim="0", near=first, header=header)).ok
    assert refused(straight("result := q[0]", claim="0", near=first, header=header))[0] == "proofs[0].text"
