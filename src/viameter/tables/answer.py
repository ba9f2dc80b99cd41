"""Answer: a table of numbers with their intervals, what it cost, and the theorems behind that."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from viameter.core import Loss, Measurement
from viameter.core.certificate import Certificate
from viameter.errors import ParameterError, plain
from viameter.neighborhood import Guarantee
from viameter.tables.estimates import Estimate
from viameter.tables.units import Unit
from viameter.theorem import Explanation

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Proof(Protocol):
    """What a release cost, and why."""

    @property
    def loss(self) -> Loss:
        """What it cost."""

    def explain(self) -> Explanation:
        """What it tells of one unit at most, and the tree of theorems behind that."""

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The proof of a release of this process: its measurement."""

    measurement: Measurement
    stages: tuple[Measurement, ...] = ()
    """What was run within the losses that were fixed, where that was chosen on the way."""
    noise: str = ""
    """Which noise was drawn, and why, where there was a choice."""

    @property
    def loss(self) -> Loss:
        """What it cost."""
        found: Loss = self.measurement.map(1)
        return found

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that; below it, its stages."""
        whole = self.measurement.explain(1)
        remarks = (self.noise,) if self.noise else ()
        if not self.stages:
            return replace(whole, remarks=remarks) if remarks else whole
        premises = tuple(stage.explain(1).derivation for stage in self.stages)
        return Explanation(whole.claim, replace(whole.derivation, premises=premises), remarks)

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives."""
        return self.measurement.certificate(1)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a release was written down as in a ledger."""

    key: str
    """As it was chosen; empty if none was."""
    entry: int
    replayed: bool
    """Whether it had been released before, so that nothing was spent now."""
    by: str = ""
    asked: str = ""
    """When."""


class Released:
    """What all answers have: groups by the columns that name them, whose presence they hide, and a proof."""

    __slots__ = ()

    keys: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    unit: Unit
    proof: Proof
    receipt: Receipt | None

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return self.proof.loss

    @property
    def guarantee(self) -> Guarantee:
        """What it cost, and for whom that is stated."""
        return Guarantee(self.loss, self.unit.granularity)

    @property
    def measurement(self) -> Measurement:
        """What was run, of a release of this process."""
        if not isinstance(self.proof, Proved):
            raise ParameterError("measurement: it was run by a service; explain() and certificate() say what it cost")
        return self.proof.measurement

    @property
    def key(self) -> str | None:
        """Under which it is given again, of what a ledger keeps."""
        return None if self.receipt is None else self.receipt.key or None

    @property
    def entry(self) -> int | None:
        """The entry of the ledger that charged it."""
        return None if self.receipt is None else self.receipt.entry

    @property
    def replayed(self) -> bool:
        """Whether it had been released before, so that nothing was spent now."""
        return self.receipt is not None and self.receipt.replayed

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that."""
        return self.proof.explain()

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives."""
        return self.proof.certificate()

    def __len__(self) -> int:
        return len(self.groups)

    def _groups(self) -> dict[str, list[Any]]:
        return {name: [group[place] for group in self.groups] for place, name in enumerate(self.keys)}


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Released):
    """What a question released: by group, for each aggregate a value and the ends of its interval."""

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    estimates: dict[str, Estimate]
    covers: dict[str, str]
    """What the interval of each aggregate covers."""
    alpha: Fraction
    proof: Proof
    unit: Unit
    """Whose presence it hides."""
    notes: tuple[str, ...] = ()
    """What was done after the release, such as numbers set to 0."""
    receipt: Receipt | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns: keys, then for each aggregate its value, lower and upper."""
        named = ((name, f"{name}_lower", f"{name}_upper") for name in self.estimates)
        return (*self.keys, *(name for three in named for name in three))

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            raise ParameterError(f"there is no aggregate {plain(name)}; there are {', '.join(self.estimates)}")
        return self.estimates[name]

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

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame; what is unknown is NaN."""
        import pandas as pd

        return pd.DataFrame(self._groups() | self._arrays(), columns=list(self.columns))

    def to_arrow(self) -> pyarrow.Table:
        """The table as an Arrow table."""
        import pyarrow as pa

        return pa.table(self._groups() | self._arrays())

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
class Ranked(Released):
    """Keys in order, the most frequent first; how frequent they are is not told."""

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    by: str
    """What they were ranked by: "rows" or "units"."""
    proof: Proof
    unit: Unit
    notes: tuple[str, ...] = ()
    receipt: Receipt | None = None

    def to_columns(self) -> dict[str, list[Any]]:
        """The keys as lists, by column, in order."""
        return self._groups()

    def to_dicts(self) -> list[dict[str, Any]]:
        """The keys as a dict for each group, in order."""
        return [dict(zip(self.keys, group, strict=True)) for group in self.groups]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.groups)

    def __repr__(self) -> str:
        from viameter.tables.showing.words import printable

        shown = (printable(", ".join(repr(value) for value in group)) for group in self.groups)
        lines = (f"{place:>3}  {line}" for place, line in enumerate(shown, start=1))
        head = f"top {len(self)} by {self.by}: {printable(', '.join(self.keys))}"
        return "\n".join([head, *lines, f"cost {self.loss!r}"])


@dataclass(frozen=True, slots=True, repr=False)
class FoundBounds(Answer):
    """Two quantiles, "low" and "high", and bounds made of them."""

    within: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))

    @property
    def bounds(self) -> tuple[int | float, int | float]:
        """The quantiles, rounded outward to two digits of the distance between them: ready for `bounds=`."""
        from viameter.tables.plans.bounds import rounded_outward

        low, high = (Fraction(float(self.estimates[name].value[0])) for name in ("low", "high"))
        if low >= high:
            # All of it is in one place, as far as bins tell: the bins of that place.
            low, high = Fraction(float(self["low"].lower[0])), Fraction(float(self["high"].upper[0]))
        return rounded_outward(low, high, self.within)
