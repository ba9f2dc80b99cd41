"""Every constructor yields a certificate that the checker derives again, and no theorem is forgotten."""

from typing import Any

from tests.cases import for_each
from tests.viameter_check.zoo import computations

import viameter as vm
import viameter.composition.accounting  # registers its theorems
import viameter.logic.running
import viameter.neighborhood
import viameter.tables
from viameter.core import Computation, Constructor
from viameter.errors import NoTheorem
from viameter.theorem import all_theorems
from viameter_check import RULES, Report, check

ALL = computations()
DISTANCES: tuple[Any, ...] = (0, 1, 2, 3, 50, "7/3", "inf")

WITHOUT_DERIVATION = "an accountant gives its number without a derivation, so that it stands in no certificate"
WITHOUT_SEARCH = "rests on a search for the worst touch pattern, which no certificate repeats"
UNKNOWN = {
    "pure-to-profile": "gives a function, which no certificate can hold",
    "approx-to-profile": "gives a function, which no certificate can hold",
    "gdp-to-profile": "gives a function, which no certificate can hold",
    "given-loss": "is of a bare loss, and certificates speak of data",
    "anytime-line": "is shown by a meter as a number, and stands in no derivation",
    "anytime-mixture": "is shown by a meter as a number, and stands in no derivation",
    "anytime-stitched": "is shown by a meter as a number, and stands in no derivation",
    "sums-of-epsilon-and-delta": WITHOUT_DERIVATION,
    "contour-sum": WITHOUT_DERIVATION,
    "poisson-subsampling-remove": WITHOUT_DERIVATION,
    "poisson-subsampling-add": WITHOUT_DERIVATION,
    "loss-distribution-delta": WITHOUT_DERIVATION,
    "dominating-continuous-laplace": WITHOUT_DERIVATION,
    "gaussian-profile": WITHOUT_DERIVATION,
    "heterogeneous-optimum-epsilon": WITHOUT_DERIVATION,
    "homogeneous-optimum-delta": WITHOUT_DERIVATION,
    "homogeneous-optimum-epsilon": WITHOUT_DERIVATION,
    "dominating-pure": WITHOUT_DERIVATION,
    "dominating-randomized-response": WITHOUT_DERIVATION,
    "dominating-discrete-laplace": WITHOUT_DERIVATION,
    "dominating-discrete-gaussian": WITHOUT_DERIVATION,
    "dominating-pairs-compose": WITHOUT_DERIVATION,
    "moments-to-epsilon": WITHOUT_DERIVATION,
    "connect-the-dots": WITHOUT_DERIVATION,
    "normal-loss-by-cells": WITHOUT_DERIVATION,
    "bounded-range-optimum": WITHOUT_DERIVATION,
    "general-composition": WITHOUT_SEARCH,
    "pattern-optimum": WITHOUT_SEARCH,
    "common-domain-composition": WITHOUT_SEARCH,
    "composition-over-parts": WITHOUT_SEARCH,
    "parallel-composition": "is a corollary that numbers are compared with, and stands in no derivation",
    "bounded-disjoint-composition": "is a corollary that numbers are compared with, and stands in no derivation",
    "granularity-translation": "is of a bare loss, and certificates speak of data",
    "dominating-bounded-range": WITHOUT_DERIVATION,
    "dominating-moments": WITHOUT_DERIVATION,
    "dominating-wide-discrete-gaussian": WITHOUT_DERIVATION,
}
"""Theorems of the library that the checker does not know, and why."""

NOT_CERTIFIED: dict[str, str] = {}
"""Constructors that no computation of the zoo uses, and why."""


def reports(computation: Computation) -> list[Report]:
    found = []
    for d_in in DISTANCES:
        if computation.input_space.metric.counts and d_in == "7/3":
            continue
        try:
            certificate = computation.certificate(d_in)
        except NoTheorem:
            continue  # a conversion that says nothing of this loss
        found.append(check(certificate.text))
    return found


@for_each("computation", ALL)
def test_every_certificate_is_derived_again(computation: Computation) -> None:
    found = reports(computation)
    assert found
    for report in found:
        assert report.ok, report
        assert report.remarks == () and report.derived + len(report.claims) >= 1
        assert report.statement == report.statement.strip() != ""


def test_every_theorem_that_the_checker_knows_is_used_by_some_certificate() -> None:
    used = set()
    for computation in ALL:
        used |= {node.theorem.slug for d_in in (1, 2) for node in computation.explain(d_in).derivation.nodes()}
    elsewhere = {"fully-adaptive-odometer", "recorded-loss", "trusted-composition"}  # test_meters
    by_hand = {"rounding-to-a-grid", "same-measure"}  # test_by_hand
    groups = {slug for slug in RULES if slug.startswith("group-")}  # test_groups
    tables = {"units-one-by-one", "contributions-of-added-units", "contributions-of-replaced-units"}  # test_tables
    keys = {"thresholded-keys-of-units", "gaussian-thresholded-keys-of-units", "top-keys-of-added-units"}  # test_keys
    smoothed = {"smoothed-gaussian-on-integers"}  # test_smoothed
    quantiles = {"quantile-picks-of-units"}  # test_quantiles
    programs = {"verified-program"}  # programs/test_measurements
    others = smoothed | quantiles | programs
    assert set(RULES) - used == elsewhere | by_hand | groups | tables | keys | others


def test_every_theorem_of_the_library_is_known_or_its_absence_has_a_reason() -> None:
    missing = {known.slug for known in all_theorems()} - set(RULES)
    assert missing == set(UNKNOWN), "write a rule, or say in UNKNOWN why there is none"
    assert set(UNKNOWN).isdisjoint(RULES)
    assert all(reason.strip() for reason in UNKNOWN.values())


def test_every_rule_is_of_a_theorem_and_means_its_numbers_alike() -> None:
    numbers = {known.slug: known.numbers.value for known in all_theorems()}
    for slug, rule in RULES.items():
        assert rule.slug == slug
        assert numbers[slug] == rule.numbers, slug


def test_every_constructor_is_certified_or_its_absence_has_a_reason() -> None:
    made = {name for name in vm.__all__ if isinstance(getattr(vm, name), Constructor)}
    used = {step.made_by.partition("(")[0] for computation in ALL for step in computation.steps}
    # private_quantile is made of two others.
    assert made - used - {"private_quantile"} == set(NOT_CERTIFIED)


def test_a_theorem_that_is_not_known_never_passes() -> None:
    document = ALL[0].certificate(1).to_json()
    document["derivation"]["theorem"] = "no-such-theorem"
    from viameter.core.certificate import content_hash

    document["hash"] = content_hash(document)
    report = check(document)
    assert not report.ok
    assert str(report.failures[0]) == (
        "derivation.theorem: this checker (version 2) does not know the theorem 'no-such-theorem'"
    )
