"""How budgets were spent: what every entry left of a scope, step by step, and pictures of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal

from viameter.arith import show
from viameter.core import Loss
from viameter.errors import ParameterError, UnknownScope, plain
from viameter.ledger.book import read_time
from viameter.ledger.ledger import Ledger
from viameter.ledger.renewal import BY_CALENDAR
from viameter.ledger.scopes import Scope, Terms
from viameter.measures import loss_from_json
from viameter.measures.amounts import AmountLoss
from viameter.viz import Burndown, draw_burndown
from viameter.viz.burndown import Place

Kind = Literal["define", "charge", "budget", "renew", "closed"]
Over = Literal["charges", "time"]
Progress = Callable[[int, int], None]
"""Told how many entries were read, of how many."""

LONG = timedelta(days=1)
"""From here on, it matters when something was charged, and not only in which order."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that changed a scope, and how it stood afterwards."""

    seq: int
    """The entry; that of the next change, if the calendar started the budget over in between."""
    at: datetime
    kind: Kind
    scope: Scope

    @property
    def share(self) -> Fraction:
        """How much of the budget was spent, from 0 to 1."""
        return share(self.scope.spent, self.scope.cap)


def steps(
    ledger: Ledger,
    names: Collection[str] | None = None,
    *,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> dict[str, tuple[Step, ...]]:
    """What happened to each scope, in order: all of them, or those that are named.

    States are taken from the entries as they were written (`verify` adds them up anew), and have no amounts by part.

    >>> import viameter as vm
    >>> from viameter.ledger import in_memory
    >>> book = in_memory()
    >>> scope = book.define("visits", vm.pure(1), vm.SymmetricDistance())
    >>> reserved = book.reserve(vm.pure("1/10"), scopes=["visits"], key="a")
    >>> [(step.kind, step.scope.spent) for step in steps(book)["visits"]]
    [('define', pure(0)), ('charge', pure(1/10))]
    """
    last = ledger.head.seq
    found: dict[str, list[Step]] = {}
    for entry in ledger.entries(1, last):
        record = entry.record
        for name in record["states"]:
            if names is None or name in names:
                known = found.setdefault(name, [])
                at = read_time(record["at"])
                if known:
                    at = max(at, known[-1].at)  # a clock that was put back does not make a curve go back
                    known += _started_over(known[-1], entry.seq, at)
                known.append(_step(record, name, known, at))
        if progress is not None:
            progress(entry.seq, last)
    today = datetime.now(UTC) if now is None else now
    for name in names or ():
        if name not in found:
            raise UnknownScope(name, tuple(scope.name for scope in ledger.scopes()))
    for known in found.values():
        known.extend(_started_over(known[-1], known[-1].seq, max(today, known[-1].at)))
    return {name: tuple(found[name]) for name in sorted(found)}


def _step(record: Mapping[str, Any], name: str, known: Sequence[Step], at: datetime) -> Step:
    """How an entry left a scope."""
    kind, seq = record["kind"], record["seq"]
    terms = record["terms"] if kind == "define" else record.get("opens", {}).get(name)
    if terms is not None:
        return Step(seq, at, "define", Scope.defined(name, Terms.from_json(terms), at))
    before = known[-1].scope
    if kind == "budget":
        return Step(seq, at, "budget", before.with_budget(loss_from_json(record["budget"])))
    if kind == "renew":
        return Step(seq, at, "renew", before.renewed())
    if kind == "restore":
        return Step(seq, at, "closed", before.closed())
    (cost,) = (cost for cost in record["costs"] if cost["scope"] == name)
    return Step(seq, at, "charge", replace(before, spent=loss_from_json(cost["spent"])))


def _started_over(last: Step, seq: int, now: datetime) -> list[Step]:
    """The step between two entries at which the calendar started a budget over, if it did."""
    after = last.scope.at(now)
    if after == last.scope:
        return []
    assert after.terms.renews is not None
    return [Step(seq, min(next_start(after.terms.renews, last.at), now), "renew", after)]


def next_start(policy: str, at: datetime) -> datetime:
    """When the period after that of a time begins.

    >>> next_start("quarter", datetime(2026, 5, 4, tzinfo=UTC)).isoformat()
    '2026-07-01T00:00:00+00:00'
    """
    here = at.astimezone(UTC)
    if policy in ("day", "week"):
        days = 1 if policy == "day" else 7 - here.weekday()
        return datetime(here.year, here.month, here.day, tzinfo=UTC) + timedelta(days=days)
    months = {"month": 1, "quarter": 3, "year": 12}[policy]
    first = (here.month - 1) // months * months + months
    return datetime(here.year + first // 12, first % 12 + 1, 1, tzinfo=UTC)


def share(spent: Loss, cap: Loss) -> Fraction:
    """How much of a budget was spent, from 0 to 1: by the number of it, or the order, that is nearest to its end.

    >>> import viameter as vm
    >>> share(vm.pure("1/10"), vm.pure(1)), share(vm.approx(0, "1e-6"), vm.approx(1, "1e-6"))
    (Fraction(1, 10), Fraction(1, 1))
    """
    return max(_shares(spent, cap), default=Fraction(1))  # of nothing, all is spent


def share_left(left: Loss, cap: Loss) -> Fraction:
    """How much of a budget is left, from 0 to 1: by the number of it, or the order, that is nearest to its end.

    >>> import viameter as vm
    >>> share_left(vm.approx(3, "1e-6"), vm.approx(4, "1e-6"))
    Fraction(3, 4)
    """
    return min(_shares(left, cap), default=Fraction(0))


def _shares(part: Loss, cap: Loss) -> list[Fraction]:
    """What part of a budget a loss is, by each number of it that is above 0, or at each order."""
    if isinstance(cap, AmountLoss):
        pairs = [(getattr(part, name), getattr(cap, name)) for name in cap.names]
    else:
        pairs = [(part.at(order), bound) for order, bound in cap.points]  # type: ignore[attr-defined]
    return [Fraction(amount) / Fraction(limit) for amount, limit in pairs if limit > 0]


def plot_burndown(
    ledger: Ledger,
    scope: str | Sequence[str] | None = None,
    ax: Any = None,
    *,
    over: Over | None = None,
    now: datetime | None = None,
) -> Any:
    """What was spent of a scope, of several, or of all, under their budgets, as a figure of matplotlib.

    From left to right are charges or times (`over`); if that is left out, times where it went on for longer than a day.
    `ax` are axes to draw one scope on. `figure.savefig("burndown.png")` keeps it.

    >>> import viameter as vm
    >>> from viameter.ledger import in_memory
    >>> book = in_memory()
    >>> defined = book.define("visits", vm.zcdp("1/2"), vm.SymmetricDistance())
    >>> figure = plot_burndown(book, "visits")
    """
    if over not in (None, "charges", "time"):
        raise ParameterError(f"over={plain(over)}: expected 'charges' or 'time'")
    names = None if scope is None else [scope] if isinstance(scope, str) else list(scope)
    today = datetime.now(UTC) if now is None else now
    found = steps(ledger, names, now=today)
    if not found:
        raise ParameterError(f"{ledger!r} has no scopes yet, of which something could be drawn")
    chosen = over or chosen_axis(found.values())
    ordered = {name: found[name] for name in names} if names is not None else found
    panels = [burndown_of(name, made, chosen, today) for name, made in ordered.items()]
    return draw_burndown(panels, over="charges, in order" if chosen == "charges" else "time (UTC)", axes=ax)


def chosen_axis(found: Collection[Sequence[Step]]) -> Over:
    """What is best from left to right: times, if the calendar matters or it went on for long; else charges."""
    times = [step.at for made in found for step in made if step.kind != "define"]
    calendar = any(made[-1].scope.terms.renews in BY_CALENDAR for made in found)
    return "time" if times and (calendar or max(times) - min(times) > LONG) else "charges"


def burndown_of(name: str, made: Sequence[Step], over: Over, today: datetime) -> Burndown:
    """The steps of a scope in plain numbers, to be drawn."""
    places: Sequence[Place] = _places(made) if over == "charges" else [step.at for step in made]
    last = made[-1].scope
    level = _level_of(last)
    budget: list[tuple[Place, float]] = []
    labels: list[str] = []
    for place, step in zip(places, made, strict=True):
        if step.kind in ("define", "budget"):
            budget.append((place, level(step.scope.cap, step.scope.cap)))
            labels.append(f"budget {_amount(step.scope.cap)}")
    charges = sum(step.kind == "charge" for step in made)
    counted = "" if last.cap == last.budget else f", counted in {last.measure!r}"
    lifetime = f"; {last.lifetime!r} in its lifetime" if last.terms.renews else ""
    end: Any = max(today, made[-1].at) if over == "time" else max(charges, 1) + 0.5
    if over == "time" and made[0].at == end:
        end += timedelta(seconds=1)
    levels = [(x, level(step.scope.spent, step.scope.cap)) for x, step in zip(places, made, strict=True)]

    def at(kind: Kind) -> list[tuple[Place, float]]:
        return [where for where, step in zip(levels, made, strict=True) if step.kind == kind]

    return Burndown(
        name=name,
        under=f"{last.spent!r} of {last.cap!r} spent ({percent(made[-1].share)}), {counted_charges(charges)}"
        f"{counted}{lifetime}\nfor {last.terms.neighborhood}",
        unit=_unit(last),
        spent=levels,
        budget=budget,
        labels=labels,
        charges=at("charge"),
        renewals=[x for x, _ in at("renew")],
        closed=at("closed"),
        end=end,
    )


def _places(made: Sequence[Step]) -> list[float]:
    """Charges at 1, 2, 3 and so on; what happened between two of them between their numbers."""
    found, charges = [], 0
    for step in made:
        charges += step.kind == "charge"
        found.append(float(charges) if step.kind in ("charge", "define") else charges + 0.5)
    return found


HIGHEST = Fraction(10**15)
"""Where pictures end."""


def height_of(amount: Any) -> float:
    """An amount as a place in a picture: what is beyond all reason is drawn at its edge, and not an error."""
    return float(min(amount, HIGHEST))


def _level_of(scope: Scope) -> Callable[[Loss, Loss], float]:
    """A loss as a height: its number where it is one, else the share of the budget in percent."""
    if isinstance(scope.cap, AmountLoss) and len(scope.cap.names) == 1:
        (name,) = scope.cap.names
        return lambda spent, cap: height_of(getattr(spent, name))
    return lambda spent, cap: 100 * float(share(spent, cap))


def _unit(scope: Scope) -> str:
    if isinstance(scope.cap, AmountLoss) and len(scope.cap.names) == 1:
        return f"{scope.cap.names[0]} in {scope.measure!r}"
    return "percent of the budget"


def _amount(cap: Loss) -> str:
    if isinstance(cap, AmountLoss) and len(cap.names) == 1:
        return show(getattr(cap, cap.names[0]))
    return repr(cap)


def percent(part: Fraction) -> str:
    """A share of a budget, rounded so that 0 and 100 percent are exact.

    >>> percent(Fraction(1, 3)), percent(Fraction(1, 10**6)), percent(1 - Fraction(1, 10**6)), percent(Fraction(1))
    ('33 %', 'under 1 %', 'over 99 %', '100 %')
    """
    if 0 < part < Fraction(1, 100):
        return "under 1 %"
    if Fraction(99, 100) < part < 1:
        return "over 99 %"
    return f"{round(100 * part)} %"


def counted_charges(count: int) -> str:
    """How many charges, in words."""
    return "1 charge" if count == 1 else f"{count} charges"
