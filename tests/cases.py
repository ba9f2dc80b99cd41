"""A table of cases for one test: where a case takes microseconds, collecting and reporting each would take longer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each case, as `pytest.mark.parametrize` does, but as one test; a failure names its case."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(cases)
    assert table, "a table without cases tests nothing"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            for case in table:
                given = dict(zip(wanted, (case,) if len(wanted) == 1 else case, strict=True))
                try:
                    test(**fixtures, **given)
                except BaseException as error:
                    error.add_note(
                        "in the case of " + ", ".join(f"{name} = {value!r}" for name, value in given.items())
                    )
                    raise

        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        assert len(left) + len(wanted) == len(signature.parameters), f"{test.__name__} does not take {wanted}"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
