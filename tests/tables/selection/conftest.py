"""Oracles compute with `PRECISION` bits, and leave the caller's context as it was."""

from collections.abc import Iterator

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.mechanisms.oracles import PRECISION


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with gmpy2.context(precision=PRECISION):
        yield
