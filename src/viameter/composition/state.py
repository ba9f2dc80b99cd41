"""The state of a meter without its data: what was charged, so that another process can go on from there."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NoReturn

from viameter.arith import Extended, read_written, write
from viameter.composition.anytime import AnytimeBound
from viameter.composition.entries import Recorded
from viameter.composition.tally import Tally
from viameter.composition.terms import FilterTerms
from viameter.core import Loss, Measure, Space
from viameter.core.measure import refusing_as_format
from viameter.errors import FormatError, ParameterError
from viameter.measures.records import MEASURES

FORMAT = "viameter-odometer/1"
"""The name and version of the format; a change that old readers would misread gets another number."""

LARGEST = 10**7
"""How many queries a state may have: a changed number is not to fill the memory."""


@dataclass(frozen=True, slots=True, repr=False)
class OdometerState:
    """What was charged, by whom nothing is known, and of data nothing either.

    `to_json` writes it as text with a digest; `from_json` reads it, and refuses what was changed. A digest tells of
    accidents. Against somebody who wants to spend again, give both a secret `key`.
    """

    space: Space
    measure: Measure
    """What measurements are stated in."""
    counted_in: Measure
    """What their losses are counted in: the same, unless a filter's rule says otherwise."""
    entries: tuple[Recorded, ...]
    totals: tuple[tuple[Extended, Loss], ...]
    """The sums that were kept, by distance; they are never below the sums of the entries."""
    convert: bool
    terms: FilterTerms | None
    """What a filter was made with; None for an odometer."""
    anytime: AnytimeBound | None = None
    """The bound for all times that an odometer was made with."""

    @classmethod
    def of(
        cls,
        space: Space,
        measure: Measure,
        tally: Tally,
        distances: Sequence[Extended],
        *,
        convert: bool,
        terms: FilterTerms | None,
        anytime: AnytimeBound | None,
    ) -> OdometerState:
        """The state of a tally, with losses for these distances."""
        entries = tuple(
            Recorded(entry.query, tuple((d_in, tally.loss_of(entry, d_in)) for d_in in distances))
            for entry in tally.entries
        )
        totals: list[tuple[Extended, Loss]] = []
        for place, d_in in enumerate(distances):
            kept, added = tally.total(d_in), tally.measure.total([entry.losses[place][1] for entry in entries])
            # Neither is below the exact sum, but they may be rounded up differently, and readers add the entries up.
            totals.append((d_in, kept if added <= kept else added))
        return cls(space, measure, tally.measure, entries, tuple(totals), convert, terms, anytime)

    def to_json(self, *, key: bytes | None = None) -> str:
        """The state as text, with a digest of it; with a key, only who has it can make another."""
        record = {
            "format": FORMAT,
            "domain": repr(self.space.domain),
            "metric": repr(self.space.metric),
            "assumptions": list(self.space.assumptions),
            "measure": self.measure.slug,
            "counted_in": self.counted_in.slug,
            "convert": self.convert,
            "filter": None if self.terms is None else self.terms.to_json(),
            "anytime": None if self.anytime is None else self.anytime.to_json(),
            "totals": _write_losses(self.totals),
            # Equal entries that follow one another are written once.
            "entries": [
                {"query": entry.text, "losses": _write_losses(entry.losses), "times": len(list(group))}
                for entry, group in groupby(self.entries)
            ],
        }
        return json.dumps({**record, "digest": _digest(record, key)}, indent=1, allow_nan=False)

    @classmethod
    def from_json(
        cls, text: str, *, space: Space, measure: Measure | None = None, key: bytes | None = None
    ) -> OdometerState:
        """Read a state. Give the space of the odometer that wrote it, and its measure where that is user-defined."""
        record = _read_object(text)
        if record.get("format") != FORMAT:
            raise FormatError(f"no state of an odometer: expected format={FORMAT!r}")
        if set(record) != _KEYS:
            raise FormatError(f"no state of an odometer: expected the keys {', '.join(sorted(_KEYS))}")
        digest = record.pop("digest")
        if not isinstance(digest, str) or not hmac.compare_digest(digest.encode(), _digest(record, key).encode()):
            raise FormatError("the state was changed since it was written, or it was written with another key")
        for name, part in (("domain", space.domain), ("metric", space.metric)):
            if record[name] != repr(part):
                raise FormatError(f"the state is of another space: its {name} is not {part!r}")
        if record["assumptions"] != list(space.assumptions):
            raise FormatError("the state is of another space: it asks for other trust")
        with refusing_as_format():
            return cls._read(record, space, measure)

    @classmethod
    def _read(cls, record: Mapping[str, Any], space: Space, measure: Measure | None) -> OdometerState:
        stated = _find_measure(record["measure"], measure)
        counted = _find_measure(record["counted_in"], measure)
        entries: list[Recorded] = []
        for entry in _expect(list, record["entries"]):
            if set(_expect(dict, entry)) != {"query", "losses", "times"}:
                raise FormatError("no entry of an odometer: expected the keys query, losses and times")
            times = _expect(int, entry["times"])
            if not 1 <= times <= LARGEST - len(entries):
                raise FormatError(f"no entry of an odometer: expected at least one query, and {LARGEST} at most in all")
            entries += [Recorded(_expect(str, entry["query"]), _read_losses(entry["losses"], counted))] * times
        totals = _read_losses(record["totals"], counted)
        for d_in, total in totals:
            if not counted.total([entry.loss(d_in) for entry in entries]) <= total:
                raise FormatError("the state adds up to more than it says")
        terms = None if record["filter"] is None else FilterTerms.from_json(record["filter"], stated)
        bound = None if record["anytime"] is None else AnytimeBound.from_json(record["anytime"])
        return cls(space, stated, counted, tuple(entries), totals, _expect(bool, record["convert"]), terms, bound)

    def __repr__(self) -> str:
        return f"<state of an odometer in {self.measure!r}: {len(self.entries)} queries>"


_KEYS = {
    "anytime",
    "assumptions",
    "convert",
    "counted_in",
    "digest",
    "domain",
    "entries",
    "filter",
    "format",
    "measure",
    "metric",
    "totals",
}


def _digest(record: Mapping[str, Any], key: bytes | None) -> str:
    content = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    if key is None:
        return f"sha256:{hashlib.sha256(content).hexdigest()}"
    if not isinstance(key, bytes) or not key:
        raise ParameterError("key=... is no secret: expected bytes, and some of them")
    return f"hmac-sha256:{hmac.new(key, content, hashlib.sha256).hexdigest()}"


def _read_object(text: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise FormatError("no state of an odometer: a key is written twice")
        return dict(pairs)

    def refuse(_: str) -> NoReturn:
        raise ValueError("numbers are written as text, exactly; NaN and infinities are no JSON")

    try:
        record = json.loads(text, object_pairs_hook=once, parse_constant=refuse, parse_float=refuse)
    except (TypeError, ValueError, RecursionError):
        raise FormatError("no state of an odometer: it is not JSON, or a key is written twice") from None
    found: dict[str, Any] = _expect(dict, record)
    return found


def _expect(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:
        raise FormatError(f"no state of an odometer: expected a {kind.__name__}, found a {type(value).__name__}")
    return value


def _find_measure(slug: Any, given: Measure | None) -> Measure:
    if given is not None and given.slug == slug:
        return given
    if not isinstance(slug, str) or slug not in MEASURES:
        raise FormatError(f"the state is in the measure {slug!r}, which is not of this library: give it as measure=...")
    return MEASURES[slug]


def _write_losses(losses: Sequence[tuple[Extended, Loss]]) -> list[list[Any]]:
    return [[write(d_in), loss.to_json()] for d_in, loss in losses]


def _read_losses(pairs: Any, measure: Measure) -> tuple[tuple[Extended, Loss], ...]:
    read = []
    for pair in _expect(list, pairs):
        if len(_expect(list, pair)) != 2:
            raise FormatError("no state of an odometer: expected pairs of a distance and a loss")
        read.append((read_written(pair[0], name="d_in"), measure.from_json(_expect(dict, pair[1]))))
    if [d_in for d_in, _ in read] != sorted({d_in for d_in, _ in read}):
        raise FormatError("no state of an odometer: expected rising distances")
    return tuple(read)
