"""Which slots of a list hold rows is never known: a bound cannot be evaluated at a number of them."""

import json
from functools import cache
from typing import Any

import pytest

import viameter as vm
from viameter.logic import program_from_source
from viameter_check import check
from viameter_check.document import content_hash

TEXT = """
def total(q: list[vm.Between(0, 1)], eps: vm.Eps) -> int:
    c = 0
    for x in q:
        c = c + x
    return c + vm.lap(1 / eps)
"""


@cache
def made() -> tuple[str, str]:
    """The genuine certificate of a measurement, and one of the program with a bound by the number of slots."""
    program = program_from_source(TEXT, adjacent=vm.added_or_removed("q"))
    verdict = vm.verify(program, "len(q.in)*eps")
    assert verdict.certificate is not None
    genuine = program.measurement(verdict=vm.verify(program, "eps"), eps="1/2")
    return genuine.certificate(1).text, verdict.certificate.text


@pytest.mark.parametrize(
    ("where", "known"), [("lengths", [["q.in", "0"]]), ("lengths", [["q.in", "1"]]), ("public", [["q.in", []]])]
)
def test_a_bound_is_not_evaluated_at_a_number_of_rows_that_nobody_sees(where: str, known: list[Any]) -> None:
    genuine, by_slots = made()
    assert check(genuine).ok
    document: Any = json.loads(genuine)
    node = document["derivation"]
    node["parameters"] |= {"certificate": by_slots, where: known}
    nothing = {"measure": "pure", "epsilon": "0"}
    node["parameters"]["loss"] = node["bound"] = document["claim"]["loss"] = nothing
    document["claim"]["text"] = document["claim"]["text"].replace("epsilon 1/2", "epsilon 0")
    document["hash"] = content_hash(document)
    report = check(json.dumps(document))
    assert not report.ok and "never known" in str(report)
