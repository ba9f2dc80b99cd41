"""Verify a program: prove the claim, refute it, or say what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

from viameter.arith import INFINITY
from viameter.core.measure import Loss
from viameter.errors import ParameterError, plain
from viameter.logic.certificate import ProgramCertificate, certify
from viameter.logic.claims import Claim, claim_of, settled, uses_gaussian
from viameter.logic.deadline import TimeUp, within
from viameter.logic.kernel.context import RESULT, Context, check_speaks, units_for
from viameter.logic.kernel.judgment import Obligation
from viameter.logic.kernel.wellformed import check_claim
from viameter.logic.lang.core import Program, assigned
from viameter.logic.lang.parsing import read_term
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.lang.terms import FALSE, App, Sort, Term, Var, eq, length, show, subterms
from viameter.logic.neighbors import Neighbors, sorts_of
from viameter.logic.refute import Evidence, Gap, Witness, evidence, largest_loss, refute
from viameter.logic.refute.claims import cost_of, factor_of
from viameter.logic.search.least import offers
from viameter.logic.search.prover import NO_SHIFTS, NotProved, Proved, Search, context_for
from viameter.logic.search.sinking import sunk
from viameter.logic.solving.oracle import Oracle
from viameter.logic.verdict import Status, Verdict

_ISSUED: WeakKeyDictionary[Verdict, str] = WeakKeyDictionary()
"""The verdicts of this process that are proofs, each with the text of its certificate: what `measurement` believes."""

Progress = Callable[[str], None]
Moves = tuple[tuple[int, int], ...]
FIRST = 4.0
"""Seconds for the first attempt at a proof, and at a counterexample; later ones take three times as long."""
GRACE = 0.5
"""Seconds beyond its share that a counterexample may take to be confirmed."""
MUCH = 16
"""A loss of so many budgets, or more, is looked for when no bound could be proved."""
OFFERED = 5
"""How many bounds are tried when none is given."""


@dataclass(frozen=True, slots=True)
class Task:
    """A program with its directions and hints, as the search sees it: as written, or with its draws moved."""

    program: Program
    directions: tuple[Neighbors, ...]
    shifts: Mapping[int, str]
    invariants: Mapping[int, tuple[str, ...]]
    moves: Moves = ()

    def search(self, neighbors: Neighbors, claim: Amount, until: float, progress: Progress) -> Search:
        """The search for one direction."""
        context = context_for(self.program, neighbors, claim)
        sorts = sorts_in(context)
        shifts = {line: self._hint(context, sorts, line, text, "shift") for line, text in self.shifts.items()}
        given = {
            line: tuple(self._hint(context, sorts, line, text, "invariant") for text in texts)
            for line, texts in self.invariants.items()
        }
        return Search(context, claim, until, progress, shifts, given)

    def _hint(self, context: Context, sorts: Mapping[str, Sort], line: int, text: str, kind: str) -> Term:
        """A shift or an invariant that was given by hand, or an error at the line where it stands."""
        try:
            term = read_term(text, sorts)
            check_speaks(context, term, ghosts=kind == "invariant", where="hint")
        except ParameterError as problem:
            place = context.program.source.get(line, line)
            raise ParameterError(
                f"line {place}: the {kind} {text!r} cannot be used ({problem}); variables of the program are written "
                "with their run, such as i<1> and i<2>, and comparisons as ==, <=, <"
            ) from None
        return term


def sorts_in(context: Context) -> dict[str, Sort]:
    """The sorts of everything that a shift or an invariant may speak of."""
    sorts = sorts_of(context.program, context.neighbors.constants)
    sorts.update({var.name: var.sort for var in assigned(context.program.body)})
    sorts[RESULT.name] = "int"
    for name in context.shared:
        if name.startswith(("cost.", "same.")):
            sorts[name] = "bool" if name.startswith("same.") else "int"
    return sorts


def verify(
    program: Any,
    bound: str | Amount | Loss | None = None,
    *,
    seconds: float = 60.0,
    samples: int = 0,
    progress: Progress | None = None,
) -> Verdict:
    """Prove that a program costs at most `bound` on adjacent inputs, or refute it, or say what is missing.

    `bound` is an amount of the program's budgets (`"eps"`, `"2*eps"`, `"len(q)*eps"`, `"ln(3)"`), or a loss such as
    `vm.zcdp("1/200")` for programs with Gaussian noise. Without one, the least bound that can be proved is looked
    for, and the verdict says whether a witness shows that it cannot be lower. What is not decided within `seconds`
    is UNKNOWN. With `samples`, a claim that stays UNKNOWN is also run that many times on adjacent inputs: what the
    counts show is the verdict's `evidence`, and never changes its status.
    """
    core = getattr(program, "core", None)
    if not isinstance(core, Program):
        raise ParameterError(f"verify takes a function under @vm.program, not {plain(program)}")
    if not seconds > 0:
        raise ParameterError(f"seconds={plain(seconds)}: expected a positive number")
    begun = time.monotonic()
    say = progress or (lambda text: None)
    hints = program.hints
    task = Task(core, program.adjacent.directions(core), hints.shifts, hints.invariants)
    with within(begun + max(seconds, 1.0)):
        check_meaning(core, task.directions)
    claim = None if bound is None else claim_about(program, bound)
    run = _Run(program.name, task, begun, begun + seconds, say, (program.file, core.source), samples)
    return run.least() if claim is None else run.claimed(claim)


def claim_about(program: Any, bound: str | Amount | Loss) -> Claim:
    """What a bound claims of a program; refused if it depends on private inputs."""
    claim = claim_of(bound, program.core)
    for neighbors in program.adjacent.directions(program.core):
        check_claim(program.core, neighbors, claim.amount)
    return claim


def issued(verdict: object) -> str | None:
    """The text of the certificate of a proof that `verify` gave in this process; None for any other object."""
    return _ISSUED.get(verdict) if type(verdict) is Verdict else None


def compared(gap: Gap, bound: Amount) -> str:
    """How the largest loss that was found compares with a bound, in a sentence."""
    if gap.p1_low >= factor_of(bound, gap.first, gap.budgets).high * gap.p2_high:
        return "a witness shows that the bound cannot be lower"
    most = cost_of(bound, gap.first, gap.budgets).bounds()[1]
    share = 0 if most == 0 else min(99, int(100 * gap.loss / most))
    return f"no witness reaches the bound: the largest loss found is {share} % of it"


def check_meaning(program: Program, directions: tuple[Neighbors, ...]) -> None:
    """Refuse an adjacency of which a proof would say nothing: one that no two inputs, or no two lists, satisfy."""
    if len(directions) > 2:
        raise ParameterError(
            "the adjacency has more than two directions (several parts that change in one direction): state it as one "
            "relation, vm.related(...)"
        )
    rows = {entry.name.removesuffix(".in") for entry in program.inputs if entry.name.endswith(".in")}
    own = {eq(length(Var(name, "list")), length(Var(f"{name}.in", "list"))) for name in rows}
    for term in set(program.requires) - own:
        lengths = {str(part.args[0]) for part in subterms(term) if isinstance(part, App) and part.op == "len"}
        if {name.removesuffix(".in") for name in lengths} & rows:
            raise ParameterError(
                f"requires {show(term)}: how many rows there are changes when a row is added or removed, so that "
                "nothing may be required of it"
            )
    for neighbors in directions:
        oracle = Oracle(Context(program, neighbors))
        answer = oracle.ask(Obligation((), FALSE, "no two inputs are adjacent", 0, "adjacency"))
        if answer.holds:
            raise ParameterError(f"no two inputs are adjacent ({neighbors.says}): a proof would say nothing")


@dataclass(slots=True)
class _Run:
    name: str
    task: Task
    begun: float
    until: float
    say: Progress
    source: tuple[str, Mapping[int, int]]
    samples: int
    found: tuple[tuple[Proved, Moves], ...] = ()

    def claimed(self, claim: Claim) -> Verdict:
        """The verdict on a claim that was given."""
        if claim.search_least:
            return self._converted(claim)
        missing: NotProved | None = None
        exhausted = False
        slice_ = FIRST
        while self._left() or missing is None:
            # A proof and a counterexample in turns, each time for longer: most programs have one of them soon.
            if not exhausted:
                proofs, missing, exhausted = self._prove(claim.amount, slice_)
                if proofs:
                    return self._proved(claim, proofs)
            until = time.monotonic() + min(slice_, self._left())
            witness = self._refute(claim, until - time.monotonic())
            if witness is not None:
                return self._verdict(Status.REFUTED, claim, witness=witness)
            if exhausted and time.monotonic() < until:
                break  # neither has anything left to try (zCDP and calls of mechanisms are never refuted)
            slice_ *= 3
        return self._verdict(Status.UNKNOWN, claim, missing=missing, shown=self._evidence(claim))

    def _evidence(self, claim: Claim) -> Evidence | None:
        if not self.samples or claim.measure == "zcdp":
            return None
        self.say("evidence from samples")
        delta = claim.delta if claim.delta is not None else Fraction(0)
        program, directions = self.task.program, self.task.directions
        return evidence(program, directions, claim.epsilon, delta=delta, samples=self.samples)

    def least(self) -> Verdict:
        """The verdict on the least bound that can be proved."""
        last = NotProved(NO_SHIFTS, 0)
        tried = 0
        for task in self._tasks():
            found: dict[Amount, None] = {}
            for neighbors in task.directions:
                context = Context(task.program, neighbors, units_for(task.program, None))
                search = task.search(neighbors, Amount(()), self.until, self.say)
                search.context = context
                try:
                    with within(self.until):
                        found.update(dict.fromkeys(offers(search)))
                except TimeUp:
                    pass
                last = self._mapped(task, search.located(last)) if last.what == NO_SHIFTS else last
            for amount in found:
                if tried >= OFFERED * len(task.directions) or not self._left():
                    break
                tried += 1
                self.say(f"the bound {amount}")
                proofs, missing, _ = self._prove_task(task, amount, self._left() / 2)
                claim = settled(amount, task.program)
                if proofs and claim is not None:
                    self.found = tuple((proof, task.moves) for proof in proofs)
                    return self._proved(claim, self.found, tight=self._tight(claim))
                last = missing or last
        return self._unbounded(last)

    def _unbounded(self, last: NotProved) -> Verdict:
        """No bound was found. An infinite loss refutes all of them; one that is far above the budgets refutes none."""
        what = f"no bound was found within {self.until - self.begun:g} seconds"
        witness = None
        if not uses_gaussian(self.task.program) and self._left():
            parts = tuple(Monomial.of(Fraction(MUCH), (), base) for base in self.task.program.budgets or ("1",))
            much = Claim("pure", Amount(parts))
            witness = self._refute(much, min(FIRST, self._left()))
            if witness is not None and witness.gap.loss == INFINITY:
                return self._verdict(Status.REFUTED, None, witness=witness)
            what += f", and two adjacent inputs have a loss above {much}" if witness is not None else ""
        missing = replace(last, what=f"{what}; of the last that was tried, this is missing: {last.what}")
        return self._verdict(Status.UNKNOWN, None, missing=missing, witness=witness)

    def _converted(self, claim: Claim) -> Verdict:
        """A claim in (epsilon, delta) about Gaussian noise: through the least concentrated bound."""
        inner = self.least()
        if inner.status is not Status.PROVED or inner.bound is None:
            return inner
        converted = claim.follows_from(inner.bound)
        if converted is None:
            reason = f"the least bound proved, {inner.bound}, does not give {claim}"
            return self._verdict(Status.UNKNOWN, claim, missing=NotProved(reason, 0))
        return self._proved(converted, self.found)

    def _left(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def _tasks(self) -> list[Task]:
        """The program as it is, and with its draws sunk if that changes it (hints speak of lines as they are)."""
        task = self.task
        if task.shifts or task.invariants:
            return [task]
        moved, moves = sunk(task.program)
        return [task, Task(moved, task.directions, {}, {}, moves)] if moves else [task]

    def _prove(self, amount: Amount, seconds: float) -> tuple[tuple[tuple[Proved, Moves], ...], NotProved | None, bool]:
        """Proofs of all directions, with the moves before them; else what is missing, and whether all was tried."""
        missing: NotProved | None = None
        exhausted = True
        for task in self._tasks():
            proofs, failed, whole = self._prove_task(task, amount, seconds)
            if proofs:
                return tuple((proof, task.moves) for proof in proofs), None, True
            missing, exhausted = missing or failed, exhausted and whole
        return (), missing, exhausted

    def _prove_task(
        self, task: Task, amount: Amount, seconds: float
    ) -> tuple[tuple[Proved, ...], NotProved | None, bool]:
        proofs: list[Proved] = []
        for neighbors in task.directions:
            until = min(self.until, time.monotonic() + seconds)
            search = task.search(neighbors, amount, until, self.say)
            search.latest = self.until
            found = search.run()
            if isinstance(found, NotProved):
                return (), self._mapped(task, found), time.monotonic() < until
            proofs.append(found)
        return tuple(proofs), None, True

    def _mapped(self, task: Task, missing: NotProved) -> NotProved:
        """What is missing, at the line of the program as it was written that a line of a task's program comes from."""
        if not task.moves:
            return missing
        written, source = task.program.source.get(missing.line, 0), self.task.program.source
        return replace(missing, line=next((at for at, place in source.items() if place == written), written))

    def _refute(self, claim: Claim, seconds: float) -> Witness | None:
        if claim.measure == "zcdp":
            return None
        self.say("a counterexample")
        delta = claim.delta if claim.delta is not None else Fraction(0)
        program, directions = self.task.program, self.task.directions
        try:
            with within(time.monotonic() + seconds + GRACE):
                return refute(program, directions, claim.epsilon, delta=delta, seconds=seconds, progress=self.say)
        except (TimeUp, RecursionError):
            return None

    def _tight(self, claim: Claim) -> str:
        if claim.measure != "pure" or not claim.amount.parts:
            return ""
        self.say("whether the bound can be lower")
        seconds = min(3.0, max(0.5, self._left() * 0.2))
        program, directions = self.task.program, self.task.directions
        try:
            with within(time.monotonic() + seconds + GRACE):
                gap = largest_loss(program, directions, relative_to=claim.amount, until=Fraction(1), seconds=seconds)
        except (TimeUp, RecursionError):
            return ""
        return "" if gap is None else compared(gap, claim.amount)

    def _proved(self, claim: Claim, proofs: tuple[tuple[Proved, Moves], ...], *, tight: str = "") -> Verdict:
        certificate = certify(self.task.program, claim.to_json(), proofs)
        verdict = self._verdict(
            Status.PROVED, claim, proofs=tuple(proof for proof, _ in proofs), certificate=certificate, tight=tight
        )
        _ISSUED[verdict] = certificate.text
        return verdict

    def _verdict(
        self,
        status: Status,
        claim: Claim | None,
        *,
        proofs: tuple[Proved, ...] = (),
        certificate: ProgramCertificate | None = None,
        witness: Witness | None = None,
        missing: NotProved | None = None,
        shown: Evidence | None = None,
        tight: str = "",
    ) -> Verdict:
        return Verdict(
            status=status,
            program=self.name,
            bound=None if claim is None else claim.shown,
            adjacency=self.task.directions[0].says,
            measure="pure" if claim is None else claim.measure,
            rho=None if claim is None else claim.rho,
            delta=None if claim is None else claim.delta,
            proofs=proofs,
            certificate=certificate,
            witness=witness,
            missing=missing,
            evidence=shown,
            tight=tight,
            seconds=time.monotonic() - self.begun,
            source=self.source,
        )
