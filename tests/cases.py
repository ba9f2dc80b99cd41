"""A table of cases for one test: where a case takes microseconds, collecting and reporting each would take longer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]
Marked = type(pytest.param())


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each case, as `pytest.mark.parametrize` does, but as one test; a failure names its case."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(cases)
    assert table, "a table without cases tests nothing"
    assert not any(isinstance(case, Marked) for case in table), "a case with a mark or an id is one for parametrize"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            for case in table:
                given = dict(zip(wanted, (case,) if len(wanted) == 1 else case, strict=True))
                try:
                    test(**fixtures, **given)
                except BaseException as error:
                    named = ", ".join(f"{name} = {_shown(value)}" for name, value in given.items())
                    error.add_note(f"in the case of {named}")
                    raise

        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        assert len(left) + len(wanted) == len(signature.parameters), f"{test.__name__} does not take {wanted}"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def _shown(value: object) -> str:
    """How a case is written in a failure; some cases are there because they cannot be written."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: {error}>"
