"""Lines: what happened, for people; all of it, or what concerns one scope."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from viameter.core import Loss
from viameter.errors import UnknownScope
from viameter.ledger.chain import Entry
from viameter.ledger.ledger import Ledger
from viameter.measures import loss_from_json


class Outcome(StrEnum):
    """What came of a charge, as far as the ledger knows; what was charged stays charged whatever it is."""

    ANSWERED = "answered"
    """Its answer is stored."""
    FAILED = "failed"
    """There is no answer, and there will be none."""
    UNSETTLED = "unsettled"
    """Neither is stored: it runs still, or it was cut off. The ledger does not know which."""

    @property
    def words(self) -> str:
        """The same for people."""
        return _OUTCOME_WORDS[self]


HANDLE = b'{"queryable":'
"""How what is stored begins for a charge that spawned a queryable: what that answers is stored behind it."""
_OUTCOME_WORDS = {
    Outcome.ANSWERED: "answered",
    Outcome.FAILED: "failed, and stays charged",
    Outcome.UNSETTLED: "no answer stored",
}


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """One thing that happened."""

    seq: int
    at: str
    by: str
    kind: str
    text: str
    """What it was, in words."""
    key: str = ""
    label: str = ""
    query: str = ""
    costs: tuple[tuple[str, str | None, Loss, Loss], ...] = ()
    """For a charge: each scope with the part, what it cost there, and what was spent after it."""
    theorems: tuple[str, ...] = ()
    certificate: str | None = None
    outcome: Outcome | None = None
    """What came of a charge; None for what is no charge, and for an entry that is read without its ledger."""

    @property
    def words(self) -> str:
        """What it was and, of a charge, what came of it."""
        return self.text if self.outcome is None else f"{self.text} ({self.outcome.words})"

    def __repr__(self) -> str:
        return f"{self.seq:>6}  {self.at}  {self.by}: {self.words}"


def history(ledger: Ledger, *, scope: str | None = None, last: int | None = None) -> tuple[Line, ...]:
    """What happened, in order: in all, or to one scope; the last so many lines of it.

    >>> import viameter as vm
    >>> from viameter.ledger import in_memory
    >>> book = in_memory()
    >>> scope = book.define("visits", vm.pure(1), vm.SymmetricDistance(), why="decided in May")
    >>> reserved = book.reserve(vm.pure("1/10"), scopes=["visits"], key="report", label="May")
    >>> [line.text for line in history(book, scope="visits")]
    ["scope 'visits' with a budget of pure(1) for unbounded(): decided in May", "May: pure(1/10) from 'visits'"]
    >>> [str(line.outcome) for line in history(book, scope="visits")]
    ['None', 'unsettled']
    """
    if scope is not None:
        found = [line_of(entry) for entry in itertools.islice(entries_back(ledger, scope), last)]
        return tuple(reversed(with_outcomes(ledger, found)))
    first = 1 if last is None else max(ledger.head.seq - last + 1, 1)
    return tuple(with_outcomes(ledger, [line_of(entry) for entry in ledger.entries(first)]))


def with_outcomes(ledger: Ledger, lines: Iterable[Line]) -> list[Line]:
    """The same lines, each charge with what came of it by now."""
    given = list(lines)
    charges = [line.seq for line in given if line.kind == "reserve"]
    stored: dict[int, list[bytes | None]] = {number: [] for number in charges}
    for number, beginning in ledger._ask(lambda store: list(store.beginnings(charges, len(HANDLE)))):
        stored[number].append(beginning)
    return [replace(line, outcome=_outcome(stored[line.seq])) if line.seq in stored else line for line in given]


def _outcome(stored: Sequence[bytes | None]) -> Outcome:
    """What came of a charge, by how what was stored for it begins: an answer, or a handle and what that answered."""
    if stored and stored[-1] is None:
        return Outcome.FAILED
    return Outcome.ANSWERED if any(beginning != HANDLE for beginning in stored) else Outcome.UNSETTLED


def entries_back(ledger: Ledger, scope: str) -> Iterator[Entry]:
    """The entries that changed a scope, from the last one back: each says which was before it."""
    state = next((one for one in ledger._ask(lambda store: store.scopes()) if one.name == scope), None)
    if state is None:
        raise UnknownScope(scope, tuple(one.name for one in ledger.scopes()))
    seq = state.seq
    while seq:
        entry = ledger.entry(seq)
        yield entry
        seq = int(entry.record["before"][scope])


def line_of(entry: Entry) -> Line:
    """An entry in words."""
    record = entry.record
    costs = tuple(
        (cost["scope"], cost["part"], loss_from_json(cost["loss"]), loss_from_json(cost["spent"]))
        for cost in record.get("costs", ())
    )
    return Line(
        entry.seq,
        record["at"],
        record["by"],
        record["kind"],
        _WORDS[record["kind"]](record),
        record.get("key", ""),
        record.get("label", ""),
        record.get("query", "") if record["kind"] == "reserve" else "",
        costs,
        tuple(record.get("theorems", ())),
        record.get("certificate"),
    )


def _because(record: Mapping[str, Any]) -> str:
    return f": {record['why']}" if record.get("why") else ""


def _defined(record: Mapping[str, Any]) -> str:
    terms = record["terms"]
    starts = "" if terms["renews"] is None else f", which starts over ({terms['renews']})"
    budget = loss_from_json(terms["budget"])
    return (
        f"scope {record['scope']!r} with a budget of {budget!r} for {terms['neighborhood']}{starts}{_because(record)}"
    )


def _charged(record: Mapping[str, Any]) -> str:
    shown = []
    for cost in record["costs"]:
        part = "" if cost["part"] is None else f" ({cost['part']})"
        shown.append(f"{loss_from_json(cost['loss'])!r} from {cost['scope']!r}{part}")
    opened = "".join(f"; opens {name!r}" for name in record["opens"])
    return f"{record['label'] or record['query'] or record['key']}: {', '.join(shown)}{opened}"


def _budget(record: Mapping[str, Any]) -> str:
    was, now = (loss_from_json(record[name]) for name in ("was", "budget"))
    return f"budget of {record['scope']!r} from {was!r} to {now!r}{_because(record)}"


_WORDS: Mapping[str, Any] = {
    "init": lambda record: f"ledger {record['id'][:12]}" + (", signed" if record["public_key"] else ""),
    "define": _defined,
    "budget": _budget,
    "renew": lambda record: f"{record['scope']!r} starts over{_because(record)}",
    "reserve": _charged,
    "commit": lambda record: f"answer to entry {record['reserved']} stored, {record['size']} bytes",
    "answer": lambda record: f"answer {record['number']} within entry {record['reserved']}, {record['size']} bytes",
    "fail": lambda record: (
        f"answer {record['number']} within entry {record['reserved']} failed"
        if record["number"]
        else f"entry {record['reserved']} failed; it stays charged"
    ),
    "restore": lambda record: f"restored from a backup{_because(record)}",
}
