"""The error tree: as it is drawn, exported, documented; carrying what it speaks of."""

import copy
import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import viameter as vm
from viameter import errors
from viameter.errors import ViameterError

ROOT = Path(__file__).parents[1]
CLASSES: list[type[Exception]] = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == errors.__name__
]


def drawn_tree(text: str) -> dict[str, str | None]:
    """Each class that is drawn, and the class above it, by the column that the name starts in."""
    above: list[tuple[int, str]] = []
    tree: dict[str, str | None] = {}
    for line in text.splitlines():
        match = re.match(r"^([ │├└─]*)([A-Z]\w+)", line)
        if match is None:
            continue
        column, name = len(match[1]), match[2]
        above = [(place, known) for place, known in above if place < column]
        tree[name] = above[-1][1] if above else None
        above.append((column, name))
    return tree


def real_tree() -> dict[str, str | None]:
    return {
        known.__name__: next((base.__name__ for base in known.__bases__ if base in CLASSES), None) for known in CLASSES
    }


def drawing_in(text: str) -> str:
    """The lines from the one that is the root's name alone to the next blank or closing line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "ViameterError")
    end = next((i for i in range(start, len(lines)) if lines[i].strip() in ("", "```", '"""')), len(lines))
    return "\n".join(lines[start:end])


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    drawing = inspect.cleandoc("\n" + drawing_in(errors.__doc__ or ""))
    assert drawn_tree(drawing) == real_tree()


def test_the_tree_in_the_docs_is_the_real_one() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert drawn_tree(drawing_in(page)) == real_tree()


def test_every_class_has_a_heading_in_the_docs_and_no_other_has() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\w+)\s*$", page, flags=re.MULTILINE)
    assert sorted(headings) == sorted(known.__name__ for known in CLASSES)


def test_every_class_is_exported() -> None:
    assert sorted(errors.__all__) == sorted(known.__name__ for known in CLASSES)
    assert all(issubclass(known, ViameterError) for known in CLASSES)


def test_every_class_says_what_it_is_for() -> None:
    assert all(known.__doc__ for known in CLASSES)


@pytest.mark.parametrize("builtin", [ValueError, TypeError, RuntimeError])
def test_what_python_code_expects_is_caught_by_it_as_well(builtin: type[Exception]) -> None:
    expected = {
        ValueError: {
            "NumberError",
            "NotExact",
            "ParameterError",
            "SqlError",
            "MismatchError",
            "DomainMismatch",
            "MetricMismatch",
            "MeasureMismatch",
            "NoTheorem",
            "NotInDomain",
            "MapError",
            "RegistryError",
            "FormatError",
        },
        TypeError: {"IncomparableLosses", "UnknownQuery"},
        RuntimeError: {"SealedError", "QueryableBusy"},
    }
    assert {known.__name__ for known in CLASSES if issubclass(known, builtin)} == expected[builtin]


def test_errors_carry_what_they_speak_of() -> None:
    inexact = errors.NotExact("rho", 0.1)
    assert (inexact.name, inexact.value) == ("rho", 0.1)
    mismatch = errors.MeasureMismatch("the first", vm.PureDP, "the second", vm.ZCDP, hint="convert one")
    assert (mismatch.left, mismatch.right) == (vm.PureDP, vm.ZCDP)
    assert str(mismatch) == "measure mismatch: the first has PureDP, but the second has ZCDP; convert one"
    outside = errors.NotInDomain(vm.scalars(int), "what came out")
    assert outside.domain == vm.scalars(int) and str(outside).startswith("what came out is not in scalars(int)")
    unknown = errors.UnknownQuery("<q>", {"secret": 1})
    assert unknown.query_type is dict and "secret" not in str(unknown)


def test_a_sealed_error_takes_nothing_that_it_could_tell() -> None:
    assert str(errors.SealedError()) == errors.SealedError.TEXT
    with pytest.raises(TypeError):
        errors.SealedError("row 17")  # type: ignore[call-arg]


EXAMPLES: list[Any] = [
    errors.NumberError("text"),
    errors.NotExact("rho", 0.1),
    errors.DomainMismatch("left", vm.scalars(int), "right", vm.scalars(str)),
    errors.NotInDomain(vm.scalars(int)),
    errors.SealedError(),
    errors.UnknownQuery("<q>", 1),
    errors.PermissionGone("text"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_errors_survive_the_way_to_another_process(error: Any, again: Any) -> None:
    # Once: an error is rebuilt from its text by a constructor that wants something else. It dies on the way out of a
    # worker process (which then looks like a broken pool), or comes back saying something else (NotInDomain).
    back = again(error)
    assert type(back) is type(error) and str(back) == str(error) and vars(back) == vars(error)


def test_errors_of_engines_are_in_the_docs() -> None:
    from viameter.tables import engines

    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    named = [
        name
        for name in engines.__all__
        if inspect.isclass(kind := getattr(engines, name)) and issubclass(kind, Exception)
    ]
    assert {"UnreadableData", "DataWarning"} <= set(named)
    assert [name for name in named if f"`{name}`" not in page] == []
