"""Forged certificates are refused, at the node that was forged; what is not refused claims no less than before."""

import copy
import dataclasses
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each
from tests.viameter_check.forging import at, changed, leaves, refused_at, rehashed, waiting
from tests.viameter_check.zoo import COUNT, SCORES, WARDS, computations, own_parts

import viameter as vm
from viameter import loss_from_json
from viameter.arith import read_written, write
from viameter_check import RULES, check
from viameter_check.intervals import Interval
from viameter_check.places import Place
from viameter_check.rules.table import Derived

GOOD = waiting().certificate(1).to_json()
CHAIN = ("derivation", "premises", 0)
CLAMP, SUM, LAPLACE = ((*CHAIN, "premises", place) for place in range(3))


def certificates() -> list[dict[str, Any]]:
    found = []
    for computation in computations():
        for d_in in (1, 2):
            found.append(computation.certificate(d_in).to_json())
    return found


ALL = certificates()


def test_the_certificate_that_is_forged_is_good() -> None:
    report = check(GOOD)
    assert report.ok and report.loss == {"measure": "pure", "epsilon": "1/10"}


# --- any single change -----------------------------------------------------------------------------------------------

OTHERS = [
    "0",
    "1",
    "2",
    "1/3",
    "inf",
    "-1",
    "1000000",
    "",
    "exact",
    "outward",
    "derived",
    "claim",
    "pure",
    "zcdp",
    True,
]
LABELS = {"subject", "text", "viameter"}


@settings(max_examples=300)
@given(st.data())
def test_any_change_of_one_value_is_refused_or_claims_no_less(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(ALL))
    values = [(path, value) for path, value in leaves(document) if path[-1] not in LABELS and path[0] != "hash"]
    path, value = data.draw(st.sampled_from(values))
    slugs = sorted(RULES) if path[-1] == "theorem" else [found for _, found in values]
    other = data.draw(st.sampled_from(OTHERS) | st.sampled_from(slugs) | nearby(value))
    forged = changed(document, (path, other))
    assert_refused_or_no_less(document, forged)


def nearby(value: Any) -> st.SearchStrategy[Any]:
    """Numbers just beside the one that stands there."""
    try:
        number = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return st.just(value)
    steps = [Fraction(1), Fraction(-1), number / 2**20, -number / 2**20, number, -number / 2, -number / 2**120]
    return st.sampled_from([str(number + step) for step in steps])


def assert_refused_or_no_less(document: dict[str, Any], forged: dict[str, Any]) -> None:
    if not check(forged).ok:
        return
    before, after = document["claim"], forged["claim"]
    assert after["neighborhood"] == before["neighborhood"] and after["assumes"] == before["assumes"]
    if "distance" in before:
        assert after == before
    elif not before["measure"].startswith("user:"):
        assert loss_from_json(before["loss"]) <= loss_from_json(after["loss"])


@settings(max_examples=300)
@given(st.data())
def test_any_smaller_loss_that_is_written_everywhere_is_refused(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from([found for found in ALL if "loss" in found["claim"]]))
    names = [
        name for name, text in document["claim"]["loss"].items() if isinstance(text, str) and text not in ("0", "inf")
    ]
    name = data.draw(st.sampled_from([name for name in names if name != "measure"] or ["measure"]))
    if name in {"measure", "amount"} or "trusted-map" in json.dumps(document):
        return  # what is taken on trust may say anything
    old = document["claim"]["loss"][name]
    factor = data.draw(st.sampled_from([Fraction(1, 2), Fraction(2**100 - 1, 2**100), Fraction(0)]))
    if Fraction(read_written(old)) <= Fraction(1, 2**16384):
        return  # the library rounds up to this, far above what is derived
    new = write(Fraction(read_written(old)) * factor)
    forged = copy.deepcopy(document)
    for path, value in leaves(document):
        if path[-1] == name and value == old and "parameters" not in path:
            at(forged, path[:-1])[name] = new
    forged = rehashed(forged)
    report = check(forged)
    assert not report.ok
    assert report.failures[0].path.startswith(("derivation", "claim"))


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.sampled_from(["0", "1", "1/2", "inf", "pure", "chain"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.data())
def test_whatever_stands_in_a_place_there_is_a_report(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(ALL))
    places = [path[:end] for path, _ in leaves(document) for end in range(1, len(path) + 1)]
    path = data.draw(st.sampled_from([place for place in places if place[0] != "hash" and place[-1] not in LABELS]))
    assert_refused_or_no_less(document, changed(document, (path, data.draw(JSON))))


@given(JSON)
def test_whatever_stands_in_a_file_there_is_a_report(document: Any) -> None:
    assert not check(json.dumps(document)).ok


# --- the theorem and where it applies --------------------------------------------------------------------------------


@for_each("slug", sorted(set(RULES) - {"sum-of-added-rows"}))
def test_no_other_theorem_passes_for_a_sum(slug: str) -> None:
    forged = changed(GOOD, ((*SUM, "theorem"), slug), ((*SUM, "numbers"), RULES[slug].numbers))
    assert refused_at(forged).startswith("derivation.premises[0]")


def test_a_weaker_theorem_with_fitting_numbers_is_refused_for_its_space() -> None:
    # rows-one-by-one would make the sum cost 1 and not 240; all numbers after it fit.
    forged = changed(
        GOOD,
        ((*SUM, "theorem"), "rows-one-by-one"),
        ((*SUM, "parameters"), {}),
        ((*SUM, "bound"), "1"),
        ((*LAPLACE, "given"), "1"),
        *every_loss("1/2400"),
    )
    assert refused_at(forged) == "derivation.premises[0].premises[1].output.domain"


def every_loss(epsilon: str) -> list[tuple[tuple[Any, ...], Any]]:
    loss = {"measure": "pure", "epsilon": epsilon}
    places = [
        ("claim", "loss"),
        ("derivation", "given"),
        ("derivation", "bound"),
        (*CHAIN, "bound"),
        (*LAPLACE, "bound"),
    ]
    text = GOOD["claim"]["text"].replace("1/10", epsilon)
    return [*((place, loss) for place in places), (("claim", "text"), text)]


def test_more_noise_on_paper_than_the_bound_says_is_refused_since_the_theorem_is_exact() -> None:
    assert refused_at(changed(GOOD, ((*LAPLACE, "parameters", "scale"), "4800"))).endswith("premises[2].bound.epsilon")


def test_bounds_of_a_sum_are_those_of_its_domain() -> None:
    forged = changed(
        GOOD,
        ((*SUM, "parameters", "upper"), "24"),
        ((*SUM, "bound"), "24"),
        ((*LAPLACE, "given"), "24"),
        *every_loss("1/100"),
    )
    assert refused_at(forged) == "derivation.premises[0].premises[1].parameters"


@for_each(
    "metric",
    ["ChangeOneDistance()", "HammingDistance()", "SymmetricIdDistance(id='who')", "AbsoluteDistance()", "Mine"],
)
def test_another_metric_is_refused_wherever_it_is_put(metric: str) -> None:
    assert refused_at(changed(GOOD, (("claim", "neighborhood", "metric"), metric))) == "claim.neighborhood.metric"
    everywhere = copy.deepcopy(GOOD)
    for path, value in leaves(GOOD):
        if value == "SymmetricDistance()":
            at(everywhere, path[:-1])[path[-1]] = metric
    everywhere["claim"]["text"] = everywhere["claim"]["text"].replace("SymmetricDistance()", metric)
    assert refused_at(rehashed(everywhere)).startswith("derivation.premises[0]")


def test_another_distance_at_the_top_only_is_refused() -> None:
    text = GOOD["claim"]["text"].replace("most 1 apart", "most 5 apart")
    forged = changed(GOOD, (("claim", "neighborhood", "d_in"), "5"), (("claim", "text"), text))
    assert refused_at(forged) == "claim.neighborhood.d_in"
    forged = changed(
        GOOD, (("claim", "neighborhood", "d_in"), "5"), (("claim", "text"), text), ((*CHAIN, "given"), "5")
    )
    assert refused_at(forged) == "derivation.premises[0].premises[0].given"


def test_another_output_than_that_of_the_last_step_is_refused() -> None:
    rows = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
    bins = rows >> vm.clamp(bounds=(0, 8)) >> vm.histogram(edges=[0, 4, 9], metric=vm.L2Distance())
    document = bins.certificate(1).to_json()
    assert check(document).ok
    text = document["claim"]["text"].replace("L2Distance()", "L1Distance()")
    forged = changed(
        document,
        (("claim", "output", "metric"), "L1Distance()"),
        (("claim", "text"), text),
        (("derivation", "output", "metric"), "L1Distance()"),
    )
    assert refused_at(forged) == "derivation.output.metric"


def test_another_domain_at_the_top_only_is_refused() -> None:
    forged = changed(GOOD, (("claim", "neighborhood", "domain"), "vectors(int, bounds=(0, 1))"))
    assert refused_at(forged) == "claim.neighborhood.domain"


def test_a_smaller_loss_in_the_claim_only_is_refused() -> None:
    assert refused_at(changed(GOOD, (("claim", "loss", "epsilon"), "1/20"))) == "claim.loss"
    assert refused_at(changed(GOOD, (("claim", "measure"), "zcdp"))) == "claim.measure"
    assert refused_at(changed(GOOD, (("claim", "loss"), {"measure": "zcdp", "rho": "1/10"}))) == "claim.loss"


def test_another_sentence_is_refused() -> None:
    text = GOOD["claim"]["text"].replace("1/10", "1/1000")
    assert refused_at(changed(GOOD, (("claim", "text"), text))) == "claim.text"


def test_a_smaller_bound_of_a_chain_or_of_post_processing_is_refused() -> None:
    loss = {"measure": "pure", "epsilon": "1/20"}
    assert refused_at(changed(GOOD, (("derivation", "bound"), loss))) == "derivation.bound.epsilon"
    assert refused_at(changed(GOOD, (("derivation", "given"), loss))) == "derivation.given"
    assert refused_at(changed(GOOD, ((*CHAIN, "bound"), loss), (("derivation", "given"), loss))) == (
        "derivation.bound.epsilon"
    )


# --- premises --------------------------------------------------------------------------------------------------------


def test_premises_that_are_dropped_repeated_or_put_in_another_order_are_refused() -> None:
    steps = at(GOOD, (*CHAIN, "premises"))
    for forged in ([], steps[1:], steps[:-1], [steps[0], steps[2]], [*steps, steps[2]], steps[::-1], [steps[2]]):
        assert refused_at(changed(GOOD, ((*CHAIN, "premises"), forged))).startswith("derivation.premises[0].")
    assert refused_at(changed(GOOD, (("derivation", "premises"), []))) == "derivation.premises"
    twice = [at(GOOD, CHAIN), at(GOOD, CHAIN)]
    assert refused_at(changed(GOOD, (("derivation", "premises"), twice))) == "derivation.premises"


def test_a_step_repeated_that_costs_nothing_still_leaves_a_true_claim() -> None:
    # clamp twice: from vectors(int) to bounded ones, and then from those to themselves.
    clamp = at(GOOD, CLAMP)
    again = {**clamp, "input": clamp["output"]}
    assert check(changed(GOOD, ((*CHAIN, "premises"), [clamp, again, *at(GOOD, (*CHAIN, "premises"))[1:]]))).ok


def test_leaves_with_premises_are_refused() -> None:
    assert refused_at(changed(GOOD, ((*CLAMP, "premises"), [at(GOOD, CLAMP)]))).endswith("premises[0].premises")


@for_each("path", [("derivation",), CHAIN, LAPLACE])
def test_what_does_not_compose_counts_once(path: tuple[Any, ...]) -> None:
    assert refused_at(changed(GOOD, ((*path, "times"), "2"))).endswith("times")


def test_a_composition_that_counts_a_premise_less_often_is_refused() -> None:
    space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    meter = vm.Odometer(space, vm.PureDP)([1, 2, 3])
    tenth = COUNT >> vm.laplace(scale=10)
    for _ in range(3):
        meter(tenth)
    document = meter.certificate(1).to_json()
    assert check(document).ok and document["claim"]["loss"]["epsilon"] == "3/10"
    composed = ("derivation", "premises", 0)
    assert at(document, (*composed, "premises", 0, "times")) == "3"
    fewer = changed(document, ((*composed, "premises", 0, "times"), "2"))
    assert check(fewer).ok and check(fewer).remarks  # looser than derived
    more = changed(document, ((*composed, "premises", 0, "times"), "4"))
    assert refused_at(more) == "derivation.premises[0].bound.epsilon"
    for times in ("0", "-1", "1/2", "inf", "x", 3):
        assert "times" in refused_at(changed(document, ((*composed, "premises", 0, "times"), times)))
    assert refused_at(changed(document, ((*composed, "premises"), []))).startswith("derivation.premises[0]")


def test_parts_of_a_composition_speak_of_the_same_data_and_distance() -> None:
    space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    both = vm.compose(space, [vm.count() >> vm.laplace(scale=10), vm.count() >> vm.laplace(scale=20)])
    near, far = both.certificate(1).to_json(), both.certificate(2).to_json()
    part = ("derivation", "premises", 0, "premises", 0)
    sums = ("derivation", "premises", 0)
    forged = changed(
        far,
        (part, at(near, part)),
        ((*sums, "given", 0), at(near, (*part, "bound"))),
    )
    assert refused_at(forged).startswith("derivation")


# --- trust -----------------------------------------------------------------------------------------------------------


def test_a_node_that_can_be_derived_is_not_taken_on_trust() -> None:
    assert refused_at(changed(GOOD, ((*LAPLACE, "kind"), "claim"))).endswith("premises[2].kind")
    forged = changed(GOOD, ((*LAPLACE, "kind"), "claim"), ((*LAPLACE, "numbers"), "assumed"), *every_loss("1/1000"))
    assert refused_at(forged).endswith("premises[2].numbers")


def test_a_node_turned_into_a_trusted_map_is_refused_without_trust_and_listed_with_it() -> None:
    changes = [
        ((*LAPLACE, "kind"), "claim"),
        ((*LAPLACE, "numbers"), "assumed"),
        ((*LAPLACE, "theorem"), "trusted-map"),
        ((*LAPLACE, "parameters"), {}),
        *every_loss("1/1000"),
    ]
    assert refused_at(changed(GOOD, *changes)).endswith("premises[2].assumes")
    trust = ["trust me"]
    assert refused_at(changed(GOOD, *changes, ((*LAPLACE, "assumes"), trust))) == "claim.assumes"
    report = check(changed(GOOD, *changes, ((*LAPLACE, "assumes"), trust), (("claim", "assumes"), trust)))
    assert report.ok and [claim.message for claim in report.claims] == [
        "trust me",
        "the bound of what calls itself 'laplace(scale=2400)' is taken from the certificate",
    ]
    assert report.derived == 4


def test_assumptions_are_not_dropped_or_added() -> None:
    document = own_parts().certificate(1).to_json()
    assert check(document).ok and len(document["claim"]["assumes"]) == 5
    assert refused_at(changed(document, (("claim", "assumes"), []))) == "claim.assumes"
    assert refused_at(changed(document, (("claim", "assumes"), document["claim"]["assumes"][1:]))) == "claim.assumes"
    nothing = copy.deepcopy(document)
    for path, value in leaves(document):
        if len(path) > 1 and path[-2] == "assumes":
            at(nothing, path[:-2])["assumes"] = []
            assert value
    assert refused_at(rehashed(nothing)).startswith("derivation")


def test_what_is_not_of_the_library_asks_for_trust() -> None:
    watch = vm.sparse_vector(vm.Space(vm.vectors(int), vm.SymmetricDistance()), threshold=5, scale=8)
    document = watch.certificate(1).to_json()
    text = document["claim"]["text"].replace("SymmetricDistance()", "Mine")
    forged = changed(
        document,
        (("claim", "neighborhood", "metric"), "Mine"),
        (("claim", "text"), text),
        (("derivation", "input", "metric"), "Mine"),
    )
    assert refused_at(forged) == "derivation.input"


def test_scores_that_move_in_one_direction_are_an_assumption() -> None:
    document = vm.exponential(SCORES, scale=4, monotone=True).certificate(1).to_json()
    assert check(document).ok and len(check(document).claims) == 1
    forged = changed(document, (("claim", "assumes"), []), (("derivation", "assumes"), []))
    assert refused_at(forged) == "derivation.assumes"


# --- numbers ---------------------------------------------------------------------------------------------------------


def outward() -> dict[str, Any]:
    answer = vm.randomized_response(vm.Space(WARDS, vm.DiscreteDistance()), probability="3/4")
    return answer.certificate(1).to_json()


def test_the_least_bit_below_an_irrational_bound_is_refused_and_more_is_remarked() -> None:
    document = outward()
    known = Fraction(document["claim"]["loss"]["epsilon"])
    for epsilon, holds in ((known * (1 - Fraction(1, 2**120)), False), (known * (1 + Fraction(1, 2**20)), True)):
        loss = {"measure": "pure", "epsilon": str(epsilon)}
        forged = changed(document, (("claim", "loss"), loss), (("derivation", "bound"), loss))
        forged["claim"]["text"] = check(forged).failures[0].message.partition("is not what was proved: ")[2]
        report = check(rehashed(forged))
        assert report.ok is holds, report
        if holds:
            assert len(report.remarks) == 1 and "looser than derived by" in report.remarks[0]


@for_each("number", [0.1, 1, 10**400, float("nan"), float("inf"), -1, 1e308, Fraction(1, 10), object()])
def test_bare_numbers_are_refused(number: Any) -> None:
    forged = copy.deepcopy(GOOD)
    forged["claim"]["loss"]["epsilon"] = number
    assert refused_at(forged) == "claim.loss.epsilon"


@for_each("number", ["0.1", "1", "1e999", "NaN", "Infinity", "-Infinity", "1E400", "9" * 5000])
def test_bare_numbers_in_text_are_refused(number: str) -> None:
    text = json.dumps(GOOD).replace('"2400"', number)
    assert refused_at(text) == "derivation.premises[0].premises[2].parameters.scale"


@for_each("number", ["0.1", "1e999", "nan", "-1", "2/4", "1/0", "", "1" * 3000, "0x1/0x2", "1/10 ", "1e-5", "٣"])
def test_text_that_is_no_number_is_refused(number: str) -> None:
    for path in (
        ("derivation", "bound", "epsilon"),
        (*SUM, "bound"),
        (*SUM, "given"),
        (*LAPLACE, "parameters", "scale"),
    ):
        assert refused_at(changed(GOOD, (path, number))).endswith(".".join(map(str, path[-1:])))


def test_huge_numbers_end_in_a_refusal_and_not_in_a_wait() -> None:
    for long in (f"0x{'f' * 262_000}/0x1", f"0x{'f' * 200_001}/0x{'e' * 200_000}f"):
        assert refused_at(changed(GOOD, ((*LAPLACE, "parameters", "scale"), long))).startswith(
            "derivation.premises[0].premises[2]"
        )
    many = ["0x" + "f" * 262_000] * 20
    assert refused_at(changed(GOOD, ((*LAPLACE, "assumes"), many))).startswith("derivation")
    document = vm.thresholded_counts(vm.Space(vm.vectors(str), vm.SymmetricDistance()), scale=1, threshold=30)
    good = document.certificate(1).to_json()
    for scale in ("1" + "0" * 1000, "1/1" + "0" * 1000):
        assert refused_at(changed(good, (("derivation", "parameters", "scale"), scale))).startswith("derivation.bound")


def test_a_bound_that_is_only_perhaps_large_enough_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Between the ends of the interval nobody knows: never accept less than what is surely enough.
    known = RULES["laplace-on-integers"]
    for high, holds in ((Fraction(1, 5), False), (Fraction(1, 10), True)):
        wide = Derived(Place(measure="pure"), (("epsilon", Interval(Fraction(1, 20), high)),))
        monkeypatch.setitem(RULES, known.slug, dataclasses.replace(known, function=lambda node, wide=wide, **_: wide))
        assert check(GOOD).ok is holds


# --- the file --------------------------------------------------------------------------------------------------------


def test_a_name_that_stands_twice_is_refused_with_its_place() -> None:
    text = json.dumps(GOOD).replace('"scale": "2400"', '"scale": "2400", "scale": "24000"')
    report = check(text)
    assert report.failures[0].path == "derivation.premises[0].premises[2].parameters"
    assert "stands twice" in report.failures[0].message


@for_each(
    "path", [(), ("claim",), ("claim", "neighborhood"), ("made_by",), ("derivation",), LAPLACE, (*LAPLACE, "bound")]
)
def test_unknown_and_missing_fields_are_refused(path: tuple[Any, ...]) -> None:
    more = copy.deepcopy(GOOD)
    at(more, path)["more"] = "x"
    refused_at(rehashed(more))
    for name in list(at(GOOD, path)):
        if (path, name) != ((), "hash"):
            less = copy.deepcopy(GOOD)
            del at(less, path)[name]
            refused_at(rehashed(less))
    without = {name: value for name, value in GOOD.items() if name != "hash"}
    assert refused_at(without) == "certificate"


def test_other_parameters_than_those_of_the_theorem_are_refused() -> None:
    assert refused_at(changed(GOOD, ((*LAPLACE, "parameters"), {}))).endswith("parameters")
    more = {"scale": "2400", "extra": "1"}
    assert refused_at(changed(GOOD, ((*LAPLACE, "parameters"), more))).endswith("parameters")


def test_a_wrong_hash_is_refused_and_a_right_one_does_not_help() -> None:
    tampered = copy.deepcopy(GOOD)
    tampered["claim"]["loss"]["epsilon"] = "1/20"
    assert refused_at(tampered) == "hash"
    assert refused_at(rehashed(tampered)) == "claim.loss"


@for_each("text", ["", "{", "nonsense", "[1,", "\x00", '{"a": }'])
def test_what_is_not_json_is_refused(text: str) -> None:
    assert refused_at(text) == "certificate"
    assert "is not JSON" in check(text).failures[0].message


@for_each("document", ["[]", "null", '"text"', "{}", "true", '{"format": "viameter-certificate/2"}'])
def test_what_is_not_a_certificate_is_refused(document: str) -> None:
    assert refused_at(document) in ("certificate", "format")


def test_deep_nesting_is_refused() -> None:
    for text in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "null" + "}" * 50_000):
        assert refused_at(text)
    assert "levels" in check("[" * 400 + "]" * 400).failures[0].message
    node = at(GOOD, ("derivation",))
    for _ in range(200):
        node = {**node, "premises": [node]}
    assert refused_at({**GOOD, "derivation": node})


def test_a_hundred_steps_of_post_processing_are_checked() -> None:
    made = COUNT >> vm.laplace(scale=3)
    for _ in range(100):
        made = made >> vm.postprocess(abs)
    report = check(made.certificate(1).text)
    assert report.ok and report.derived == 103


def test_a_name_that_stands_twice_among_many_takes_no_time() -> None:
    names = ", ".join(f'"{n}": null' for n in range(200_000))
    assert "stands twice" in check(f'{{{names}, "7": null}}').failures[0].message


def test_a_curve_of_very_many_points_is_refused() -> None:
    document = (COUNT >> vm.gaussian(scale=3)).to(vm.RenyiDP, order=[2, 3]).certificate(1).to_json()
    many = {"measure": "renyi", "orders": {str(n): str(n) for n in range(2, 3000)}}
    assert refused_at(changed(document, (("derivation", "bound"), many))) == "derivation.bound.orders"


def test_a_file_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viameter_check.document.MOST_TEXT", 100)
    assert "characters" in check(json.dumps(GOOD)).failures[0].message


def test_all_that_fails_is_listed() -> None:
    forged = changed(GOOD, ((*SUM, "bound"), "1"), ((*LAPLACE, "numbers"), "outward"))
    assert [failure.path for failure in check(forged).failures] == [
        "derivation.premises[0].premises[2].given",
        "derivation.premises[0].premises[1].bound",
        "derivation.premises[0].premises[2].numbers",
    ]
