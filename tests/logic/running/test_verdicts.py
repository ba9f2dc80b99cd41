"""Which verdicts make a measurement: proofs, of this program, this adjacency and this claim."""

import math
from typing import Any

import pytest
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    HISTOGRAM,
    ONE,
    Function,
    Missing,
    Verdict,
    amount,
    certificate,
    verdict,
)

import viameter as vm
from viameter.errors import NoTheorem
from viameter.logic.front.adjacent import all_differ
from viameter.logic.front.decorator import program_from_source
from viameter.logic.running import measurement
from viameter.logic.verdict import Status


def test_a_program_that_is_not_proved_is_no_measurement() -> None:
    for status, why in ((Status.UNKNOWN, "no shifts were found"), (Status.REFUTED, "")):
        found = Verdict(amount("eps", ABOVE), status=status, missing=Missing(why) if why else None)
        with pytest.raises(
            NoTheorem, match=f"program above_threshold is not proved, but {status.name}: {why or 'verdict.explain'}"
        ):
            measurement(Function(ABOVE, EVERY), verdict=found, eps=1, t=1)


def test_a_verdict_of_something_else_is_refused() -> None:
    mine, bound = Function(ABOVE, EVERY), amount("eps", ABOVE)

    def use(shown: Any, found: Any = None) -> None:
        measurement(mine, verdict=found or Verdict(bound, certificate=shown), eps=1, t=1)

    use(certificate(mine, "eps"))
    with pytest.raises(NoTheorem, match="another program than above_threshold"):
        use(certificate(Function(HISTOGRAM, EVERY), "eps"))
    for other in (all_differ("q", by=2), ONE, all_differ("q", monotone=True)):
        with pytest.raises(NoTheorem, match="for another adjacency than 'every element of q differs by at most 1'"):
            use(certificate(Function(ABOVE, other), "eps"))
    with pytest.raises(NoTheorem, match="make different claims"):
        use(certificate(mine, "2*eps"))
    with pytest.raises(NoTheorem, match="make different claims"):
        use(None, Verdict(bound, "zcdp", certificate=certificate(mine, "eps")))
    monotone = Function(ABOVE, all_differ("q", monotone=True))
    one_way = {**certificate(monotone, "eps"), "proofs": certificate(monotone, "eps")["proofs"][:1]}
    with pytest.raises(NoTheorem, match="for another adjacency"):
        measurement(monotone, verdict=Verdict(bound, certificate=one_way), eps=1, t=1)


def test_without_a_verdict_the_program_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType

    asked: list[Any] = []

    def verify(program: Any) -> Verdict:
        asked.append(program)
        return verdict("3*eps", program.core)

    module: Any = ModuleType("viameter.logic.verify")
    module.verify = verify
    monkeypatch.setitem(sys.modules, "viameter.logic.verify", module)
    function = Function(ABOVE, EVERY)
    assert measurement(function, eps=1, t=1).map(1) == vm.pure(3)
    assert asked == [function]


def test_programs_that_the_prover_proves_are_measurements() -> None:
    response = program_from_source("def tell(b: bool) -> bool: return b == vm.flip('3/4')", adjacent=all_differ("b"))
    found = response.measurement()
    assert math.isclose(found.map(1).epsilon, math.log(3))
    assert "(proof certificate " in str(found.explain(1))
    text = "def noisy(x: int, eps: vm.Eps) -> int: return 2 * x + vm.lap(4 / eps)"
    twice = program_from_source(text, adjacent=all_differ("x", by=3)).measurement(eps="1/2")
    assert twice.map(3) == vm.pure("3/4")
    bell = program_from_source("def bell(x: int) -> int: return x + vm.gauss(10)", adjacent=all_differ("x"))
    assert bell.measurement().map(2) == vm.zcdp("1/50")
