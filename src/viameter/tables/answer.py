"""Answer: a table of numbers with their intervals, what it cost, and the theorems behind that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from viameter.core import Loss, Measurement
from viameter.core.certificate import Certificate
from viameter.errors import ParameterError, plain
from viameter.neighborhood import Guarantee
from viameter.tables.estimates import Estimate
from viameter.tables.units import Unit
from viameter.theorem import Explanation


class AnsweredTable(ABC):
    """A table of numbers with their intervals, wherever it was released: what it shows, what it can be made into."""

    __slots__ = ()

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    estimates: dict[str, Estimate]
    covers: dict[str, str]
    """What the interval of each aggregate covers."""
    alpha: Fraction
    unit: Unit | str
    """Whose presence it hides; in words if it came from elsewhere."""
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What it cost."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns: keys, then for each aggregate its value, lower and upper."""
        named = ((name, f"{name}_lower", f"{name}_upper") for name in self.estimates)
        return (*self.keys, *(name for three in named for name in three))

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            raise ParameterError(f"there is no aggregate {plain(name)}; there are {', '.join(self.estimates)}")
        return self.estimates[name]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def to_columns(self) -> dict[str, list[Any]]:
        """The table as lists, by column; None for what is unknown, and for ends that an interval does not have."""
        numbers = {name: array.tolist() for name, array in self._arrays().items()}
        return self._groups() | {
            name: [number if math.isfinite(number) else None for number in column] for name, column in numbers.items()
        }

    def to_dicts(self) -> list[dict[str, Any]]:
        """The table as a dict for each group."""
        columns = self.to_columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame; what is unknown is NaN."""
        import pandas as pd

        return pd.DataFrame(self._groups() | self._arrays(), columns=list(self.columns))

    def to_arrow(self) -> Any:
        """The table as an Arrow table."""
        import pyarrow as pa

        return pa.table(self._groups() | self._arrays())

    def _groups(self) -> dict[str, list[Any]]:
        return {name: [group[place] for group in self.groups] for place, name in enumerate(self.keys)}

    def _arrays(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, one in self.estimates.items():
            found |= {name: one.value, f"{name}_lower": one.lower, f"{name}_upper": one.upper}
        return found

    def plot(self, name: str | None = None) -> Any:
        """The values of one aggregate with their intervals; all of them if none is named. Needs matplotlib."""
        from viameter.tables.showing import draw_answer

        return draw_answer(self, name)

    def __repr__(self) -> str:
        from viameter.tables.showing import answer_text

        return answer_text(self)

    def _repr_html_(self) -> str:
        from viameter.tables.showing import answer_html

        return answer_html(self)


@dataclass(frozen=True, slots=True, repr=False)
class Answer(AnsweredTable):
    """What a question released: by group, for each aggregate a value and the ends of its interval."""

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    estimates: dict[str, Estimate]
    covers: dict[str, str]
    """What the interval of each aggregate covers."""
    alpha: Fraction
    measurement: Measurement
    unit: Unit
    notes: tuple[str, ...] = field(default=())
    """What was done after the release, such as numbers set to 0."""
    noise: str = field(default="", kw_only=True)
    """Which noise was drawn, and why, where there was a choice."""

    @property
    def loss(self) -> Loss:
        """What it cost."""
        found: Loss = self.measurement.map(1)
        return found

    @property
    def guarantee(self) -> Guarantee:
        """What it cost, and for whom that is stated."""
        return Guarantee(self.loss, self.unit.granularity)

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that."""
        found = self.measurement.explain(1)
        return replace(found, remarks=(self.noise,)) if self.noise else found

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives."""
        return self.measurement.certificate(1)
