"""What makes a measurement of a program: proofs, of this program, its mechanisms, this adjacency and this claim."""

import copy
import dataclasses
import json
import math
import pickle
import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.running.programs import ABOVE, EVERY, ONE, Function, claimed, document, proved, verdict

import viameter as vm
from viameter.errors import NoTheorem, ParameterError
from viameter.logic import program_from_core
from viameter.logic import verify as prove
from viameter.logic.certificate import ProgramCertificate
from viameter.logic.front.adjacent import all_differ
from viameter.logic.front.decorator import program_from_source
from viameter.logic.kernel.rules.mechanism import Mechanism, mechanism
from viameter.logic.lang.parsing import read_program
from viameter.logic.running import measurement
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import _ISSUED, issued

NOISY = program_from_source(
    "def noisy(x: int, eps: vm.Eps) -> int: return x + vm.lap(2 / eps)", adjacent=all_differ("x")
)
LEAK = program_from_source("def leak(x: int, eps: vm.Eps) -> int: return x", adjacent=all_differ("x"))
GOOD = prove(NOISY, "1/2*eps")


def zero(of: Any) -> Verdict:
    """A verdict by hand: that a program costs nothing."""
    return Verdict(
        status=Status.PROVED, program=of.name, bound=claimed("0", of.core).shown, adjacency="x differs by at most 1"
    )


def forgeries() -> dict[str, Any]:
    """Objects that say of a program that tells its input that it is proved at 0."""
    made = zero(LEAK)
    bare = object.__new__(Verdict)
    for field in dataclasses.fields(Verdict):
        object.__setattr__(bare, field.name, getattr(made, field.name))

    class Derived(Verdict):
        """Equal to whatever it is compared with."""

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(GOOD)

    derived = Derived(status=Status.PROVED, program="leak", bound=made.bound, adjacency="")
    by_hand = document(LEAK, claimed("0", LEAK.core))
    good = GOOD.certificate.to_json() if GOOD.certificate else {}
    other = {**good, "program": by_hand["program"]}
    return {
        "by hand": made,
        "with a certificate by hand": dataclasses.replace(made, certificate=ProgramCertificate(json.dumps(by_hand))),
        "a genuine one with another program": dataclasses.replace(
            GOOD, certificate=ProgramCertificate(json.dumps(other))
        ),
        "a genuine one, replaced": dataclasses.replace(GOOD, bound=made.bound, certificate=None),
        "made without its constructor": bare,
        "of a derived class": derived,
        "another class": SimpleNamespace(status=Status.PROVED, measure="pure", bound=made.bound, certificate=None),
        "a certificate by hand": ProgramCertificate(json.dumps(by_hand)),
        "its JSON": by_hand,
        "its text": json.dumps(by_hand),
        "true": True,
        "a word": "PROVED",
        "a status": Status.PROVED,
    }


@for_each("kind", list(forgeries()))
@for_each("of", [LEAK, NOISY])
def test_what_says_of_itself_that_it_is_a_proof_is_none(of: Any, kind: str) -> None:
    with pytest.raises(NoTheorem):
        of.measurement(verdict=forgeries()[kind], eps=1)


def test_only_what_verify_gave_is_issued() -> None:
    assert GOOD.certificate is not None and issued(GOOD) == GOOD.certificate.text
    others: tuple[Any, ...] = (copy.copy(GOOD), dataclasses.replace(GOOD), zero(NOISY), None, [], "PROVED")
    for other in (*others, prove(LEAK, "eps", seconds=5)):
        assert issued(other) is None
    assert NOISY.measurement(verdict=GOOD, eps=1).map(1) == vm.pure("1/2")


def test_a_verdict_that_was_changed_afterwards_says_what_was_proved() -> None:
    found = prove(NOISY, "1/2*eps")
    object.__setattr__(found, "bound", claimed("0", NOISY.core).shown)
    object.__setattr__(found, "measure", "zcdp")
    object.__setattr__(found, "certificate", None)
    assert NOISY.measurement(verdict=found, eps=1).map(1) == vm.pure("1/2")


def test_a_certificate_from_outside_is_checked_here_and_now() -> None:
    shown = GOOD.certificate
    assert shown is not None
    for given in (shown, shown.text, shown.to_json(), copy.copy(GOOD), dataclasses.replace(GOOD, bound=None)):
        assert NOISY.measurement(verdict=given, eps=1).map(1) == vm.pure("1/2")
    again = pickle.loads(pickle.dumps(shown))
    assert NOISY.measurement(verdict=again, eps=1).map(1) == vm.pure("1/2")
    low = shown.to_json()
    low["claim"]["amount"] = "1/4*eps"
    with pytest.raises(NoTheorem, match="the certificate of noisy does not hold: digest: is not that of the content"):
        NOISY.measurement(verdict=low, eps=1)
    with pytest.raises(NoTheorem, match="another program than leak"):
        LEAK.measurement(verdict=shown, eps=1)


def test_without_the_checkers_solver_a_certificate_from_outside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(NoTheorem, match=r"needs the solver cvc5, .* pip install .viameter\[verify\]"):
        NOISY.measurement(verdict=GOOD.certificate, eps=1)
    # What was proved in this process needs no second opinion.
    assert NOISY.measurement(verdict=GOOD, eps=1).map(1) == vm.pure("1/2")


def test_a_program_that_is_not_proved_is_no_measurement() -> None:
    with pytest.raises(NoTheorem, match=r"program leak is not proved, but REFUTED: verdict\.explain"):
        LEAK.measurement(verdict=prove(LEAK, "eps", seconds=10), eps=1)
    with pytest.raises(NoTheorem, match="program noisy is not proved, but UNKNOWN: "):
        NOISY.measurement(verdict=prove(NOISY, "2/5*eps", seconds=1e-6), eps=1)


def test_a_verdict_of_something_else_is_refused() -> None:
    mine = Function(ABOVE, EVERY)

    def use(found: Any) -> None:
        measurement(mine, verdict=found, eps=1, t=1)

    use(verdict(mine, claimed("eps", ABOVE)))
    twin = program_from_source(
        "def above_threshold(q: list[int], t: int, eps: vm.Eps) -> int: return 7", adjacent=all_differ("q")
    )
    with pytest.raises(NoTheorem, match="another program than above_threshold"):
        use(verdict(twin, claimed("eps", ABOVE)))
    for other in (all_differ("q", by=2), ONE, all_differ("q", monotone=True)):
        with pytest.raises(NoTheorem, match="for another adjacency than 'every element of q differs by at most 1'"):
            use(verdict(Function(ABOVE, other), claimed("eps", ABOVE)))
    monotone = Function(ABOVE, all_differ("q", monotone=True))
    one_way = document(monotone, claimed("eps", ABOVE))
    found = verdict(monotone, claimed("eps", ABOVE))
    _ISSUED[found] = json.dumps({**one_way, "proofs": one_way["proofs"][:1]})
    with pytest.raises(NoTheorem, match="for another adjacency"):
        measurement(monotone, verdict=found, eps=1, t=1)


def calling(entry: Any) -> Any:
    text = "program calls\ninput x: int\nbegin\ny :=$ call m(x)\nend\nreturn y\n"
    return program_from_core(dataclasses.replace(read_program(text), mechanisms={"m": entry}), adjacent=all_differ("x"))


def test_a_verdict_is_for_the_mechanisms_that_the_program_called_when_it_was_proved() -> None:
    integers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    wide, narrow = (mechanism(vm.laplace(integers, scale=scale)) for scale in (100, 1))
    mine = calling(wide)
    found = prove(mine, seconds=20)
    assert mine.measurement(verdict=found).map(1) == vm.pure("1/100")
    with pytest.raises(NoTheorem, match="other mechanisms than it calls"):
        calling(narrow).measurement(verdict=found)
    with pytest.raises(TypeError):
        mine.core.mechanisms["m"] = narrow
    # A mechanism whose numbers are not those of its measurement is found where it is used.
    wrong = mechanism(vm.laplace(integers, scale=1))
    object.__setattr__(wrong, "epsilon", Fraction(1, 100))
    with pytest.raises(ParameterError, match="the measurement has 1 and 0"):
        calling(wrong).measurement(verdict=found)

    class Derived(Mechanism):
        def __post_init__(self) -> None:
            pass

    with pytest.raises(ParameterError, match="must be mechanism"):
        calling(Derived(narrow.measurement, 1, Fraction(0), Fraction(0), "")).measurement()


def test_without_a_verdict_the_program_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    module = sys.modules["viameter.logic.verify"]

    def verify(program: Any) -> Verdict:
        asked.append(program)
        return verdict(program, claimed("3*eps", program.core))

    monkeypatch.setattr(module, "verify", verify)
    function = Function(ABOVE, EVERY)
    assert measurement(function, eps=1, t=1).map(1) == vm.pure(3)
    assert asked == [function]
    assert proved(ABOVE, EVERY, eps=1, t=1).map(1) == vm.pure(1)


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


def test_a_verdict_cannot_be_pickled_and_says_what_to_keep() -> None:
    for given in (GOOD, zero(NOISY)):
        for take in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot be pickled.*certificate\.text"):
                take(given)
        assert issued(copy.copy(given)) is None
