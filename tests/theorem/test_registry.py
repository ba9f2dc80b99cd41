"""The registry of theorems: what may be registered, and that what is registered is whole."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import for_each

import viameter.composition.accounting
import viameter.logic.running
import viameter.neighborhood
import viameter.tables  # noqa: F401  # with the lines above, registers every theorem
from viameter.errors import RegistryError
from viameter.theorem import Numbers, Theorem, all_theorems, find_theorem, registry, theorem, theorem_of

EVERY_THEOREM = for_each("known", all_theorems())


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone when it ends."""
    monkeypatch.setattr(registry, "_THEOREMS", dict(registry._THEOREMS))


def whole() -> Callable[..., Any]:
    def doubled(d_in: int) -> int:
        """Twice as much is twice as much.

        Theorem
            It is.
        Requires
            Nothing.
        Ensures
            The bound is 2 d_in.
        Proof
            Clear.
        Example
            >>> 2 * 2
            4
        """
        return 2 * d_in

    return doubled


def test_a_registered_function_stays_an_ordinary_function() -> None:
    function = whole()
    assert theorem("twice", cites="nobody")(function) is function and function(3) == 6
    known = theorem_of(function)
    assert known is find_theorem("twice") and known in all_theorems()
    assert (known.slug, known.cites, known.numbers) == ("twice", "nobody", Numbers.EXACT)
    assert known.statement.title == "Twice as much is twice as much"
    assert known.where.endswith("whole.<locals>.doubled")


def test_theorems_are_listed_by_slug() -> None:
    slugs = [known.slug for known in all_theorems()]
    assert slugs == sorted(slugs) and len(set(slugs)) == len(slugs)
    assert {"chain", "post-processing", "trusted-map"} <= set(slugs)


@for_each("slug", ["", "Chain", "two words", "-a", "a-", "a--b", "a_b", "ä", "a\n", "a.b", "٣", "a-B"])
def test_a_slug_is_lower_case_words_joined_by_hyphens(slug: str) -> None:
    with pytest.raises(RegistryError, match="slug="):
        theorem(slug, cites="nobody")
    for good in ("a", "a-b", "2-norm", "renyi-to-2-points"):
        theorem(good, cites="nobody")


def test_a_slug_is_taken_once() -> None:
    theorem("twice", cites="nobody")(whole())

    def other(d_in: int) -> int:
        return d_in

    other.__doc__ = whole().__doc__
    with pytest.raises(RegistryError, match=r"slug='twice' is taken by .*doubled"):
        theorem("twice", cites="nobody")(other)
    assert find_theorem("twice").function is not other


def test_a_module_that_is_loaded_again_may_register_again() -> None:
    theorem("twice", cites="nobody")(whole())
    again = whole()
    theorem("twice", cites="nobody")(again)
    assert find_theorem("twice").function is again


@for_each("part", ["Theorem", "Requires", "Ensures", "Proof", "Example"])
def test_a_statement_that_lacks_a_part_is_not_registered(part: str) -> None:
    function = whole()
    function.__doc__ = re.sub(rf"^ *{part}\n", "", function.__doc__ or "", flags=re.MULTILINE)
    with pytest.raises(RegistryError, match=part):
        theorem("lacking", cites="nobody")(function)
    with pytest.raises(RegistryError, match="no theorem"):
        find_theorem("lacking")


def test_a_function_without_a_docstring_is_not_registered() -> None:
    with pytest.raises(RegistryError, match="lacks title"):
        theorem("mute", cites="nobody")(lambda d_in: d_in)


@for_each("cites", ["", "  "])
def test_a_theorem_without_a_citation_is_not_registered(cites: str) -> None:
    # Once: the citation is not looked at.
    with pytest.raises(RegistryError, match="cites"):
        theorem("uncited", cites=cites)(whole())


def test_what_is_not_registered_is_no_theorem() -> None:
    for function in (len, whole(), 1, None):
        with pytest.raises(RegistryError, match="not registered"):
            theorem_of(function)  # type: ignore[arg-type]
    with pytest.raises(RegistryError, match="no theorem is called 'nonsense'"):
        find_theorem("nonsense")


@EVERY_THEOREM
def test_every_theorem_has_all_its_parts_a_citation_and_an_example(known: Theorem) -> None:
    statement = known.statement
    for part in (statement.title, statement.theorem, statement.requires, statement.ensures, statement.proof):
        assert len(part.strip()) >= 5
    assert ">>>" in statement.example
    assert len(known.cites.strip()) >= 5
    assert isinstance(known.numbers, Numbers)


@EVERY_THEOREM
def test_every_theorem_takes_a_distance_or_losses_first_and_its_parameters_by_name(known: Theorem) -> None:
    import inspect

    first, *others = inspect.signature(known.function).parameters.values()
    assert first.name in ("d_in", "loss", "losses", "squares")
    assert all(other.kind is inspect.Parameter.KEYWORD_ONLY for other in others)


@EVERY_THEOREM
def test_every_theorem_is_found_under_its_slug_and_by_its_function(known: Theorem) -> None:
    assert find_theorem(known.slug) is known is theorem_of(known.function)
    assert known.where.startswith("viameter.")
