"""Exponentials are remembered: trees of bits ask for the same ones hundreds of thousands of times."""

import importlib
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace

import pytest

from viameter.arith import dyadic


@pytest.fixture(autouse=True, scope="session")
def _remembered() -> Iterator[None]:
    remembered = {**vars(dyadic), "exp_down": cache(dyadic.exp_down), "exp_up": cache(dyadic.exp_up)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("viameter.sampling.bernoulli"), "dyadic", SimpleNamespace(**remembered))
        yield
