"""Session: tables on an engine under a budget; every release of every question about them goes through here."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from viameter.core import Loss, Measure, Measurement, Space
from viameter.core.deadlines import GivenUp, stop_if_given_up
from viameter.errors import ParameterError, QueryableError, ViameterError, plain
from viameter.ledger import Ledger
from viameter.neighborhood import Guarantee
from viameter.tables.answer import Answer, Ranked, Receipt
from viameter.tables.collecting import Order, Progress, fresh_salt
from viameter.tables.cost import Cost
from viameter.tables.database import Database
from viameter.tables.engines import EngineTable, ready
from viameter.tables.expressions import Schema
from viameter.tables.planning import noise_kinds
from viameter.tables.plans import Plan, Setting, plan_of
from viameter.tables.preview import Preview, Standing
from viameter.tables.purse import LAST_RELEASE, Charged, LedgerPurse, Purse
from viameter.tables.question import Listed, Question
from viameter.tables.recent import Recent
from viameter.tables.relation import Relation
from viameter.tables.rows import Rows
from viameter.tables.steps import Source
from viameter.tables.units import Unit

if TYPE_CHECKING:
    from viameter.tables.showing.words import ShownTable

__all__ = ["Charged", "GivenUp", "Session"]


MOST_RELATIONS, MOST_PLANS, MOST_LARGE = 256, 128, 4
"""How many rows after steps and how many plans a session keeps, those that were asked for last; and large plans."""
LARGE = 20_000
"""Letters that keys have together in a large plan."""
MARGIN = 100
"""How many calls deeper than here a question may be run."""


class Sampling:
    """The secret by which `sample` chooses units: drawn once for what was opened, and written down nowhere."""

    __slots__ = ("_secret",)

    def __init__(self) -> None:
        self._secret = fresh_salt()

    def salt(self, place: int) -> str:
        """The salt of the sample that is so many steps behind another one: a sample of a sample is a smaller one."""
        return hmac.new(self._secret.encode(), str(place).encode(), hashlib.sha256).hexdigest()[:32]

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> NoReturn:
        raise ParameterError("what units are sampled by is secret, and is not copied or stored")


class Session:
    """Tables that were opened, whose presence answers hide, and the budget that all questions are charged to."""

    def __init__(
        self,
        source: Rows | Database,
        space: Space,
        unit: Unit,
        purse: Purse,
        *,
        relations: Mapping[str, Relation],
        order: Order,
        progress: Progress | None,
        sampling: Sampling | None = None,
        samples: int = 0,
    ) -> None:
        self.source = source
        self.space = space
        self.unit = unit
        self.purse = purse
        self.relations = relations
        """The tables by name, before any step; one that is alone has no name."""
        self.order: Order = order
        self.progress = Waiting(progress)
        self._sampling = sampling or Sampling()
        self.samples = samples
        """How many samples its tables are made of, before any step."""
        self._process = os.getpid()
        self._relations: Recent[Source, Relation] = Recent(MOST_RELATIONS)
        self._plans: Recent[Question, Plan[Any]] = Recent(MOST_PLANS)
        self._large: Recent[Question, Plan[Any]] = Recent(MOST_LARGE)

    def under(
        self,
        purse: Purse,
        *,
        source: Rows | None = None,
        space: Space | None = None,
        relations: Mapping[str, Relation] | None = None,
        samples: int = 0,
    ) -> Session:
        """A session of the same rows, or of a part of them, whose budget is a share of this one's, charged here."""
        return Session(
            source or self.source,
            space or self.space,
            self.unit,
            purse,
            relations=self.relations if relations is None else relations,
            order=self.order,
            progress=self.progress.tell,
            sampling=self._sampling,
            samples=self.samples + samples,
        )

    @cached_property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self.budget.measure

    def relation(self, source: Source) -> Relation:
        """Rows of a table after steps: the same object as long as it is kept."""
        return self._relations.get(source, lambda: self._relation(source))

    def _relation(self, source: Source) -> Relation:
        if not source.steps:
            if source.table not in self.relations:
                known = ", ".join(filter(None, self.relations)) or "one without a name"
                raise ParameterError(f"there is no table {plain(source.table)}; there are {known}")
            return self.relations[source.table]
        *before, step = source.steps
        first = Source(source.table, tuple(before))
        place = self.samples + first.samples
        return self.relation(first).after(step, other=self.relation, salt=lambda: self._sampling.salt(place))

    def plan(self, question: Question) -> Plan[Any]:
        """The plan of a question: the same object as long as it is kept, so that nothing is derived again."""
        is_large = isinstance(question.groups, Listed) and len(question.groups.keys.text) > LARGE
        return (self._large if is_large else self._plans).get(question, lambda: self._plan(question))

    def _plan(self, question: Question) -> Plan[Any]:
        setting = Setting(self.measure, self.order, self.progress)
        return plan_of(question, self.relation(question.source), setting)

    def schema(self, source: Source) -> Schema:
        """The columns of rows."""
        return self.relation(source).schema

    def check(self, question: Question) -> None:
        """Refuse a question that cannot be answered."""
        self.plan(question)

    def name(self, question: Question) -> str:
        """What a question is called in accounts."""
        return self.plan(question).name

    def preview(self, question: Question, cost: Cost) -> Preview:
        """What a question would cost; no row is read, and nothing is spent."""
        plan = self.plan(question)
        cost.require(plan.OPTIONS, plan.name)
        return replace(plan.preview(self, cost), question=plan.name)

    def release(self, question: Question, cost: Cost, *, key: str | None) -> Answer | Ranked:
        """Spend, run, and answer; with a ledger, the same question under the same key has the same answer."""
        plan = self.plan(question)
        cost.require(plan.OPTIONS, plan.name)
        LAST_RELEASE.set(None)
        answer: Answer | Ranked = plan.release(self, cost, key=key)
        released = LAST_RELEASE.get()
        if released is None:
            return answer
        return replace(answer, receipt=Receipt(key or "", released.reserved, released.replayed))

    def shown(self, source: Source, question: Question) -> ShownTable:
        """What a notebook shows of a table."""
        from viameter.tables.showing.words import shown_session

        return shown_session(self, self.relation(source), question.limits)

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.purse.budget

    @property
    def spent(self) -> Loss:
        """What was spent so far."""
        return self.purse.spent

    @property
    def left(self) -> Loss:
        """What is left to be spent."""
        return self.purse.left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay for a question here, each as it stands; the first is the one of these rows."""
        return self.purse.budgets

    @property
    def guarantee(self) -> Guarantee:
        """What all answers so far tell at most, and of whom; a budget that starts over does not make it less."""
        return Guarantee(self.purse.lifetime, self.unit.granularity)

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order; also what failed or was cancelled after it was charged."""
        return self.purse.history

    @property
    def ledger(self) -> Ledger | None:
        """Where it is charged, if that is a ledger."""
        return self.purse.ledger if isinstance(self.purse, LedgerPurse) else None

    @property
    def engine_tables(self) -> list[EngineTable]:
        """What is read, all of it on one engine."""
        return [rows.on for rows in (self.source.values() if isinstance(self.source, Database) else [self.source])]

    def fits(self, measurement: Measurement) -> bool:
        """Whether the budget would allow it."""
        return self.purse.fits(measurement)

    def compile(self, compiling: Callable[[], object]) -> None:
        """Make the queries of a question, or refuse it: nothing is charged, and no row is read."""
        try:
            _further_down(compiling, calls=MARGIN)
        except ViameterError:
            raise
        except Exception as error:
            raise ParameterError(
                f"the question cannot be compiled ({type(error).__name__}); nothing was charged: nest or derive less"
            ) from None

    def charge(
        self,
        measurement: Measurement,
        *,
        key: str | None = None,
        identity: Callable[[], str] = str,
        compiling: Callable[[], object] = bool,
    ) -> Any:
        """Charge a measurement, then run it: a refusal changes nothing, and what fails has been paid for.

        The engine is waited for, and made sure of, before anything is charged: else SourceUnavailable. `compiling` is
        called then, and still before: it makes the queries, and refuses those that cannot be run.

        With a ledger, `key` names the request, and `identity` tells what its text leaves out.
        """
        if os.getpid() != self._process:
            # An engine's threads and connections are not here: it would be charged, and never answer.
            raise QueryableError("a session does not survive a fork: open the table in this process; nothing was spent")
        if self.purse.knows(key):
            return self.purse.charge(measurement, key=key, identity=identity)  # no engine is needed to give it again
        with ready(self.engine_tables):
            self.compile(compiling)
            return self.purse.charge(measurement, key=key, identity=identity)


def _further_down(call: Callable[[], object], *, calls: int) -> None:
    """Call with less room for recursion: what is written for the engine here can be written wherever it runs."""
    if calls:
        _further_down(call, calls=calls - 1)
    else:
        call()


@dataclass(frozen=True, slots=True)
class Waiting:
    """Told about twice a second that a question still runs: says so, and stops it if its deadline has passed."""

    tell: Progress | None

    def __call__(self, text: str) -> None:
        """Tell, or stop."""
        stop_if_given_up()
        if self.tell is not None:
            self.tell(text)


def check_budget(budget: Any) -> None:
    """Refuse what is no budget, or one in a measure that questions cannot be answered in."""
    if not isinstance(budget, Loss):
        raise ParameterError(f"budget={plain(budget)} is not a loss: expected e.g. zcdp('1/2')")
    noise_kinds(budget.measure)
