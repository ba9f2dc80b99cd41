"""Group laws in certificates: derived again, refused where they are too small or where steps do not lead that far."""

from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.viameter_check.forging import changed, refused_at

import viameter as vm
from viameter.core import Loss
from viameter.core.certificate import certify
from viameter.measures import group_derivation, group_loss
from viameter.theorem import Derivation, find_theorem
from viameter_check import check

INFINITY = float("inf")
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
PLACED = vm.Space(vm.vectors(int), vm.HammingDistance())
CURVE = vm.zcdp("1/100").to(vm.RenyiDP, order=["5/4", 2, 3, 5, 8, 16, 40, 100, 1000])
OWN = vm.measure("Own", trust="it is a measure")
LAWS: dict[str, Loss] = {
    "group-pure": vm.pure("1/10"),
    "group-approx": vm.approx("1/10", "1e-9"),
    "group-zcdp": vm.zcdp("1/7"),
    "group-gdp": vm.gdp("1/3"),
    "group-bounded-range": vm.bounded_range("1/3"),
    "group-renyi": vm.renyi({2: "1/10", 4: "1/5", 7: 1, "inf": 3}),
}
LOSSES: list[Loss] = [
    *LAWS.values(),
    CURVE,
    vm.approx(0, "1/9"),
    vm.approx("1/9", 0),
    vm.approx("1e-40", "1e-300"),
    vm.approx(50, "1/2"),
    vm.approx("inf", "1/2"),
    vm.pure("inf"),
    vm.renyi({2: 1, 10**12: 2}),
    vm.RenyiDP.infinite,
    vm.RenyiDP.zero,
]
ENDS: list[Loss] = [vm.approx_zcdp("1/3", "1/9"), vm.profile({1: "1/9"}), OWN("1/3")]


def vouched(loss: Loss, space: vm.Space) -> Derivation:
    made = vm.measurement(space, function=len, measure=loss.measure, privacy=lambda _: loss, trust="it is so")
    return made.explain(1).derivation


def certificate(derivation: Derivation, space: vm.Space) -> dict[str, Any]:
    return certify(derivation, space=space, d_in=derivation.given_value).to_json()


def grouped(loss: Loss, distance: Any, space: vm.Space = PLACED) -> dict[str, Any]:
    return certificate(group_derivation(vouched(loss, space), distance), space)


@for_each("loss", LOSSES)
@for_each("distance", [0, 1, 2, 3, 17, 1000, 10**9, 10**30, "inf"])
def test_every_law_is_derived_again(loss: Loss, distance: Any) -> None:
    report = check(grouped(loss, distance))
    assert report.ok, report
    assert report.remarks == () and len(report.theorems) == 1
    assert report.statement.startswith(f"On data at most {distance if distance != 10**30 else '1e30'} apart")
    assert report.loss == group_loss(loss, distance).to_json()


@for_each("loss", ENDS)
@for_each("distance", [0, 1, "inf"])
def test_measures_without_a_law_are_known_at_the_ends(loss: Loss, distance: Any) -> None:
    report = check(grouped(loss, distance))
    assert report.ok and report.remarks == (), report
    assert report.theorems == ("group-ends",)


def test_a_law_stands_below_conversions_and_compositions_and_above_mechanisms() -> None:
    noisy = ROWS >> vm.count() >> vm.laplace(scale=3)
    made = group_derivation(noisy.to(vm.ZCDP).explain(1).derivation, 4)
    report = check(certificate(made, ROWS))
    assert report.ok and report.claims == (), report
    from viameter.composition.derivations import compose_derivations

    twice = compose_derivations(vm.ZCDP, vm.ZCDP.rules[0], (made, made))
    document = certify(twice, space=ROWS, d_in=Fraction(4)).to_json()
    assert check(document).ok
    # The same sum at the distance of the premises below would be of other data.
    assert refused_at(changed(document, (("claim", "neighborhood", "d_in"), "1"))) == "claim.neighborhood.d_in"


@pytest.mark.parametrize("slug", LAWS)
def test_a_bound_that_is_too_small_by_a_little_is_refused(slug: str) -> None:
    for distance in (2, 3, 17):
        document = grouped(LAWS[slug], distance)
        bound = document["derivation"]["bound"]
        numbers = bound["orders"] if slug == "group-renyi" else {k: v for k, v in bound.items() if k != "measure"}
        for name, text in numbers.items():
            smaller = str(Fraction(text) * (1 - Fraction(1, 2**90)))
            place = ("orders", name) if slug == "group-renyi" else (name,)
            paths = [(*top, *place) for top in (("derivation", "bound"), ("claim", "loss"))]
            forged = changed(document, *((path, smaller) for path in paths))
            assert refused_at(forged).startswith("derivation.bound.")


@for_each("loss", [vm.zcdp("1/7"), vm.gdp("1/3")])
def test_the_law_of_a_sum_is_refused_where_squares_are_due(loss: Any) -> None:
    document = grouped(loss, 3)
    name = loss.names[0]
    forged = changed(document, (("derivation", "bound", name), str(3 * getattr(loss, name))))
    assert refused_at(forged) == f"derivation.bound.{name}"


def test_m_delta_is_refused() -> None:
    forged = changed(grouped(vm.approx(1, "1/1000"), 3), (("derivation", "bound", "delta"), "3/1000"))
    assert refused_at(forged) == "derivation.bound.delta"


@for_each(
    ("space", "distance", "refused"),
    [
        (ROWS, 0, True),
        (vm.Space(vm.vectors(int, size=3), vm.SymmetricDistance()), 2, True),
        (vm.Space(vm.vectors(int, size=3), vm.InsertDeleteDistance()), 2, True),
        (vm.Space(vm.tables({"who": str}, size=3), vm.SymmetricIdDistance("who")), 2, True),
        (vm.Space(vm.tables({"who": str}, size=3), vm.ChangeOneIdDistance("who")), 2, True),
        (vm.Space(vm.vectors(int, size=3), vm.L2Distance()), 2, True),
        (vm.Space(vm.vectors(float, size=3), vm.L1Distance()), 2, True),
        (vm.Space(vm.scalars(float), vm.AbsoluteDistance()), 2, True),
        (vm.Space(vm.scalars(float), vm.AbsoluteDistance()), 0, True),
        (vm.Space(vm.vectors(int, size=3), vm.L2Distance()), "3/2", True),
        (vm.Space(vm.vectors(int, size=3), vm.L2Distance()), "1/2", False),
        (vm.Space(vm.vectors(int, size=3), vm.L2Distance()), 0, False),
        (vm.Space(vm.vectors(int, size=3), vm.L2Distance()), INFINITY, False),
        (ROWS, 2, False),
        (vm.Space(vm.vectors(int), vm.InsertDeleteDistance()), 2, False),
        (vm.Space(vm.vectors(int, size=3), vm.ChangeOneDistance()), 2, False),
        (vm.Space(vm.tables({"who": str}), vm.SymmetricIdDistance("who")), 2, False),
        (vm.Space(vm.tables({"who": str}), vm.ChangeOneIdDistance("who")), 2, False),
        (vm.Space(vm.vectors(int, size=3), vm.L1Distance()), "5/2", False),
        (vm.Space(vm.vectors(int, size=3), vm.LInfDistance()), 2, False),
        (vm.Space(vm.scalars(int), vm.AbsoluteDistance()), 2, False),
        (vm.Space(vm.categories(["a", "b"]), vm.DiscreteDistance()), 2, False),
    ],
)
def test_steps_must_lead_as_far_as_the_distance(space: vm.Space, distance: Any, refused: bool) -> None:
    # Written by hand, since the library refuses most of them as well.
    given = INFINITY if distance == INFINITY else Fraction(distance)
    by_hand = Derivation(
        "steps",
        find_theorem("group-pure"),
        "",
        "",
        premises=(vouched(vm.pure("1/10"), space),),
        given_value=given,
        bound_value=group_loss(vm.pure("1/10"), distance),
        space=space,
    )
    document = certificate(by_hand, space)
    if refused:
        assert refused_at(document) == "derivation.input"
    else:
        report = check(document)
        assert report.ok, report


def test_a_metric_of_somebodys_own_is_not_known_to_have_steps() -> None:
    odd = vm.Space(vm.vectors(int), vm.metric("Apart", distance=lambda a, b: 1, trust="apartness"))
    assert check(grouped(vm.pure(1), 1, odd)).ok
    assert refused_at(grouped(vm.pure(1), 2, odd)) == "derivation.input"


def test_the_premise_is_one_loss_of_the_same_data_at_distance_1() -> None:
    document = grouped(vm.pure(1), 3)
    below = document["derivation"]["premises"][0]
    premise = ("derivation", "premises", 0)
    assert refused_at(changed(document, ((*premise, "given"), "2"))) == "derivation.premises[0]"
    assert refused_at(changed(document, ((*premise, "input", "metric"), "SymmetricDistance()"))).startswith(
        "derivation.premises[0]"
    )
    assert refused_at(changed(document, (("derivation", "premises"), [below, below]))) == "derivation.premises"
    assert refused_at(changed(document, (("derivation", "premises"), []))) == "derivation.premises"
    other = grouped(vm.zcdp(1), 3)["derivation"]["premises"][0]
    assert refused_at(changed(document, (("derivation", "premises"), [other]))) == "derivation.premises[0].bound"
    assert refused_at(changed(document, (("derivation", "given"), "4"))) == "derivation.bound.epsilon"


def test_at_distance_0_or_infinity_nothing_else_is_taken() -> None:
    zero = {"measure": "pure", "epsilon": "0"}
    forged = changed(grouped(vm.pure(1), 1), (("derivation", "bound"), zero), (("claim", "loss"), zero))
    assert refused_at(forged) == "derivation.bound.epsilon"
    forged = changed(grouped(vm.pure(0), "inf"), (("derivation", "bound"), zero), (("claim", "loss"), zero))
    assert refused_at(forged) == "derivation.bound.epsilon"


def test_a_measure_without_a_law_has_none_for_two_steps_and_one_with_a_law_does_not_use_the_ends() -> None:
    for loss in ENDS:
        assert refused_at(changed(grouped(loss, 1), (("derivation", "given"), "2"))) == "derivation.given"
    forged = changed(grouped(vm.pure(1), 1), (("derivation", "theorem"), "group-ends"))
    assert refused_at(forged) == "derivation.output.measure"
    forged = changed(grouped(OWN(1), 1), (("derivation", "assumes"), []))
    assert refused_at(forged) == "derivation.assumes"


CHOSEN = ("derivation", "parameters", "chosen")


def test_choices_of_orders_are_for_all_steps_and_of_orders_that_have_bounds() -> None:
    document = grouped(vm.renyi({2: "1/10", 4: 1}), 3)
    assert document["derivation"]["parameters"]["chosen"][0] == [["2", "3"]]
    for forged in (
        [["2", "2"]],
        [["2", "4"]],
        [["5", "3"]],
        [["inf", "3"]],
        [["1", "3"]],
        [],
        [["2", "1"], ["9", "2"]],
    ):
        assert refused_at(changed(document, ((*CHOSEN, 0), forged))) == "derivation.parameters.chosen[0]"
    # Another choice proves another bound, or none at the order that is written.
    assert refused_at(changed(document, ((*CHOSEN, 0), [["4", "3"]]))).startswith("derivation.bound.orders.")
    assert refused_at(changed(document, ((*CHOSEN, 3), [["2", "3"]]))).startswith("derivation.bound.orders.")
    assert refused_at(changed(document, (CHOSEN, []))).startswith("derivation.bound.orders.")
    for strange in ("2", [["2"]], [[["2"]]], [[["2", "x"]]], [[["2", "1/2"]]], [[["2", "-3"]]], None):
        assert refused_at(changed(document, (CHOSEN, strange))) == "derivation.parameters.chosen"


def test_choices_that_would_take_forever_are_refused_at_once() -> None:
    document = grouped(vm.renyi({2: "1/10", 4: "1/5"}), 10**30)
    huge = changed(document, (CHOSEN, [[["2", str(10**30)]]]))
    assert refused_at(huge) == "derivation.parameters.chosen[0]"
    deep = changed(grouped(vm.renyi({10**40: 1}), 10**30), (CHOSEN, [[[str(10**40), str(10**30)]]]))
    assert refused_at(deep) == "derivation.parameters.chosen[0]"
    document = grouped(vm.renyi({2: "1/10", 4: "1/5"}), 10**9)
    assert refused_at(changed(document, (CHOSEN, [[["2", str(10**9)]]]))) == "derivation.parameters.chosen[0]"
    near = grouped(vm.renyi({"1.0001": "1/10"}), 1000)
    forged = changed(near, (CHOSEN, [[["10001/10000", "1000"]]]))
    assert refused_at(forged) == "derivation.parameters.chosen[0]"
    many = changed(document, (CHOSEN, [[["2", "1"]] * 1000] * 51))
    assert refused_at(many) == "derivation.parameters.chosen"


def test_an_order_above_what_was_proved_is_refused() -> None:
    document = grouped(vm.renyi({4: "1/5"}), 2)
    assert document["derivation"]["bound"]["orders"] == {"16/7": "7/15"}
    higher = {"measure": "renyi", "orders": {"17/7": "7/15"}}
    forged = changed(document, (("derivation", "bound"), higher), (("claim", "loss"), higher))
    assert refused_at(forged).startswith("derivation.bound.orders.")
