"""The programs in `examples/programs`: each has the verdict that stands above it, and its certificate holds."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.logic.programs import is_proved

import viameter as vm
from viameter.logic.claims import claim_of
from viameter.logic.lang.scales import Amount
from viameter_check.command import check_file

FOLDER = Path(__file__).parents[2] / "examples" / "programs"
EXPECTED = re.compile(r"^# (PROVED|REFUTED|UNKNOWN): (.*)\n@vm\.program.*\ndef (\w+)", re.MULTILINE)
CASES = [
    (path.stem, *found)
    for path in sorted(FOLDER.glob("*.py"))
    for found in EXPECTED.findall(path.read_text(encoding="utf-8"))
]
PROVED = [case for case in CASES if case[1] == "PROVED"]
WRONG = [case for case in CASES if case[1] != "PROVED"]
# A bound of 0 is as low as it gets, and (epsilon, delta) goes through the concentrated one.
COSTLY = [case for case in PROVED if case[2] != "0" and not case[2].startswith("approx")]


def program_of(stem: str, name: str) -> Any:
    """The program of a name in an example file."""
    module = sys.modules.get(f"examples_{stem}")
    if module is None:
        spec = importlib.util.spec_from_file_location(f"examples_{stem}", FOLDER / f"{stem}.py")
        assert spec is not None and spec.loader is not None
        module = sys.modules[f"examples_{stem}"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return getattr(module, name)


def bound_of(text: str) -> Any:
    """The claim above a program."""
    kind, *numbers = text.split()
    if kind == "zcdp":
        return vm.zcdp(*numbers)
    return vm.approx(*numbers) if kind == "approx" else text


def test_every_program_has_an_expected_verdict() -> None:
    decorated = sum(path.read_text(encoding="utf-8").count("@vm.program") for path in FOLDER.glob("*.py"))
    assert decorated == len(CASES) >= 40


@pytest.mark.parametrize(("stem", "status", "claim", "name"), PROVED, ids=[case[3] for case in PROVED])
def test_a_right_program_is_proved_and_its_certificate_holds(
    stem: str, status: str, claim: str, name: str, tmp_path: Path
) -> None:
    verdict = vm.verify(program_of(stem, name), bound_of(claim), seconds=120)
    assert verdict.status is vm.Status.PROVED, verdict.missing
    assert verdict.certificate is not None
    verdict.certificate.write(tmp_path / "certificate.json")
    assert check_file(tmp_path / "certificate.json").ok


@pytest.mark.parametrize(("stem", "status", "claim", "name"), COSTLY, ids=[case[3] for case in COSTLY])
def test_a_right_program_is_not_proved_below_its_cost(stem: str, status: str, claim: str, name: str) -> None:
    program = program_of(stem, name)
    stated = claim_of(bound_of(claim), program.core)
    less = Amount(tuple(replace(p, coefficient=p.coefficient * Fraction(99, 100)) for p in stated.amount.parts))
    bound: Any = vm.zcdp(less.parts[0].coefficient) if stated.measure == "zcdp" else less
    assert not is_proved(program, bound, seconds=1)


@pytest.mark.parametrize(("stem", "status", "claim", "name"), WRONG, ids=[case[3] for case in WRONG])
def test_a_wrong_program_has_its_verdict(stem: str, status: str, claim: str, name: str) -> None:
    verdict = vm.verify(program_of(stem, name), bound_of(claim), seconds=60 if status == "REFUTED" else 4)
    assert str(verdict.status) == status
    if verdict.witness is not None:
        assert verdict.witness.recheck()
