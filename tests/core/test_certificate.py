"""Certificates: what stands in them, how they are written, and what cannot be certified."""

import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import pytest

import viameter as vm
from viameter.core.certificate import FORMAT, Certificate, certify, content_hash
from viameter.errors import FormatError
from viameter.theorem import Derivation, find_theorem

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
SUM = ROWS >> vm.clamp(bounds=(-5, 240)) >> vm.sum()
NOISY = SUM >> vm.laplace(scale=2400) >> vm.postprocess(abs)


def test_the_frame_has_format_version_claim_tree_and_hash() -> None:
    document = NOISY.certificate(1).to_json()
    assert list(document) == ["format", "made_by", "claim", "derivation", "hash"]
    assert document["format"] == FORMAT == "viameter-certificate/1"
    assert document["made_by"] == {"viameter": vm.__version__}
    assert document["hash"] == content_hash(document) and document["hash"].startswith("sha256:")
    assert document["claim"] == {
        "text": "On data at most 1 apart in SymmetricDistance(), releases are close in pure: epsilon 1/10.",
        "neighborhood": {"domain": "vectors(int)", "metric": "SymmetricDistance()", "d_in": "1"},
        "measure": "pure",
        "loss": {"measure": "pure", "epsilon": "1/10"},
        "assumes": [],
    }


def test_a_node_has_the_theorem_its_parameters_and_its_numbers() -> None:
    (chain,) = NOISY.certificate(1).to_json()["derivation"]["premises"]
    assert [node["theorem"] for node in chain["premises"]] == [
        "rows-one-by-one",
        "sum-of-added-rows",
        "laplace-on-integers",
    ]
    assert chain["premises"][1] == {
        "kind": "derived",
        "subject": "sum()",
        "theorem": "sum-of-added-rows",
        "numbers": "exact",
        "parameters": {"lower": "-5", "upper": "240"},
        "input": {"domain": "vectors(int, bounds=(-5, 240))", "metric": "SymmetricDistance()"},
        "output": {"domain": "scalars(int)", "metric": "AbsoluteDistance()"},
        "given": "1",
        "bound": "240",
        "assumes": [],
        "premises": [],
    }


def test_a_transformation_is_certified_by_its_distance() -> None:
    claim = SUM.certificate("inf").to_json()["claim"]
    assert (
        claim["text"]
        == "Data at most inf apart in SymmetricDistance() have images at most inf apart in AbsoluteDistance()."
    )
    assert claim["distance"] == "inf" and claim["output"]["metric"] == "AbsoluteDistance()"
    assert SUM.certificate(2).to_json()["claim"]["distance"] == "480"


def test_two_certificates_of_the_same_are_the_same_text() -> None:
    again = ROWS >> vm.clamp(bounds=(-5, 240)) >> vm.sum()
    assert SUM.certificate(1) == again.certificate(1) != SUM.certificate(2)
    certificate = SUM.certificate(1)
    assert str(certificate) == certificate.text and json.loads(certificate.text) == certificate.to_json()
    assert repr(certificate) == f"<certificate: {certificate.claim}>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.text = ""  # type: ignore[misc]


def test_a_certificate_is_written_to_a_file(tmp_path: Path) -> None:
    NOISY.certificate(1).write(tmp_path / "it.json")
    assert Certificate((tmp_path / "it.json").read_text().rstrip("\n")) == NOISY.certificate(1)


def test_no_data_and_no_bare_numbers_stand_in_it() -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    NOISY([123456, 123457])
    text = NOISY.certificate("7").text
    assert "12345" not in text
    json.loads(text, parse_int=refuse, parse_float=refuse, parse_constant=refuse)


def test_a_map_that_somebody_vouches_for_is_a_claim_with_its_trust() -> None:
    vouched = vm.transformation(
        ROWS, function=len, output=SUM.output_space, stability=lambda d: 3 * d, trust="it is so"
    )
    node = vouched.certificate(1).to_json()["derivation"]
    assert (node["kind"], node["numbers"], node["parameters"]) == ("claim", "assumed", {})
    assert node["assumes"] == ["it is so (transformation len)"]
    assert vouched.certificate(1).to_json()["claim"]["assumes"] == node["assumes"]


def test_the_step_of_a_top_k_is_named_by_its_theorem() -> None:
    scores = vm.Space(vm.vectors(int, size=5), vm.LInfDistance())
    node = vm.top_k(scores, k=2, scale=4, noise="laplace", measure=vm.PureDP).certificate(1).to_json()["derivation"]
    assert node["parameters"] == {"step": "noisy-max-laplace", "k": "2", "scale": "4", "monotone": False}


def test_a_distance_of_the_metric_is_asked_for() -> None:
    with pytest.raises(vm.errors.NumberError):
        SUM.certificate("1/2")


def test_what_is_text_only_or_a_function_cannot_be_certified() -> None:
    bare = Derivation("x", find_theorem("trusted-map"), "1", "2", bound_value=vm.pure(1), space=ROWS)
    with pytest.raises(FormatError, match="text only"):
        certify(bare, space=ROWS, d_in=Fraction(1))
    lost = Derivation("x", find_theorem("trusted-map"), "1", "2", given_value=Fraction(1), bound_value=Fraction(2))
    with pytest.raises(FormatError, match="without its space"):
        certify(lost, space=ROWS, d_in=Fraction(1))
    with pytest.raises(FormatError, match="given by a function"):
        (ROWS >> vm.count() >> vm.laplace(scale=3)).to(vm.Profile).certificate(1)


def test_a_derivation_keeps_values_beside_text() -> None:
    derivation = NOISY.explain(1).derivation
    assert derivation.given_value == derivation.bound_value == vm.pure("1/10") and derivation.times == 1
    (chain,) = derivation.premises
    assert (chain.given_value, chain.space) == (1, ROWS)
    assert chain.premises[1].parameters == (("lower", Fraction(-5)), ("upper", Fraction(240)))
    assert chain.premises[1].bound_value == 240 and chain.premises[1].output == SUM.output_space
