"""How a benchmark is declared: the words that the files in `bench/cases` are written in.

A case file is imported in every environment, so it imports peers only inside the `prepare` of a variant.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["OURS", "Benchmark", "Case", "Variant", "load"]

OURS = "viameter"
"""The environment of the library itself: the checkout's `.venv`."""


@dataclass(frozen=True)
class Variant:
    """One way to do the work of a case, in one environment.

    `prepare` gets the parameters of the case, does what shall not be timed, and returns what shall be: a callable
    without arguments. `read`, if given, turns the result of a call into numbers that can be compared among variants.
    `units`, if given, says that a call does another amount of work than the case states; times and ratios are then
    scaled to one unit, and the result of the call is not compared.
    """

    name: str
    prepare: Callable[..., Callable[[], object]]
    environment: str = OURS
    read: Callable[..., object] | None = None
    units: int | None = None


@dataclass(frozen=True)
class Case:
    """Something that several variants do; the first variant is the reference of the ratios.

    A call does `units` pieces of work, each called a `unit`. Results may differ from the reference's by the relative
    `tolerance`; None compares nothing. `difference_to` names the variant whose time is subtracted in a column of its
    own, and `memory` asks for the growth of the worker's peak memory during a call.
    """

    name: str
    variants: Sequence[Variant]
    parameters: Mapping[str, int] = field(default_factory=dict)
    units: int = 1
    unit: str = "call"
    tolerance: float | None = None
    difference_to: str | None = None
    memory: bool = False

    def __post_init__(self) -> None:
        names = [variant.name for variant in self.variants]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"case {self.name!r} needs variants with different names, but has {names}")
        if self.difference_to not in (None, *names):
            raise ValueError(f"case {self.name!r} has no variant {self.difference_to!r} to subtract")

    @property
    def title(self) -> str:
        """The name with its parameters, as tables show it."""
        return ", ".join([self.name, *(f"{name}={value:,}" for name, value in self.parameters.items())])

    def units_of(self, variant: Variant) -> int:
        """How many units of work a call of the variant does."""
        return self.units if variant.units is None else variant.units


@dataclass(frozen=True)
class Benchmark:
    """What one case file declares, as its `BENCHMARK`; `about` is a paragraph of Markdown for the page of results."""

    title: str
    about: str
    cases: Sequence[Case]

    def __post_init__(self) -> None:
        titles = [case.title for case in self.cases]
        if len(set(titles)) < len(titles):
            raise ValueError(f"benchmark {self.title!r} has two cases of the same name and parameters: {titles}")

    @property
    def environments(self) -> list[str]:
        """The environments that the variants need, in the order of first use."""
        return list(dict.fromkeys(variant.environment for case in self.cases for variant in case.variants))


def load(path: Path) -> Benchmark:
    """Import a case file by its path and return what it declares."""
    name = f"bench_case_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses of a case file look their module up
    spec.loader.exec_module(module)
    benchmark = module.BENCHMARK
    if not isinstance(benchmark, Benchmark):
        raise TypeError(f"BENCHMARK of {path.name} is a {type(benchmark).__name__}, not a Benchmark")
    return benchmark
