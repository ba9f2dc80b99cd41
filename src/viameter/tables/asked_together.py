"""Questions asked together: one release, which costs what the questions cost that one unit's rows can be part of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from viameter.arith import Number
from viameter.composition import compose
from viameter.core import Loss, Measurement
from viameter.errors import ParameterError, plain
from viameter.tables.answer import Answer
from viameter.tables.cost import ALPHA
from viameter.tables.counting import Counted, as_written, count_together
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.planning import NoisePlan, part_of, read_spend
from viameter.tables.plans import Numbers
from viameter.tables.preview import Preview, Standing, binding
from viameter.tables.session import Session
from viameter.tables.table import Query
from viameter.tables.touching import released_over


@dataclass(frozen=True, slots=True, repr=False)
class TogetherPreview:
    """What questions would cost together, and each of them for itself; nothing was read or spent."""

    questions: Mapping[str, Preview]
    loss: Loss
    budgets: tuple[Standing, ...]
    """Those that would pay, each as it stands."""
    fits: bool
    share: Fraction
    """What each question gets of the loss to spend."""
    counted: str
    """How the cost of all was found."""

    @property
    def spent(self) -> Loss:
        """What was spent before of the budget that limits them."""
        return binding(self.budgets, self.loss).spent

    @property
    def left(self) -> Loss:
        """What is left of the same budget."""
        return binding(self.budgets, self.loss).left

    def __repr__(self) -> str:
        fits = "it fits" if self.fits else "it does not fit"
        lines = [
            f"{len(self.questions)} questions together cost {self.loss!r}; {self.left!r} is left: {fits}",
            f"counted by {self.counted}",
            f"each question gets {self.share} of the loss:",
        ]
        return "\n".join([*lines, *(f"  {name}: {shown.loss!r}" for name, shown in self.questions.items())])


@dataclass(frozen=True, repr=False)
class Together:
    """Questions of one session that are released in one go."""

    questions: Mapping[str, Query[Answer]]

    def preview(self, *, spend: Loss, alpha: Number = ALPHA) -> TogetherPreview:
        """What it would cost, and how that was counted; no row is read, and nothing is spent."""
        session, whole = self.session, self.measurement(spend=spend)
        each = part_of(spend, self.share)
        shown = {name: question.preview(spend=each, alpha=alpha) for name, question in self.questions.items()}
        loss: Loss = whole.map(1)
        return TogetherPreview(shown, loss, session.budgets, session.fits(whole), self.share, self._counted.why)

    def measurement(self, *, spend: Loss) -> Measurement:
        """All questions as one Measurement of the table that was opened, which releases a tuple."""
        return self._planned(spend)[1]

    def release(
        self, *, spend: Loss, alpha: Number = ALPHA, raw: bool = False, key: str | None = None
    ) -> dict[str, Answer]:
        """Spend, run, and answer all questions. `spend` is what they cost together, in one charge.

        Each question gets the same share of it: as much as lets those that one unit can reach cost `spend`. With a
        ledger, the same questions under the same `key` have the same answers, and cost nothing more.
        """
        chance = read_alpha(alpha)
        plans, whole = self._planned(spend)
        released = self.session.charge(whole, key=key, identity=self._identity, compiling=lambda: self._compile(plans))
        note = f"released together with {len(plans) - 1} other questions; all cost {whole.map(1)!r}"
        answers = {}
        for (name, numbers), plan, values in zip(self._numbers.items(), plans, released, strict=True):
            answer = numbers.answer(plan, values, chance, raw=raw)
            answers[name] = replace(answer, notes=(*answer.notes, note)) if len(plans) > 1 else answer
        return answers

    def _compile(self, plans: list[NoisePlan]) -> None:
        for numbers, plan in zip(self._numbers.values(), plans, strict=True):
            numbers.compile(plan, numbers.relation.rows())

    @property
    def session(self) -> Session:
        """What all are charged to."""
        first = next(iter(self.questions.values())).table
        return first._session("together", "release the questions one by one")

    @property
    def share(self) -> Fraction:
        """What each question gets of the loss to spend."""
        return Fraction(1, self._counted.most)

    @cached_property
    def _counted(self) -> Counted:
        return count_together([one.relation for one in self._numbers.values()], self.session.unit)

    @cached_property
    def _numbers(self) -> dict[str, Numbers]:
        """The plans of the questions."""
        found = {}
        for name, question in self.questions.items():
            if not isinstance(question, Query) or not isinstance(question.plan, Numbers):
                raise ParameterError(
                    f"together: {name}={plain(question)} is no question with public groups, such as "
                    "table.agg(n=vm.count())"
                )
            found[name] = question.plan
        return found

    def _identity(self) -> str:
        named = ((name if name.isidentifier() else repr(name), one) for name, one in self._numbers.items())
        return "\n".join(f"{name}: {numbers.identity}" for name, numbers in named)

    def _planned(self, spend: Loss) -> tuple[list[NoisePlan], Measurement]:
        session, counted = self.session, self._counted
        each = part_of(read_spend(spend, session.measure), self.share)
        plans = [numbers.noise(each, {}) for numbers in self._numbers.values()]
        members: list[Measurement] = [plan.measurement for plan in plans]
        made_by = f"together({', '.join(self.questions)})"
        if counted.cut is None:
            summed = compose(session.space, members, measure=session.measure)
            return plans, replace(summed, made_by=made_by, identity=())
        if counted.by_text:
            first = as_written(next(iter(self._numbers.values())).relation)
            members = [first >> member for member in members]
        return plans, released_over(
            counted.cut,
            members,
            unit=session.unit,
            space=session.space,
            measure=session.measure,
            made_by=made_by,
        )

    def __repr__(self) -> str:
        return f"<questions asked together: {', '.join(self.questions)}>"


def together(**questions: Query[Answer]) -> Together:
    """Questions of one session, by name, to be released in one go.

    A row that is counted among people below 18 is not counted among those from 18 on: if units are rows, two such
    questions together cost what one of them does. Conditions that compare columns with constants are looked at; any
    other may hold for every row. If units have several rows, the sum is counted.

    >>> import viameter as vm
    >>> people = vm.open({"age": [3, 41, 64]}, unit=vm.per_row(), budget=vm.pure(1))
    >>> young, old = people.filter(people["age"] < 18), people.filter(people["age"] >= 18)
    >>> both = together(young=young.agg(n=vm.count()), old=old.agg(n=vm.count()))
    >>> both.preview(spend=vm.pure("1/2"))
    2 questions together cost pure(1/2); pure(1) is left: it fits
    counted by the worst of 3 touch patterns: 1 of 2 questions
    each question gets 1 of the loss:
      young: pure(1/2)
      old: pure(1/2)
    >>> answers = both.release(spend=vm.pure("1/2"))
    >>> people.spent
    pure(1/2)
    """
    if not questions:
        raise ParameterError("together: name at least one question, as in together(young=..., old=...)")
    made = Together(dict(questions))
    if made._numbers and any(question.table.session is not made.session for question in questions.values()):
        raise ParameterError("together: all questions must be of one session, to whose budget they are charged")
    return made
