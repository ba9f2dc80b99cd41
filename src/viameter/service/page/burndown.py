"""A picture of what was left of a budget, step by step, as SVG; and the same numbers as a table.

It shows what a person may read: every charge, or their own; either way the last step is how the budget stands now.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

from markupsafe import Markup

from viameter.core import Loss
from viameter.ledger import Ledger, Line, Outcome, Scope, with_outcomes
from viameter.ledger.chain import Entry
from viameter.ledger.lines import entries_back, line_of
from viameter.ledger.plots import height_of, share
from viameter.measures import loss_from_json
from viameter.measures.amounts import AmountLoss
from viameter.service.access import Action
from viameter.service.api.datasets import may_read
from viameter.service.api.needing import Visit

MOST_ENTRIES = 500
"""How many entries back are read."""
MOST_POINTS = 300
"""How many steps are drawn; of more, every second or third is left out."""
MOST_ROWS = 50
"""How many steps the table has: the last ones."""
WIDTH, HEIGHT = 760, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 22, 34
LONG = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Point:
    """How a budget stood after an entry."""

    at: datetime
    what: str
    entry: int | None
    left: Loss
    budget: Loss
    height: float
    """What is left, as a number: of the measure, or in percent of the budget."""
    top: float
    """The budget, in the same."""
    outcome: str | None = None
    """What came of a charge."""

    @property
    def is_unanswered(self) -> bool:
        """Whether it was charged, and there is no answer and will be none."""
        return self.outcome in ("failed", "lost")


@dataclass(frozen=True, slots=True)
class Burndown:
    """The picture, and what is in it."""

    svg: Markup
    points: Sequence[Point]
    """The last steps, the newest first."""
    partial: bool
    """Whether older entries were left out."""
    own_only: bool
    """Whether charges of others are left out."""
    unit: str

    @property
    def has_unanswered(self) -> bool:
        """Whether a charge is among them that has no answer, and will have none."""
        return any(point.is_unanswered for point in self.points)


def burndown_of(visit: Visit, dataset: str, scope: Scope) -> Burndown | None:
    """What was left of a dataset's budget, as far as this person may read it; None while nothing was charged."""
    steps, partial = last_steps(visit.service.ledger, dataset)
    states = _states(scope, [step for step in steps if may_read(visit, step.line)])
    if all(state.what != "charge" for state in states):
        return None
    unit = _unit(scope)
    points = [_point(scope, state, visit.service.desk.outcome) for state in states]
    return Burndown(
        draw(thinned(points, MOST_POINTS), unit=unit, said=_said(points)),
        points[-MOST_ROWS:][::-1],
        partial,
        not visit.may(Action.READ_ALL),
        unit,
    )


@dataclass(frozen=True, slots=True)
class Step:
    """An entry, as far as it is drawn."""

    line: Line
    budget: Loss | None
    """The budget from here on, if it is another one."""
    before: Loss | None
    """The budget that it took the place of."""


_READ: WeakKeyDictionary[Ledger, dict[str, tuple[tuple[Step, ...], bool]]] = WeakKeyDictionary()
"""What was read of ledgers that are open. Entries do not change, so that only new ones are read; what came of a charge
is looked up again until it is settled."""


def last_steps(ledger: Ledger, dataset: str) -> tuple[tuple[Step, ...], bool]:
    """The last entries of a dataset, in order, and whether there are older ones."""
    known, partial = _READ.setdefault(ledger, {}).get(dataset, ((), False))
    newest = known[-1].line.seq if known else 0
    fresh: list[Step] = []
    for entry in entries_back(ledger, dataset):
        if entry.seq <= newest:
            break
        if len(fresh) == MOST_ENTRIES:
            partial = True
            break
        fresh.append(_step(entry))
    found = (*known, *reversed(fresh))
    kept = _with_outcomes(ledger, found[-MOST_ENTRIES:]), partial or len(found) > MOST_ENTRIES
    _READ[ledger][dataset] = kept
    return kept


def _with_outcomes(ledger: Ledger, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps, with what came of those charges of which it was not known yet."""
    asked = [step.line for step in steps if step.line.outcome in (None, Outcome.UNSETTLED)]
    known = {line.seq: line for line in with_outcomes(ledger, asked)}
    return tuple(replace(step, line=known.get(step.line.seq, step.line)) for step in steps)


def _step(entry: Entry) -> Step:
    record, line = entry.record, line_of(entry)
    if line.kind == "define":
        return Step(line, loss_from_json(record["terms"]["budget"]), None)
    if line.kind == "budget":
        return Step(line, loss_from_json(record["budget"]), loss_from_json(record["was"]))
    return Step(line, None, None)


@dataclass(frozen=True, slots=True)
class State:
    """A budget after an entry: what was spent, and of how much."""

    at: datetime
    what: str
    line: Line | None
    spent: Loss
    cap: Loss


def _states(scope: Scope, steps: Sequence[Step]) -> list[State]:
    """The states from the oldest entry that was read, and how things stand now."""
    zero = scope.cap.measure.zero
    cap, spent = _first_cap(scope, steps), zero
    found: list[State] = []
    for step in steps:
        line = step.line
        if step.budget is not None:
            cap = _counted(scope, step.budget)
        if line.kind in ("define", "renew"):
            spent = zero
        elif line.kind == "restore":
            spent = cap
        elif line.costs:
            spent = next(after for name, _, _, after in line.costs if name == scope.name)
        at = datetime.fromisoformat(line.at)
        if found:
            at = max(at, found[-1].at)  # a clock that was put back does not make the line go back
        found.append(State(at, WORDS.get(line.kind, line.kind), line, spent, cap))
    now = max([datetime.now(UTC), *(state.at for state in found[-1:])])
    return [*found, State(now, "now", None, scope.spent, scope.cap)]


WORDS = {
    "define": "first budget",
    "budget": "budget changed",
    "renew": "started over",
    "restore": "closed: entries were lost",
    "reserve": "charge",
}


def _first_cap(scope: Scope, steps: Sequence[Step]) -> Loss:
    """The budget that held when the oldest entry that was read was written."""
    for step in steps:
        if step.budget is not None:
            return _counted(scope, step.before or step.budget)
    return scope.cap


def _counted(scope: Scope, budget: Loss) -> Loss:
    """A budget in the measure that is counted in: that of datasets is their own."""
    return budget if budget.measure == scope.measure else scope.cap


def _point(scope: Scope, state: State, outcome_of: Callable[[Line], str | None]) -> Point:
    spent, cap, line = state.spent, state.cap, state.line
    left = cap.left_after(spent) if spent <= cap else cap.measure.zero
    height, top = 100 * float(1 - min(share(spent, cap), Fraction(1))), 100.0
    if _is_one_number(scope):
        (name,) = scope.cap.names  # type: ignore[attr-defined]
        height, top = height_of(getattr(left, name)), height_of(getattr(cap, name))
    entry, outcome = (None, None) if line is None else (line.seq, outcome_of(line))
    return Point(state.at, state.what, entry, left, cap, height, top, outcome)


def _said(points: Sequence[Point]) -> str:
    """The picture in a sentence."""
    charges = sum(point.what == "charge" for point in points)
    counts = ((word, sum(point.outcome == word for point in points)) for word in ("failed", "lost"))
    unanswered = "".join(f", {count} of them {word}" for word, count in counts if count)
    first, last = points[0], points[-1]
    return (
        f"From {first.at:%Y-%m-%d} to {last.at:%Y-%m-%d}, {charges} {'charge' if charges == 1 else 'charges'}"
        f"{unanswered}: {last.left!r} is left of {last.budget!r}."
    )


def _is_one_number(scope: Scope) -> bool:
    return isinstance(scope.cap, AmountLoss) and len(scope.cap.names) == 1


def _unit(scope: Scope) -> str:
    return str(scope.cap.names[0]) if _is_one_number(scope) else "percent"  # type: ignore[attr-defined]


def draw(shown: Sequence[Point], *, unit: str, said: str) -> Markup:
    """The steps as SVG; a cross stands where a charge has no answer. Colors are in the style sheet."""
    start, end = shown[0].at, shown[-1].at
    span = max((end - start).total_seconds(), 1.0)
    top = max([*(point.top for point in shown), 1e-300])
    # By time; or, where all was asked within moments, one step beside the other.
    even = len(shown) > 2 and (shown[-2].at - start).total_seconds() < span / 50

    def x(place: int) -> float:
        share_of_width = place / max(len(shown) - 1, 1) if even else (shown[place].at - start).total_seconds() / span
        return LEFT + share_of_width * (WIDTH - LEFT - RIGHT)

    def y(height: float) -> float:
        return HEIGHT - BOTTOM - height / top * (HEIGHT - TOP - BOTTOM)

    left_steps = _steps([(x(place), y(point.height)) for place, point in enumerate(shown)])
    budget_steps = _steps([(x(place), y(point.top)) for place, point in enumerate(shown)])
    area = f"{left_steps} L{x(len(shown) - 1):.1f},{y(0):.1f} L{x(0):.1f},{y(0):.1f} Z"
    parts = [_grid(y, top, unit), _times(start, end, even)]
    parts.append(Markup('<path class="left-area" d="{}"></path>').format(area))
    parts.append(Markup('<path class="budget-line" d="{}"></path>').format(budget_steps))
    parts.append(Markup('<path class="left-line" d="{}"></path>').format(left_steps))
    parts.append(_label("budget-text", WIDTH - RIGHT, y(shown[-1].top) - 6, "budget"))
    below = y(shown[-1].height) + 16
    fits = below < HEIGHT - BOTTOM - 4
    parts.append(_label("left-text", WIDTH - RIGHT, below if fits else y(shown[-1].height) - 7, "left"))
    parts += [
        Markup('<text class="unanswered" x="{:.1f}" y="{:.1f}" text-anchor="middle">\u00d7</text>').format(
            x(place), y(point.height) - 4
        )
        for place, point in enumerate(shown)
        if point.is_unanswered
    ]
    return Markup(
        '<svg class="chart burndown" viewBox="0 0 {} {}" role="img" aria-labelledby="burndown-title burndown-about">'
        '<title id="burndown-title">What is left of the budget</title><desc id="burndown-about">{}</desc>{}</svg>'
    ).format(WIDTH, HEIGHT, said, Markup("").join(parts))


def thinned(points: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the points: the first, the last, and those between at even distances."""
    if len(points) <= most:
        return list(points)
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def _steps(places: Sequence[tuple[float, float]]) -> str:
    """A line that stays at each height until the next place."""
    first, *rest = places
    return f"M{first[0]:.1f},{first[1]:.1f}" + "".join(f" H{x:.1f} V{y:.1f}" for x, y in rest)


def _grid(y: Any, top: float, unit: str) -> Markup:
    lines = []
    step = _round_step(top)
    for place in range(int(top / step * 1.000001) + 1):
        height = step * place
        kind = "axis" if place == 0 else "grid"
        lines.append(
            Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"></line>').format(
                kind, LEFT, WIDTH - RIGHT, y(height), y(height)
            )
        )
        shown = f"{height:.0f} %" if unit == "percent" else f"{height:.3g}"
        lines.append(_label("between" if place % 2 else "", LEFT - 8, y(height) + 4, shown))
    name = "of the budget" if unit == "percent" else unit
    lines.append(Markup('<text class="unit" x="{}" y="{}">{}</text>').format(4, TOP - 10, name))
    return Markup("").join(lines)


def _round_step(top: float) -> float:
    """How far lines of the grid are apart: 1, 2 or 5 of a power of ten, so that there are at most nine of them."""
    size = 10.0 ** math.floor(math.log10(top))
    return next(size * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (size * part) <= 8)


def _times(start: datetime, end: datetime, even: bool) -> Markup:
    form = "%Y-%m-%d" if end - start > LONG else "%m-%d %H:%M"
    base = HEIGHT - 12
    middle = "one step for each entry" if even else "time (UTC)"
    return Markup(
        '<text class="time" x="{}" y="{}">{}</text><text class="time" x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text class="time" x="{}" y="{}" text-anchor="end">now</text>'
    ).format(LEFT, base, start.astimezone(UTC).strftime(form), (LEFT + WIDTH) / 2, base, middle, WIDTH - RIGHT, base)


def _label(kind: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>').format(kind, x, y, text)
