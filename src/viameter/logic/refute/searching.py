"""The search for inputs that tell a program's runs apart: from small pairs upward, climbing where the loss grows."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from viameter.errors import NumberError, ParameterError
from viameter.logic.deadline import tick
from viameter.logic.exact import Budget, Effort, Output, Value, masses_of
from viameter.logic.lang.core import Call, Program, Sample, statements_of
from viameter.logic.lang.scales import Amount
from viameter.logic.neighbors import Neighbors
from viameter.logic.refute.candidates import Pair, numbers_in, pairs
from viameter.logic.refute.claims import budgets_for, cost_of, factor_of
from viameter.logic.refute.goals import is_wide, near, outputs_of
from viameter.logic.refute.judging import Judged, View, judged, judged_at, judged_at_delta
from viameter.logic.refute.moves import moves
from viameter.logic.refute.related import related

_BITS = 30
_STATES = 30_000
_STATES_TO_CONFIRM = 200_000
_GRACE = 1.0
_ALL_LISTS_UP_TO = 5
"""For longer input lists than this not every output list is looked at."""
_BATCH = 24
_KEPT_VIEWS = 4000
_BUDGETS = 5
_TURN = 40
_MUCH_BETTER = 1.03
_NO_WORSE = 1e-9
_WORTH_GOING_ON = 1.01
"""A climb that gained less than this in its turn is not gone on with."""
_DELAY = 12
"""How many pairs each further budget stays behind the one before."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """A pair at some budgets, the event that tells it apart best, and the loss as a multiple of the claim."""

    pair: Pair
    neighbors: Neighbors
    budgets: Mapping[str, Budget]
    at: int
    """Which of the budgets."""
    found: Judged
    score: float


@dataclass(slots=True)
class Search:
    """A search; `claim` is what losses are compared with."""

    program: Program
    neighbors: tuple[Neighbors, ...]
    claim: Amount
    deadline: float
    delta: Fraction = Fraction(0)
    progress: Progress | None = None
    best: float = -inf
    count: int = 0
    wide: bool = False
    effort: Effort = Effort()  # noqa: RUF009  # a frozen value
    views: dict[object, View] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.wide = self.program.output.sort == "list" and is_wide(self.program)
        self.effort = Effort(bits=_BITS, states=_STATES, deadline=self.deadline)

    def confirming(self, bits: int) -> Effort:
        """The effort with which a find is confirmed; it may take a little longer than the search."""
        return Effort(bits=bits, states=_STATES_TO_CONFIRM, deadline=self.deadline + _GRACE)

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() > self.deadline

    def run(self) -> Iterator[Tried]:
        """Everything that was tried, as it goes: small pairs in batches, and between them climbs from the best."""
        if any(isinstance(s, Sample) and isinstance(s.law, Call) for s in statements_of(self.program.body)):
            return
        starts = self.starts()
        heaps: dict[object, list[tuple[float, int, Tried]]] = {}
        while not self.over:
            batch = 0
            for tried in starts:
                yield tried
                heap = heaps.setdefault(self.public(tried.pair), [])
                heapq.heappush(heap, (-tried.score, self.count, tried))
                batch += 1
                if batch == _BATCH:
                    break
            waiting = [heap for heap in heaps.values() if heap]
            if not waiting and not batch:
                return
            # Under each choice of public inputs apart: what is best under one may be a dead end.
            for heap in waiting:
                start = heapq.heappop(heap)[2]
                end = yield from self.climb(start)
                if end is not None and end.score > start.score * _WORTH_GOING_ON:
                    heapq.heappush(heap, (-end.score, self.count, end))

    def public(self, pair: Pair) -> object:
        """The public inputs of a pair."""
        private = {name for entry in self.neighbors for name in entry.private}
        return tuple(sorted((name, value) for name, value in pair.first.items() if name not in private))

    def starts(self) -> Iterator[Tried]:
        """Small pairs, each at the first budgets at once and at the others later."""
        found = list(pairs(self.program, self.neighbors))
        for _, at, index in sorted(
            (index + _DELAY * at, at, index) for index in range(len(found)) for at in range(_BUDGETS)
        ):
            if self.over:
                return
            tried = self.attempt(found[index], at)
            if tried is not None:
                yield tried

    def climb(self, here: Tried) -> Generator[Tried, None, Tried | None]:
        """Better pairs near a pair, one after the other; where it got to, if that was not the end."""
        turn = self.count + _TURN
        while not self.over:
            best: Tried | None = None
            for pair, at in self.options(here):
                if self.over or self.count >= turn:
                    break
                tried = self.attempt(pair, at, here.found.event[0])
                if tried is None:
                    continue
                yield tried
                if best is None or tried.score > best.score:
                    best = tried
                    if best.score > here.score * _MUCH_BETTER > 0:
                        break
            better = best is not None and best.score >= here.score - _NO_WORSE
            if best is not None and better:
                here = best
            if self.count >= turn:
                return here
            if not better:
                break
        return None

    def options(self, here: Tried) -> Iterator[tuple[Pair, int]]:
        """What to try next: pairs near a pair, and the same pair at other budgets."""
        private = frozenset().union(*(entry.private for entry in self.neighbors))
        sizes = (1, *(n for n in numbers_in(self.program, self.neighbors)[:2] if n > 1))
        for pair in moves(self.program, private, here.pair, sizes=sizes):
            yield pair, here.at
        for at in range(_BUDGETS):
            yield here.pair, at

    def attempt(self, pair: Pair, at: int, hint: Output | None = None) -> Tried | None:
        """Try a pair at the budgets of that number; None if it was tried before, is no pair of neighbors, or fails."""
        tick()
        key = (at, pair.key)
        if key in self.seen:
            return None
        self.seen.add(key)
        neighbors = self.relation(pair)
        if neighbors is None:
            return None
        try:
            budgets = next(
                (b for n, b in enumerate(budgets_for(self.program, self.claim, pair.first)) if n == at), None
            )
            if budgets is None:
                return None
            factor_of(self.claim, pair.first, budgets)  # beyond what numbers hold, nothing is refuted
            found = self.judge(pair, budgets, hint)
            cost = sum(cost_of(self.claim, pair.first, budgets).bounds()) / 2
        except (ParameterError, NumberError):
            # Not every small input is one that the program makes sense of: a scale of 0, uniform(1, 0).
            return None
        if found is None:
            return None
        self.count += 1
        score = found.loss / float(cost) if cost > 0 else found.loss
        if score > self.best:
            self.best = score
            if self.progress is not None:
                self.progress(f"tried {self.count} pairs: the best loss is {score:.4g} of {self.claim}")
        return Tried(pair, neighbors, budgets, at, found, score)

    def relation(self, pair: Pair) -> Neighbors | None:
        """The adjacency that relates a pair, in either order."""
        for entry in self.neighbors:
            if related(self.program, entry, pair.first, pair.second) or related(
                self.program, entry, pair.second, pair.first
            ):
                return entry
        return None

    def judge(self, pair: Pair, budgets: Mapping[str, Budget], hint: Output | None) -> Judged | None:
        """The event that tells a pair apart best; among lists that are too many, near the hint and a few others."""
        both = pair.first, pair.second
        if self.delta > 0:
            one, two = (self.view(inputs, budgets, self.effort) for inputs in both)
            return judged_at_delta(one, two, factor_of(self.claim, pair.first, budgets).high, self.delta)
        if self.program.output.sort != "list" or not (self.wide or _longest(pair) > _ALL_LISTS_UP_TO):
            one, two = (self.view(inputs, budgets, self.effort) for inputs in both)
            return judged(one, two)
        goals: dict[Output, None] = {}
        if isinstance(hint, tuple):
            goals = dict.fromkeys(near(hint, numbers=False))
        else:
            for inputs in both:
                goals.update(dict.fromkeys(outputs_of(self.program, inputs)))
        found = []
        for goal in goals:
            left, right = (self.view(inputs, budgets, self.effort, goal) for inputs in both)
            found.append(judged_at(left, right, (goal,)))
        return max(found, key=lambda entry: entry.rank, default=None)

    def view(
        self, inputs: Mapping[str, Value], budgets: Mapping[str, Budget], effort: Effort, goal: Output | None = None
    ) -> View:
        """The distribution on one input; kept, since a search comes back to the same inputs."""
        key = (tuple(inputs.items()), tuple(budgets.items()), effort, goal)
        if key not in self.views:
            if len(self.views) >= _KEPT_VIEWS:
                self.views.clear()
            low, exact = masses_of(self.program, inputs, budgets, effort=effort, goal=goal)
            high = low
            if not exact:
                high, _ = masses_of(self.program, inputs, budgets, effort=effort, goal=goal, high=True)
            self.views[key] = View(low, high)
        return self.views[key]


def _longest(pair: Pair) -> int:
    return max((len(value) for value in pair.first.values() if isinstance(value, tuple)), default=0)
