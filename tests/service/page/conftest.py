"""Visitors: `visit("analyst-visits")` is somebody who signed in at the service that the tests of a module share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from tests.service.page.visiting import Visitor
from tests.service.serving import Running

Visiting = Callable[..., Visitor]


@pytest.fixture
def visit(running: Running) -> Iterator[Visiting]:
    """Somebody at the page; nobody in particular without a name; elsewhere with another service."""
    with contextlib.ExitStack() as stack:

        def enter(person: str = "", *, at: Running | None = None) -> Visitor:
            where = at or running
            visitor = stack.enter_context(contextlib.closing(Visitor(where)))
            if person:
                assert visitor.sign_in(where.tokens[person]).status_code == 303
            return visitor

        yield enter
