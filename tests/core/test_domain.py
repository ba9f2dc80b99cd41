"""A domain hands out members in one form, and says nothing of what it refuses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core import Domain, NotAMember
from viameter.errors import NotInDomain

CANARY = "canary-7f3a"


@dataclass(frozen=True)
class Small(Domain):
    """Whole numbers below 10, kept as int; what is refused is named in the reason."""

    def _canonical(self, value: Any) -> int:
        if value >= 10:
            raise NotAMember(f"{value} is too large")
        return int(value)


@dataclass(frozen=True)
class Careless(Domain):
    """A domain whose author forgot that a check may fail in other ways than NotAMember."""

    check: Callable[[Any], Any]

    def _canonical(self, value: Any) -> Any:
        return self.check(value)


class BadBool:
    """A truth value that tells what it was asked about."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __bool__(self) -> bool:
        raise ValueError(self.value)


class BadText(Exception):
    """An error that fails once more when its text is read."""

    def __str__(self) -> str:
        raise ValueError(CANARY)


def raising(error: type[BaseException]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        raise error(value)

    return check


def assert_silent(problem: BaseException) -> None:
    """Nothing of the data is in the error, nor in what it drags along."""
    for text in (str(problem), repr(problem), repr(problem.args), repr(vars(problem))):
        assert CANARY not in text
    assert problem.__cause__ is None and problem.__context__ is None


def test_a_member_comes_out_in_canonical_form() -> None:
    admitted = Small().admit(np.int64(3))
    assert admitted == 3 and type(admitted) is int


def test_membership_and_the_reason_agree() -> None:
    assert Small().contains(3) and Small().why_not(3) is None
    assert not Small().contains(12) and Small().why_not(12) == "12 is too large"


def test_what_is_refused_is_named_only_to_whoever_asks_why() -> None:
    letters = vm.domain("Letters", member=lambda value: value != CANARY, trust="that is what letters are")
    with pytest.raises(NotInDomain) as refused:
        letters.admit(CANARY)
    assert_silent(refused.value)
    assert refused.value.domain is letters
    assert "Letters" in str(refused.value)
    with pytest.raises(NotInDomain) as refused_by_number:
        Small().admit(1234567)
    assert "1234567" not in str(refused_by_number.value)


@for_each("error", [ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError, OSError])
def test_a_membership_test_that_fails_is_a_no_and_its_error_is_not_seen(error: type[Exception]) -> None:
    letters = vm.domain("Letters", member=raising(error), trust="that is what letters are")
    with pytest.raises(NotInDomain) as refused:
        letters.admit(CANARY)
    assert_silent(refused.value)
    assert error.__name__ in str(letters.why_not(CANARY))


@for_each(
    "member",
    [raising(SystemExit), raising(GeneratorExit), BadBool, raising(BadText), lambda _: np.array([True, False])],
)
def test_a_membership_test_that_fails_in_strange_ways_is_a_no_as_well(member: Callable[[Any], Any]) -> None:
    # Once: only `Exception` is caught, and only around the call: the row leaves in SystemExit(row), in the error of
    # the answer's truth value, and in the error of reading the error's text.
    letters = vm.domain("Letters", member=member, trust="that is what letters are")
    with pytest.raises(NotInDomain) as refused:
        letters.admit(CANARY)
    assert_silent(refused.value)


@for_each("error", [ValueError, KeyError, TypeError, RecursionError, SystemExit])
def test_whatever_a_domain_raises_about_data_is_not_seen(error: type[BaseException]) -> None:
    # Once: `admit` catches NotAMember alone, so every forgotten check of a domain is a leak of rows.
    with pytest.raises(NotInDomain) as refused:
        Careless(raising(error)).admit(CANARY)
    assert_silent(refused.value)


@for_each(
    "domain",
    [vm.scalars(int), vm.categories([1, 2]), vm.finite([1, 2]), vm.streams(int, steps=3), vm.graphs()],
)
def test_a_number_of_very_many_digits_is_refused_as_every_other(domain: Domain) -> None:
    # Once: the reason is made with str(number), which Python refuses: ValueError or NotInDomain depends on rows.
    huge: Any = 10**5000
    data = {"streams": [(huge, "ann", 1)], "graphs": ([1], [(1, huge)])}.get(repr(domain).partition("(")[0], huge)
    with pytest.raises(NotInDomain):
        domain.admit(data)
    assert not domain.contains(data)


def test_an_interrupt_of_a_membership_test_passes() -> None:
    letters = vm.domain("Letters", member=raising(KeyboardInterrupt), trust="that is what letters are")
    for ask in (letters.admit, letters.contains, letters.why_not):
        with pytest.raises(KeyboardInterrupt):
            ask(1)
