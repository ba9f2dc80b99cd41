"""What an odometer has counted is certified: losses that were asked often, records, measures of somebody's own."""

import viameter as vm
from viameter_check import check

SPACE = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)
SUM = SPACE >> vm.sum() >> vm.laplace(scale=90)


def test_all_answers_so_far_are_certified_for_any_distance() -> None:
    meter = vm.Odometer(SPACE, vm.PureDP)([1, 2, 3])
    assert check(meter.certificate(1).text).ok
    for _ in range(3):
        meter(COUNT)
        meter(SUM)
    for d_in, epsilon in ((0, "0"), (1, "3/5"), (2, "6/5"), ("inf", "inf")):
        report = check(meter.certificate(d_in).text)
        assert report.ok, report
        assert report.loss == {"measure": "pure", "epsilon": epsilon}
        assert "fully-adaptive-odometer" in report.theorems and report.remarks == ()


def test_a_filter_is_certified_by_its_budget_and_its_meter_by_what_was_asked() -> None:
    capped = vm.Odometer(SPACE, vm.ApproxDP, convert=True).filter(
        d_in=1, budget=vm.approx(1, "1e-6"), rule="concentrated"
    )
    assert check(capped.certificate(1).text).ok
    meter = capped([1, 2, 3])
    meter(COUNT)
    report = check(meter.certificate(1).text)
    assert report.ok, report


def test_what_was_recorded_is_a_claim() -> None:
    meter = vm.Odometer(SPACE, vm.ZCDP, convert=True)([1, 2, 3])
    meter(COUNT)
    resumed = vm.Odometer.resume(meter.state(d_in=[1, 5]), [1, 2, 3])
    resumed(COUNT)
    for d_in in (1, 3):
        report = check(resumed.certificate(d_in).text)
        assert report.ok, report
        assert len(report.claims) == 2 and "taken from the certificate" in report.claims[1].message


def test_a_measure_of_somebodys_own_adds_because_they_say_so() -> None:
    variation = vm.measure("Variation", adds=True, trust="total variation adds")
    tell = vm.measurement(
        SPACE, function=len, measure=variation, privacy=lambda d: variation(d / 8), trust="it is private"
    )
    both = vm.compose(SPACE, [tell, tell])
    report = check(both.certificate(1).text)
    assert report.ok, report
    assert report.loss == {"measure": "user:Variation", "amount": "1/4"}
    assert any("total variation adds" in claim.message for claim in report.claims)
