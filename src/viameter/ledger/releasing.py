"""Reserve, run, commit, release: what is asked is charged before it runs, and stored before it leaves.

    1. RESERVE: the key is looked up, every scope is checked and charged, the entry is on the disk.
    2. RUN: under a deadline, if there is one. Whatever goes wrong becomes one error, and is charged the same.
    3. COMMIT: the answer's bytes are on the disk, and never change.
    4. RELEASE: the stored bytes, read back.

Whoever asks again under the same key gets the bytes of 3; if there are none, because the process was killed in between,
that it was paid for, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viameter.core import Loss, Measure, Measurement, Recipe, Space, Transformation
from viameter.core.conversion import convertible
from viameter.core.deadlines import read_deadline, run_by
from viameter.errors import (
    AnswerLost,
    DomainMismatch,
    MeasureMismatch,
    MetricMismatch,
    ParameterError,
    QueryableError,
    SealedError,
    ViameterError,
    plain,
)
from viameter.ledger.book import Request, StoredAnswer
from viameter.ledger.chain import canonical, digest
from viameter.ledger.codec import decode, encode
from viameter.ledger.identity import Described, describe, without_addresses
from viameter.ledger.recording import Recorder, Replay
from viameter.ledger.scopes import Cost, Scope, Terms, describe_neighborhood, read_cost
from viameter.ledger.settled import Itself, is_settled
from viameter.spaces import lend, own_copy

if TYPE_CHECKING:
    from viameter.ledger.ledger import Ledger

STAYS = "what it cost stays charged; answers that cannot be stored (see the docs on ledgers) count as failures too"

MOST_SHOWN = 2_000
"""How much of a question's text is kept; all of it is part of what it is known by."""
MOST_REMEMBERED = 128
"""Of how many measurements a meter remembers what was found out about them, those that were charged last."""


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """A value that was paid for and may leave."""

    value: Any
    content: bytes
    """The bytes that were stored; whoever asks again under the same key gets the same."""
    reserved: int
    """The entry that charged it."""
    stored: int
    """The entry that has the digest of the bytes."""
    replayed: bool
    """Whether it was stored before, and nothing was charged or run now."""

    def __repr__(self) -> str:
        how = "stored before" if self.replayed else "new"
        return f"<release of entry {self.reserved}, {how}>"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is written down of a measurement when it is charged."""

    shown: str
    described: Described
    explained: str
    theorems: tuple[str, ...]
    certificate: str | None

    @classmethod
    def of(cls, measurement: Measurement, d_in: Any) -> Facts:
        """Those for data that are d_in apart."""
        explanation = measurement.explain(d_in)
        return cls(
            without_addresses(repr(measurement)),
            describe(measurement),
            without_addresses(str(explanation)),
            tuple(dict.fromkeys(node.theorem.slug for node in explanation.derivation.nodes())),
            _certificate(measurement, d_in),
        )


class LedgerMeter:
    """Data under scopes of a ledger: `meter(measurement, key=...)` charges them all, runs it, and returns the release.

    Several may be open on the same data, in several processes: what they spend is one sum.
    """

    def __init__(
        self,
        ledger: Ledger,
        space: Space,
        member: Any,
        scopes: Sequence[str],
        *,
        by: str,
        deadline: float | None = None,
        convert: bool = False,
        part: str | None = None,
        through: Transformation | None = None,
        unless: tuple[str, ...] = (),
    ) -> None:
        if (part is None) != (through is None):
            raise ParameterError("part: name the part, and give through=, the transformation that keeps its rows alone")
        if through is not None and through.input_space != space:
            raise ParameterError(f"through={plain(through)}: it does not start from the space of the data")
        self._part = part
        self._through = through
        self._ledger = ledger
        self._space = space
        self._member = member
        self._scopes = tuple(scopes)
        self._unless = unless
        self._by = by
        self._deadline = read_deadline(deadline)
        self._convert = convert
        self._neighborhood = describe_neighborhood(space)
        # What is asked again and again is not derived again and again, if it cannot have changed. Nothing here refers
        # to the meter, so that the data are let go as soon as it is out of use.
        remember = lru_cache(maxsize=MOST_REMEMBERED)
        self._settled = remember(_require_settled)
        self._known_facts = remember(lambda asked, d_in: Facts.of(asked.value, d_in))
        self._known_loss = remember(lambda asked, charging: _loss(asked.value, charging))
        if part is not None and all(scope.terms.parts is None for scope in self.scopes):
            raise ParameterError(f"part={plain(part)}: {', '.join(scopes)} has no parts")
        for scope in self.scopes:
            if scope.terms.neighborhood != self._neighborhood:
                raise ParameterError(
                    f"the scope {scope.name!r} is stated for {scope.terms.neighborhood}, and distances between these "
                    f"data are counted in {self._neighborhood}: losses for different neighbors do not add up"
                )

    @classmethod
    def on(cls, ledger: Ledger, space: Space, data: Any, scopes: Sequence[str], **options: Any) -> LedgerMeter:
        """Data of a space, seen once to be in its domain, and copied so that nobody changes them in between."""
        member = space.domain.admit(data)
        return cls(ledger, space, own_copy(member), scopes, **options)

    @property
    def ledger(self) -> Ledger:
        """Where it is charged."""
        return self._ledger

    @property
    def space(self) -> Space:
        """Where the data live."""
        return self._space

    @property
    def by(self) -> str:
        """Who asks."""
        return self._by

    @property
    def deadline(self) -> float | None:
        """How many seconds a measurement may run."""
        return self._deadline

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that pay, as they stand."""
        return tuple(self._ledger.scope(name) for name in self._scopes)

    def costs(self, measurement: Any) -> tuple[Cost, ...]:
        """What a measurement would cost each scope."""
        asked = self._read(measurement)
        return tuple(self._cost(asked, scope) for scope in self.scopes)

    def fits(self, measurement: Any) -> bool:
        """Whether every scope has room for it now; another process may be faster."""
        return self._ledger.fits(self.costs(measurement))

    def __call__(
        self,
        measurement: Any,
        *,
        key: str | None = None,
        label: str = "",
        identity: str = "",
        deadline: float | None = None,
    ) -> Any:
        """Charge, run, store, and return what was stored; under a used key, what was stored then."""
        released = self.release(measurement, key=key, label=label, identity=identity, deadline=deadline)
        return released.value

    def release(
        self,
        measurement: Any,
        *,
        key: str | None = None,
        label: str = "",
        identity: str = "",
        deadline: float | None = None,
    ) -> Release:
        """The same, with the bytes and the entries."""
        limit = self._deadline if deadline is None else read_deadline(deadline)
        asked = self._read(measurement)
        scopes = self.scopes  # as they stand before: what is spawned answers within the periods of now, or not at all
        costs = tuple(self._cost(asked, scope) for scope in scopes)
        facts = self._facts(asked, scopes[0].terms.d_in)
        if key is not None and not identity:
            _require_known(facts.described)
        reserved = self._ledger.reserve(
            costs,
            key=key,
            by=self._by,
            query=facts.shown.removeprefix(f"{self._space!r} >> ")[:MOST_SHOWN],
            identity=_digest_of(facts, identity),
            label=label,
            theorems=facts.theorems,
            certificate=facts.certificate,
            unless=self._unless,
        )
        if not reserved.new:
            return replayed(self._ledger, reserved.request)
        return self._run(asked, reserved.request, scopes, limit)

    def is_of(self, request: Request, measurement: Any, *, identity: str = "") -> bool:
        """Whether a request is one of this measurement, charged to the first of these scopes; others may have paid."""
        record = self._ledger.entry(request.reserved).record
        facts = self._facts(self._read(measurement), self.scopes[0].terms.d_in)
        paid = {cost["scope"] for cost in record.get("costs", ())}
        return self._scopes[0] in paid and record.get("identity") == _digest_of(facts, identity)

    def _run(self, measurement: Measurement, request: Request, scopes: Sequence[Scope], limit: float | None) -> Release:
        recorder = Recorder(self._ledger, request, scopes, limit)
        content: bytes | None = None
        try:
            content = run_by(limit, lambda: self._released(measurement, recorder))
        except KeyboardInterrupt:
            raise  # it stays charged, and whoever asks again learns it
        except BaseException:  # one error for all of them: which one it was may depend on rows
            content = None
        stored = self._ledger.settle(request, content)
        return _opened(stored, request, recorder, replayed=False)

    def _released(self, measurement: Measurement, recorder: Recorder) -> bytes:
        return encode(measurement.release(lend(self._member)), place=recorder.place)

    def _read(self, asked: Any) -> Measurement:
        if isinstance(asked, Recipe):
            asked = asked.complete(self._space if self._through is None else self._through.output_space)
        if not isinstance(asked, Measurement):
            exact = isinstance(asked, Transformation)
            hint = "exact answers are not private; add noise, as in ... >> laplace(scale=10)" if exact else ""
            raise ParameterError(f"{plain(asked)} is no measurement{': ' if hint else ''}{hint}")
        if self._through is not None:
            # Whoever asks names no part: what is asked sees the rows of the one that this meter is for.
            asked = self._through >> asked
        made: Measurement = asked
        self._admit(made)
        return made

    def _admit(self, asked: Measurement) -> None:
        if asked.input_space.domain != self._space.domain:
            raise DomainMismatch("the meter", self._space.domain, "the measurement", asked.input_space.domain)
        if asked.input_space.metric != self._space.metric:
            raise MetricMismatch("the meter", self._space.metric, "the measurement", asked.input_space.metric)

    def _is_settled(self, asked: Measurement) -> bool:
        try:
            self._settled(Itself(asked))
        except _MayChange:
            return False  # not remembered: nothing is held of it
        return True

    def _facts(self, asked: Measurement, d_in: Any) -> Facts:
        if self._is_settled(asked):
            return self._known_facts(Itself(asked), d_in)
        return Facts.of(asked, d_in)

    def _cost(self, asked: Measurement, scope: Scope) -> Cost:
        charging = _Charging.of(scope, convert=self._convert)
        known = self._is_settled(asked)
        loss = self._known_loss(Itself(asked), charging) if known else _loss(asked, charging)
        part = None if scope.terms.parts is None else self._part
        return Cost(scope.name, loss, part, self._neighborhood, scope.terms.d_in)

    def __repr__(self) -> str:
        return f"<data under {', '.join(self._scopes)} of {self._ledger!r}>"

    def _refuse_to_copy(self, *_: Any) -> Any:
        raise QueryableError("a meter cannot be copied or pickled: it holds data")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse_to_copy


class _MayChange(Exception):  # it is no error, and ends here
    """A measurement holds something that may change."""


def _require_settled(asked: Itself) -> None:
    if not is_settled(asked.value):
        raise _MayChange


@dataclass(frozen=True, slots=True)
class _Charging:
    """All of a scope that decides how much is charged to it."""

    scope: str
    terms: Terms
    """Without its parts: they say where it is charged, and not how much."""
    measure: Measure
    convert: bool
    """Whether losses of other measures are converted."""

    @classmethod
    def of(cls, scope: Scope, *, convert: bool) -> _Charging:
        return cls(scope.name, replace(scope.terms, parts=None), scope.measure, convert)


def _loss(asked: Measurement, charging: _Charging) -> Loss:
    """What a measurement costs a scope."""
    terms, measure = charging.terms, charging.measure
    count_as = terms.counting.count_as
    if count_as is not None:
        counted = count_as(asked)
    elif asked.measure == measure:
        counted = asked
    else:
        way = convertible(asked.measure, measure)
        if not charging.convert or way is None or way:
            how = "" if way is None else f"convert it, measurement.to({measure!r}{way})"
            hint = how or f"no theorem converts it; define a scope in {asked.measure!r}"
            raise MeasureMismatch(f"the scope {charging.scope!r}", measure, "the measurement", asked.measure, hint)
        counted = asked.to(measure)
    return read_cost(counted.map(terms.d_in))


def replayed(ledger: Ledger, request: Request) -> Release:
    """What was stored for a request; AnswerLost if nothing was, SealedError if it failed then."""
    answers = ledger.stored(request)
    if request.settled is None or not answers:
        raise AnswerLost(request.key, request.reserved, ledger.time_of(request.reserved))
    return _opened(answers[0], request, Replay(answers[1:]), replayed=True)


def _opened(stored: StoredAnswer, request: Request, spawned: Recorder | Replay, *, replayed: bool) -> Release:
    if stored.content is None:
        failed = SealedError()
        failed.add_note(STAYS)
        raise failed
    value = decode(stored.content, find=spawned.find)
    return Release(value, stored.content, request.reserved, stored.seq, replayed)


def _digest_of(facts: Facts, identity: str) -> str:
    """What a request is known by, beside its costs."""
    return digest(canonical([identity, facts.shown, facts.described.text, facts.explained]))


def _require_known(described: Described) -> None:
    if described.unknown:
        raise ParameterError(
            f"key: the measurement holds an object of type {described.unknown[0]}, which shows nothing but its "
            "address, so that the same question could not be known again; say what it is, identity='...', or leave "
            "key= out"
        )


def _certificate(measurement: Measurement, d_in: Any) -> str | None:
    """The certificate of a charge; None where a part of its proof cannot be written down."""
    try:
        return measurement.certificate(d_in).text
    except ViameterError:
        return None
