"""Cuts by predicates: each part keeps the records whose attributes are in given sets or ranges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.arith import Extended
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed, read_mapping
from viameter.neighborhood.changes import Change, Records
from viameter.neighborhood.cuts.base import Gains, Touched
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.solvers import worst_predicates


@dataclass(frozen=True, eq=False, repr=False)
class Predicates(RecordCut):
    """Each part keeps the records for which a conjunction holds: every attribute that it names is in its set."""

    alike_outside = False
    conjunctions: tuple[Mapping[str, Collection[Any]], ...]
    domains: Mapping[str, Sequence[Any]]
    time_limit: float | None = None
    progress: Callable[[str], None] | None = None

    def __len__(self) -> int:
        return len(self.conjunctions)

    @property
    def width(self) -> int:
        """All of them, for all that is known without looking for a record that is in many."""
        return len(self.conjunctions)

    def has_outside(self, part: int) -> bool:
        """Unless the sets that it names are all that there is."""
        return any(_leaves_out(self.domains[name], values) for name, values in self.conjunctions[part].items())

    def label(self, part: int) -> str:
        """Its conditions."""
        conditions = self.conjunctions[part].items()
        return " and ".join(f"{name} in {_shown(values)}" for name, values in conditions) or "all records"

    def parts_of(self, record: Any) -> frozenset[int]:
        """The parts whose conditions hold; records are dicts of attributes in examples."""
        return frozenset(
            part
            for part, conditions in enumerate(self.conjunctions)
            if all(record[name] in values for name, values in conditions.items())
        )

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """As for any cut by what a record is; the numbers of the solver say how exact they are."""
        if isinstance(edit, Records) and edit.both > 1 and (edit.added > 1 or edit.removed > 1):
            raise self._refuse(edit)
        return super().worst(edit, gains)

    def _one(self, costs: Sequence[Extended]) -> tuple[Extended, Any, bool]:
        found = worst_predicates(
            self.conjunctions, self.domains, cross=costs, time_limit=self.time_limit, progress=self.progress
        )
        return found.value, found.chosen, found.exact

    def _two(
        self, cross: Sequence[Extended], both: Sequence[Extended], edit: Change
    ) -> tuple[Extended, tuple[Any, Any], bool]:
        found = worst_predicates(
            self.conjunctions, self.domains, cross=cross, both=both, time_limit=self.time_limit, progress=self.progress
        )
        old, new = found.chosen or (None, None)
        # A policy, a cell or a short way allows fewer pairs of records than are looked at.
        return found.value, (old, new), found.exact and isinstance(edit, Records)

    def __repr__(self) -> str:
        return f"predicates(<{len(self)} conjunctions over {', '.join(self.domains)}>)"


def _leaves_out(domain: Sequence[Any], values: Collection[Any]) -> bool:
    """Whether some value of the domain is not among these; long ranges are compared by their ends."""
    if isinstance(domain, range) and isinstance(values, range) and abs(values.step) == 1:
        return not all(end in values for end in (domain[0], domain[-1]))
    return any(value not in values for value in domain)


def _shown(values: Collection[Any]) -> str:
    if isinstance(values, range):
        return f"{values.start}..{values[-1]}" if len(values) else "nothing"
    return f"{{{', '.join(map(str, list(values)[:3]))}{', ...' if len(values) > 3 else ''}}}"


def predicates(
    conjunctions: Sequence[Mapping[str, Collection[Any]]],
    *,
    domains: Mapping[str, Sequence[Any]],
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Predicates:
    """Parts by conditions on attributes: for each, the values it wants of each attribute that it names.

    `domains` lists what values each attribute can have (a `range` for whole numbers). The worst record is found by a
    solver of integer programs, from scipy, which `pip install 'viameter[neighborhood]'` brings. If `time_limit` (in
    seconds) is over before it is done, the bound is larger than need be, and says so.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> ages = nb.predicates([{"age": range(18, 100)}, {"age": range(0, 66), "ward": ["A"]}, {"ward": ["B"]}],
    ...                      domains={"age": range(0, 120), "ward": ["A", "B"]})
    >>> nb.compose(nb.unbounded(), [nb.leaf(part, vm.pure("0.1")) for part in ages]).loss
    pure(1/5)
    """
    example = "[{'age': range(18, 66), 'ward': ['A', 'B']}]"
    if isinstance(conjunctions, Mapping):
        raise ParameterError(f"conjunctions takes a list of conditions: expected e.g. {example}")
    given = read_listed(conjunctions, "conjunctions", example)
    if not given:
        raise ParameterError(f"conjunctions=[] has no parts: expected e.g. {example}")
    known = read_mapping(domains, "domains", "{'age': range(0, 120), 'ward': ['A', 'B']}")
    for name, values in known.items():
        _require_set(values, f"domains[{name!r}]")
        if len(values) == 0:
            raise ParameterError(f"domains[{name!r}] has no values, so that there are no records at all")
    for number, conjunction in enumerate(given):
        for name, values in read_mapping(conjunction, f"conjunctions[{number}]", "{'ward': ['A']}").items():
            if name not in known:
                raise ParameterError(f"conjunctions[{number}] names {name!r}, which domains does not list")
            _require_set(values, f"conjunctions[{number}][{name!r}]")
    return Predicates(tuple(given), known, time_limit, progress)


def _require_set(values: Any, name: str) -> None:
    """A set of values; a pair of numbers would be one too, and is often meant as an interval."""
    if isinstance(values, tuple | str | bytes) or not isinstance(values, Collection):
        raise ParameterError(
            f"{name}={plain(values)} does not say which values are meant: expected a list or set of them, or a range, "
            "as range(18, 66) for 18 to 65"
        )
