"""Scopes: budgets by name, each in one measure and for one neighborhood; what was charged to them, and what is left.

A scope is a filter whose state is kept: whatever is asked, by whomever, in whichever process, all that is ever charged
to it composes to at most its budget (`privacy-filter`). States are values; a charge makes a new one, or is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from viameter.arith import Extended, exact, read_written, write
from viameter.composition.counting import Counting
from viameter.composition.filters import count_by
from viameter.core import Loss, Measure, Metric, Space
from viameter.core.composability import CONCURRENT, FULLY_ADAPTIVE, require_cell
from viameter.errors import LedgerError, MeasureMismatch, OverBudget, ParameterError, plain
from viameter.ledger.parts import WHOLE, Parts
from viameter.ledger.renewal import BY_CALENDAR, ON_NEW_ROWS, first_period, next_batch, period_of, read_policy
from viameter.measures import loss_from_json
from viameter.measures.records import MEASURES
from viameter.neighborhood import Granularity
from viameter.neighborhood.claims import GRANULARITY_OF
from viameter.spaces import SymmetricIdDistance

LONGEST_NAME = 200


_WRITTEN = {
    f"{kind.__name__}()": repr(granularity)
    for kind, granularity in GRANULARITY_OF.items()
    if kind is not SymmetricIdDistance  # which names a column
}
"""Metrics without parameters as text, with the granularities that they are of."""


def describe_neighborhood(given: Any) -> str:
    """What a budget is stated for, as the text that scopes and charges are compared by.

    A granularity, a metric, a space with one, or such a text itself.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> describe_neighborhood(vm.SymmetricDistance()), describe_neighborhood(nb.unbounded())
    ('unbounded()', 'unbounded()')
    >>> describe_neighborhood(vm.SymmetricIdDistance("patient"))
    "SymmetricIdDistance(id='patient')"
    """
    if isinstance(given, Space):
        given = given.metric
    if isinstance(given, Metric):
        known = GRANULARITY_OF.get(type(given))
        # Metrics with parameters (whose rows they speak of) are themselves: a granularity does not name the column.
        bare = known is not None and repr(given) == f"{type(given).__name__}()"
        return repr(known) if bare else repr(given)
    if isinstance(given, Granularity):
        return repr(given)
    if isinstance(given, str) and given.strip():
        # A metric that is a granularity's own, written out, is that granularity.
        return _WRITTEN.get(given.strip(), given.strip())
    raise ParameterError(
        f"of={plain(given)} does not say what neighbors are: expected a granularity such as unbounded(), the space or "
        "metric of the data, or its text as the ledger shows it"
    )


@dataclass(frozen=True, slots=True)
class Terms:
    """What a scope was defined with."""

    budget: Loss
    neighborhood: str
    d_in: Extended = Fraction(1)
    rule: str | None = None
    """How losses compose; None for the sum, or whatever else the measure itself has."""
    slack: Fraction | None = None
    parts: Parts | None = None
    renews: str | None = None
    parent: str | None = None
    """The scope that paid for this one when it was made: what is charged here was charged there as a whole."""
    drawn: str | None = None
    """What was settled when it was made, once for all who use it: a random choice, say, or which rows it is for."""

    @classmethod
    def read(
        cls,
        budget: Any,
        neighborhood: Any,
        *,
        d_in: Any = 1,
        rule: str | None = None,
        slack: Any = None,
        parts: Any = None,
        renews: Any = None,
        parent: str | None = None,
        drawn: str | None = None,
    ) -> Terms:
        """Terms as a person gives them."""
        limit = read_budget(budget)
        distance = exact(d_in, name="d_in")
        if distance <= 0:
            raise ParameterError(f"d_in={plain(d_in)}: a budget is for data some distance apart, above 0")
        counting = count_by(rule, distance, limit, slack)
        made = None if parts is None else Parts.read(parts, counting.cap.measure)
        text = describe_neighborhood(neighborhood)
        if made is not None and text != describe_neighborhood(made.made_granularity):
            raise ParameterError(
                f"parts: they are of {made.made_granularity!r}, and the budget is stated for {text}: both must agree"
            )
        if made is not None and distance != 1:
            raise ParameterError("parts: their touch patterns are those of one step; leave d_in out")
        return cls(limit, text, distance, rule, counting.slack, made, read_policy(renews), parent, drawn)

    def to_json(self) -> dict[str, Any]:
        """The terms as plain JSON values."""
        return {
            "budget": self.budget.to_json(),
            "neighborhood": self.neighborhood,
            "d_in": write(self.d_in),
            "rule": self.rule,
            "slack": None if self.slack is None else write(self.slack),
            "parts": None if self.parts is None else self.parts.to_json(),
            "renews": self.renews,
            "parent": self.parent,
            "drawn": self.drawn,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Terms:
        """Read terms that `to_json` wrote."""
        slack = None if record["slack"] is None else read_written(record["slack"], name="slack")
        d_in = read_written(record["d_in"], name="d_in")
        kept = ("rule", "parts", "renews", "parent", "drawn")
        budget = loss_from_json(record["budget"])
        return cls.read(budget, record["neighborhood"], d_in=d_in, slack=slack, **{name: record[name] for name in kept})

    @property
    def counting(self) -> Counting:
        """In which measure charges are counted, up to what, and by which theorem the budget follows."""
        return count_by(self.rule, self.d_in, self.budget, self.slack)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a request costs one scope: a loss, for data as far apart as the scope says, in one part or in all."""

    scope: str
    loss: Loss
    part: str | None = None
    neighborhood: str | None = None
    """What the loss is stated for; None for whatever the scope is, at the word of whoever asks."""
    d_in: Extended | None = None

    def to_json(self) -> dict[str, Any]:
        """The cost as plain JSON values."""
        return {"scope": self.scope, "loss": self.loss.to_json(), "part": self.part}


_ZEROS = {type(measure.zero): measure.zero for measure in MEASURES.values()}
"""The library's own kinds of losses, each with the least one."""


def read_cost(loss: Any, what: str = "cost") -> Loss:
    """A loss that can be charged: one of the library's own, finite, and what its numbers say it is."""
    if not isinstance(loss, Loss):
        raise ParameterError(f"{what}={plain(loss)} is not a loss: expected e.g. zcdp('1/100')")
    zero = _ZEROS.get(type(loss))
    if zero is None:
        # Also classes that derive from the library's: what such a loss says of itself may be anything.
        raise ParameterError(f"{what}: {type(loss).__name__} is no loss of this library, and cannot be read back later")
    try:
        read = loss_from_json(loss.to_json())
        fits = read.is_finite and zero <= read
    except Exception:  # whatever was put into its fields
        raise ParameterError(f"{what}: a loss of {zero.measure!r} that cannot be written down and read back") from None
    if not fits:
        raise ParameterError(f"{what}={read!r}: expected a finite loss of at least 0")
    return read


def read_budget(budget: Any) -> Loss:
    """A budget that can be kept."""
    return read_cost(budget, "budget")


def read_name(name: Any, what: str = "scope") -> str:
    """A name of a scope, a person or a key, which is shown in tables and files."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise ParameterError(
            f"{what}={plain(name)} is no name: expected 1 to {LONGEST_NAME} characters that can be seen"
        )
    return name


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope as it stands: its terms and what was charged to it. A value: it does not change when more is charged."""

    name: str
    terms: Terms
    cap: Loss
    """What may be spent, in the measure that is counted in: the budget itself, unless a rule says otherwise."""
    spent: Loss
    """What was spent in this period, by the costliest touch pattern if there are parts."""
    earlier: Loss
    """What was spent in earlier periods."""
    period: str = ""
    by_part: Mapping[str, Loss] = field(default_factory=dict)
    """What was charged to each part in this period; under "" what was charged to all."""
    seq: int = 0
    """The entry that last changed it."""
    lost: str | None = None
    """The period in which entries of it were lost, if any were: what was really spent by then is not known."""

    @classmethod
    def defined(cls, name: str, terms: Terms, now: datetime) -> Scope:
        """A scope to which nothing was charged yet."""
        cap = terms.counting.cap
        zero = cap.measure.zero
        return cls(read_name(name), terms, cap, zero, zero, first_period(terms.renews, now))

    @property
    def budget(self) -> Loss:
        """What all that is charged in a period costs at most."""
        return self.terms.budget

    @property
    def measure(self) -> Measure:
        """What charges are counted in."""
        return self.cap.measure

    @property
    def left(self) -> Loss:
        """What is left in this period, in the measure that is counted in."""
        return self.cap.left_after(self.spent)

    @property
    def lifetime(self) -> Loss:
        """What was ever spent, in all periods together; infinite if entries were lost, since then nobody knows."""
        return self.counted if self.lost is None else self.measure.infinite

    @property
    def counted(self) -> Loss:
        """What the entries that are there add up to, in all periods together."""
        return self.earlier + self.spent

    @property
    def interleaves(self) -> bool:
        """Whether interactive measurements may be asked side by side in its measure."""
        return require_cell(self.measure, FULLY_ADAPTIVE)[1].composability is CONCURRENT

    def charged(self, cost: Cost, now: datetime) -> Scope:
        """The scope after a charge; OverBudget, or why the cost is none of this scope. Nothing is changed."""
        current = self.at(now)
        loss = read_cost(cost.loss)
        if loss.measure != self.measure:
            hint = f"give the cost in {self.measure!r}, as by loss.to(...) or measurement.to(...)"
            raise MeasureMismatch(f"the scope {self.name!r}", self.measure, "the cost", loss.measure, hint)
        if cost.neighborhood is not None and cost.neighborhood != self.terms.neighborhood:
            raise ParameterError(
                f"the scope {self.name!r} is stated for {self.terms.neighborhood}, and the cost for "
                f"{cost.neighborhood}: losses for different neighbors do not add up"
            )
        if cost.d_in is not None and cost.d_in != self.terms.d_in:
            raise ParameterError(
                f"the scope {self.name!r} is stated for data {write(self.terms.d_in)} apart, and the cost for "
                f"{write(cost.d_in)}: give the loss for that distance"
            )
        if self.terms.parts is None:
            if cost.part is not None:
                raise ParameterError(f"part={plain(cost.part)}: the scope {self.name!r} has no parts")
            by_part: Mapping[str, Loss] = {}
            after = current.spent + loss
        else:
            part = self.terms.parts.find(cost.part)
            before = current.by_part.get(part, self.measure.zero)
            by_part = {**current.by_part, part: before + loss}
            after = self.terms.parts.worst(by_part, self.measure)
        if not (after.is_finite and after <= self.cap):
            raise OverBudget(
                spent=current.spent,
                asked=loss,
                left=current.left,
                budget=self.cap,
                after=after if cost.part is not None else None,
                scope=self.name,
            )
        return replace(current, spent=after, by_part=by_part)

    def at(self, now: datetime) -> Scope:
        """The scope at a time: in a new period if the calendar renews it; a clock that goes back changes nothing."""
        if self.terms.renews not in BY_CALENDAR:
            return self
        period = period_of(self.terms.renews, now)
        return self._in_period(period) if period > self.period else self

    def renewed(self) -> Scope:
        """The scope after new rows have arrived."""
        if self.terms.renews != ON_NEW_ROWS:
            kind = "never does" if self.terms.renews is None else f"does so every {self.terms.renews}"
            raise ParameterError(
                f"the scope {self.name!r} does not start over when new rows arrive: it {kind}. A scope that does is "
                "defined with renews='rows'"
            )
        return self._in_period(next_batch(self.period))

    def _in_period(self, period: str) -> Scope:
        return replace(self, earlier=self.counted, spent=self.measure.zero, by_part={}, period=period)

    def with_budget(self, budget: Loss) -> Scope:
        """The scope with another budget: what was spent must fit into it."""
        read = read_budget(budget)
        if read.measure != self.budget.measure:
            hint = f"give it in {self.budget.measure!r}; another measure is another scope"
            raise MeasureMismatch(f"the scope {self.name!r}", self.budget.measure, "the budget", read.measure, hint)
        if self.lost == self.period:
            # The budget may have been raised, and more been spent, by entries that are gone.
            raise LedgerError(
                f"entries of {self.name!r} were lost, and nobody knows what was spent of it: it stays closed"
                f"{'' if self.terms.renews is None else ' until it starts over'}. A new scope, under another name, is "
                "a new promise"
            )
        if self.terms.parent is not None and not read <= self.budget:
            raise LedgerError(
                f"the scope {self.name!r} is a share that {self.terms.parent!r} has paid for: it is not raised without "
                "being paid for. Raise the budget of those who pay, and make another share"
            )
        terms = replace(self.terms, budget=read)
        cap = terms.counting.cap
        if not self.spent <= cap:
            raise ParameterError(
                f"budget={read!r}: of {self.name!r}, {self.spent!r} was spent already; a budget cannot be lowered below"
            )
        return replace(self, terms=terms, cap=cap)

    def closed(self) -> Scope:
        """The scope with all of its budget spent, on every part: what was lost may have been any of it, and more."""
        parts = {} if self.terms.parts is None else {WHOLE: self.cap}
        return replace(self, spent=self.cap, by_part=parts, lost=self.period)

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values."""
        return {
            "name": self.name,
            "terms": self.terms.to_json(),
            "cap": self.cap.to_json(),
            "spent": self.spent.to_json(),
            "earlier": self.earlier.to_json(),
            "period": self.period,
            "by_part": {part: loss.to_json() for part, loss in self.by_part.items()},
            "lost": self.lost,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], seq: int) -> Scope:
        """Read a state that `to_json` wrote."""
        return cls(
            name=record["name"],
            terms=Terms.from_json(record["terms"]),
            cap=loss_from_json(record["cap"]),
            spent=loss_from_json(record["spent"]),
            earlier=loss_from_json(record["earlier"]),
            period=record["period"],
            by_part={part: loss_from_json(loss) for part, loss in record["by_part"].items()},
            seq=seq,
            lost=record["lost"],
        )

    def __repr__(self) -> str:
        ever = f", {self.lifetime!r} in its lifetime" if self.terms.renews or self.lost is not None else ""
        return f"<scope {self.name!r}: {self.spent!r} of {self.cap!r} spent for {self.terms.neighborhood}{ever}>"
