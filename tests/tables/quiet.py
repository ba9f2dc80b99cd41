"""The warnings of engines that nobody here can mend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from viameter.tables.engines import engines

DEPRECATIONS = tuple(each for engine in engines() for each in engine.noise)


@contextmanager
def without_warnings_of_engines() -> Iterator[None]:
    """Ignore them for a while."""
    with ExitStack() as stack:
        for engine in engines():
            stack.enter_context(engine.quiet())
        yield
