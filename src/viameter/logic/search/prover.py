"""The search for a proof of one direction: sink draws, choose shifts, find invariants, ask the kernel."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from viameter.errors import ParameterError
from viameter.logic.deadline import TimeUp, tick, within
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context, units_for
from viameter.logic.kernel.derive import bounds_of, check_admissible, derive
from viameter.logic.kernel.judgment import Judgment, Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.core import ANY, Choose, Gaussian, Program, Sample, While, statements_of, terms_of
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import ZERO, App, Num, Term, add, ite, sub, subterms
from viameter.logic.neighbors import Neighbors
from viameter.logic.search.atoms import Atoms
from viameter.logic.search.choosing import Combination, shift_of, surviving
from viameter.logic.search.forward import Forward
from viameter.logic.search.houdini import eliminate
from viameter.logic.search.pairs import Pairs
from viameter.logic.search.product import Failed, Pair, Product, Shift, accepts
from viameter.logic.search.spacer import spacer_invariants
from viameter.logic.search.templates import Candidate, candidates
from viameter.logic.search.unrolling import counterexample
from viameter.logic.solving.oracle import Oracle

Progress = Callable[[str], None]
NO_SHIFTS = "no shifts were found under which two adjacent runs stay together"
TRIALS = 400
UNROLLED = 1000
"""Milliseconds for a counterexample to shifts in a few rounds of the loops."""
SPACER = 4.0
"""Seconds for z3's Horn clause engine, where Houdini's candidates were not enough."""
KEPT = 12


@dataclass(frozen=True, slots=True)
class Proved:
    """A proof, with the judgment that the kernel made of it."""

    context: Context
    claim: Amount
    proof: Proof
    judgment: Judgment


@dataclass(frozen=True, slots=True)
class NotProved:
    """What was missing in the attempt that came farthest."""

    what: str
    line: int
    model: Mapping[str, int | bool] | None = None


@dataclass(slots=True)
class Search:
    """One context and claim, with what is given by hand."""

    context: Context
    claim: Amount
    until: float
    progress: Progress
    shifts: Mapping[int, Term] = field(default_factory=dict)
    invariants: Mapping[int, tuple[Term, ...]] = field(default_factory=dict)
    attempts: int = 6
    latest: float | None = None
    """When everything ends at once: an attempt that is under way at `until` is finished, and cut off here."""
    phase: str = "shifts"
    farthest: NotProved = NotProved(NO_SHIFTS, 0)  # a frozen value
    made: list[tuple[Pairs, list[Pair]]] = field(default_factory=list)
    failed: list[tuple[Pair, Mapping[int, Shift]]] = field(default_factory=list)
    learned: list[Pair] = field(default_factory=list)
    """Pairs of runs for which z3 found that shifts fail although they passed all trials."""

    def run(self) -> Proved | NotProved:
        """Proofs of equality first, then pointwise ones; what is missing is said at its line."""
        try:
            with within(self.until if self.latest is None else self.latest):
                found = self._run()
        except TimeUp:
            found = self.farthest
        except RecursionError:
            found = NotProved("the program's expressions grow deeper than the search follows", 0)
        return found if isinstance(found, Proved) else self.located(found)

    def located(self, missing: NotProved) -> NotProved:
        """The same with the line that is nearest to what is missing, and a pair of runs for which it fails."""
        if not missing.line and missing.what in (NO_SHIFTS, self._phase) and self.failed:
            missing = self._apart()
        if missing.model is None and self.failed:
            missing = replace(missing, model=flat(self.failed[0][0]))
        return missing if missing.line else replace(missing, line=nearest(self.context.program, missing.what))

    @property
    def _phase(self) -> str:
        return f"the time was up while looking for {self.phase}"

    def _apart(self) -> NotProved:
        """What fails for the first pair of runs that refuted the simplest shifts."""
        pair, shifts = self.failed[0]
        try:
            run = Product(self.context).run(pair, shifts)
        except Failed as failed:
            return NotProved(f"{NO_SHIFTS}: {failed.what}", failed.line)
        equal = accepts(self.context, {}, pointwise=False)(run.environment)
        what = f"the cost stays within {self.claim}" if equal else "both runs have the same output"
        return NotProved(f"{NO_SHIFTS}: {what}", nearest(self.context.program, what))

    def say(self, text: str) -> None:
        """Show what is tried now, and remember it in case that the time is up."""
        self.phase = text
        self.progress(text)
        if self.farthest.what == NO_SHIFTS or self.farthest.what.startswith("the time was up"):
            self.farthest = NotProved(self._phase, 0)
        tick()

    def _run(self) -> Proved | NotProved:
        farthest = NotProved(NO_SHIFTS, 0)
        modes = [False, True] if self.context.program.output.sort == "int" else [False]
        for pointwise in modes:
            try:
                check_admissible(self.context, Proof(pointwise=pointwise))
            except ParameterError as problem:
                if not pointwise:
                    farthest = NotProved(str(problem), 0)
                continue
            attempts = 0
            for combination in self._combinations(pointwise):
                before = len(self.learned)
                found = self._attempt(combination, pointwise)
                if isinstance(found, Proved):
                    return found
                farthest = self.farthest = found
                # Shifts that a pair of runs has refuted do not count: the next ones have to pass that pair.
                attempts += len(self.learned) == before
                if attempts >= self.attempts or time.monotonic() > self.until:
                    break
        return farthest

    def _combinations(self, pointwise: bool) -> Iterator[Combination]:
        context = self.context
        self.say(f"shifts{' for one output' if pointwise else ''}")
        pairs, trials = self.trials()
        sites = self.sites(pairs, pointwise=pointwise)
        accept = accepts(context, bounds_of(context, self.claim), pointwise=pointwise)
        yield from surviving(
            Product(context), sites, trials, accept, until=self.until, learned=self.learned, failed=self.failed
        )

    def trials(self) -> tuple[Pairs, list[Pair]]:
        """The pairs on which shifts are tried, made once."""
        if not self.made:
            pairs = Pairs(self.context)
            self.made.append((pairs, pairs.some(TRIALS)))
        return self.made[0]

    def sites(self, pairs: Pairs, *, pointwise: bool) -> dict[int, tuple[Sample, list[Candidate]]]:
        """The sampling statements, by line, each with its candidates."""
        return {
            statement.at: (statement, self._candidates(statement, pairs, pointwise=pointwise))
            for statement in statements_of(self.context.program.body)
            if isinstance(statement, Sample)
        }

    def _candidates(self, statement: Sample, pairs: Pairs, *, pointwise: bool) -> list[Candidate]:
        if statement.at in self.shifts:
            return [Candidate(Choice(self.shifts[statement.at]), 0)]
        if isinstance(statement.law, Choose):
            return [
                Candidate(Choice(ZERO, (Num(low), Num(high))), 0)
                for low, high in _score_bounds(statement.law.scores.name, pairs)
            ]
        return candidates(self.context, statement, pointwise=pointwise, steps=pairs.changes)

    def _attempt(self, combination: Combination, pointwise: bool) -> Proved | NotProved:
        context = self.context
        self.say("invariants for the shifts " + ", ".join(str(c.shift) for c in combination.choices.values()))
        product, (pairs, trials) = Product(context), self.trials()
        samples = {s.at: s for s in statements_of(context.program.body) if isinstance(s, Sample)}
        functions = {at: shift_of(choice, samples[at]) for at, choice in combination.choices.items()}
        heads: dict[int, list[dict[str, object]]] = {}
        apart: set[int] = set()
        farthest: dict[int, int] = {}
        for pair in trials:
            try:
                run = product.run(pair, functions, trace=True)
            except Failed:
                continue
            apart |= run.apart
            for line, memory in _thinned(run.heads or []):
                heads.setdefault(line, []).append(memory)
            for at, moved in run.moved.items():
                farthest[at] = max(farthest.get(at, 0), moved)
        choices = {
            at: replace(choice, bounds=(Num(farthest.get(at, 0)),)) if isinstance(samples[at].law, Gaussian) else choice
            for at, choice in combination.choices.items()
        }
        loops = [s for s in statements_of(context.program.body) if isinstance(s, While)]
        atoms: dict[int, list[Term]] = {}
        for loop in loops:
            seen = Atoms(context, loop, heads.get(loop.at, []), widest=pairs.widest, numbers=pairs.numbers)
            given = self.invariants.get(loop.at, ())
            atoms[loop.at] = list(dict.fromkeys((*given, *seen.candidates(pointwise=pointwise))))
        proof = Proof(pointwise, choices, frozenset(apart), {}, {})
        if not loops:
            # Nothing to look for: the kernel also multiplies and divides unknowns.
            confirmed = self._confirm(proof, loops)
            return confirmed if isinstance(confirmed, Proved) else self._again(proof, loops, confirmed)
        result = eliminate(context, Forward(context, self.claim, proof, atoms), until=self.until)
        if result.missing is None:
            confirmed = self._confirm(replace(proof, invariants=result.invariants), loops)
        else:
            confirmed = NotProved(result.missing.what, result.missing.line)
        return confirmed if isinstance(confirmed, Proved) else self._again(proof, loops, confirmed)

    def _again(self, proof: Proof, loops: list[While], missing: NotProved) -> Proved | NotProved:
        """After a failure: a short pair of runs for which the shifts fail, as a trial; else invariants by Spacer."""
        self.say("a pair of runs for which these shifts fail")
        pair = counterexample(self.context, bounds_of(self.context, self.claim), proof, milliseconds=UNROLLED)
        if pair is not None:
            self.learned.append(pair)
            return replace(missing, model=flat(pair))
        seconds = min(SPACER, (self.until - time.monotonic()) / 2)
        if not loops or seconds < 0.1:
            return missing
        self.say("Horn clauses")
        found = spacer_invariants(self.context, self.claim, proof, seconds=seconds)
        if found is None:
            return missing
        confirmed = self._confirm(replace(proof, invariants=found), loops)
        return confirmed if isinstance(confirmed, Proved) else missing

    def _confirm(self, proof: Proof, loops: list[While]) -> Proved | NotProved:
        self.say("the kernel's derivation")
        options = [_variants(loop) for loop in loops]
        for loop, found in zip(loops, options, strict=True):
            if not found:
                return NotProved("the loop is not known to end: nothing in its test counts down", loop.at)
        last: NotProved | None = None
        oracle = Oracle(self.context)
        picked = {loop.at: 0 for loop in loops}
        while True:
            variants = {loop.at: found[picked[loop.at]] for loop, found in zip(loops, options, strict=True)}
            full = replace(proof, variants=variants)
            try:
                return Proved(self.context, self.claim, full, derive(oracle, self.claim, full))
            except ParameterError as error:
                return NotProved(str(error), _line_in(str(error)))
            except Unproved as error:
                last = NotProved(error.obligation.what, error.obligation.line, error.answer.model)
                turned = next((x for x in loops if x.at == error.obligation.line), None)
                if turned is None or "variant" not in error.obligation.what:
                    return last
                picked[turned.at] += 1
                if picked[turned.at] >= len(options[loops.index(turned)]):
                    return last


def _line_in(message: str) -> int:
    """The line that a message of the kernel begins with; 0 if it names none."""
    found = re.match(r"line (\d+):", message)
    return int(found[1]) if found else 0


def nearest(program: Program, what: str) -> int:
    """The line that an obligation without one of its own is nearest to: of a factor, a cost, an invariant, the output.

    0 for a program without a statement.
    """
    statements = list(statements_of(program.body))
    draws = [s for s in statements if isinstance(s, Sample)]
    loops = [s for s in statements if isinstance(s, While)]
    if "factor" in what:
        factors = [s for s in draws if any(str(factor) in what for factor in terms_of(s))]
        return (factors or draws or statements)[0].at if statements else 0
    if "cost" in what or "bound" in what or "shift" in what or "concentrated" in what:
        return (draws or statements)[-1].at if statements else 0
    if "invariant" in what or "Horn" in what:
        return (loops or statements)[0].at if statements else 0
    ends = [s for s in statements if getattr(s, "target", None) == program.output]
    return (ends or statements)[-1].at if statements else 0


def flat(pair: Pair) -> dict[str, int | bool]:
    """The inputs of a pair of runs as a model has them: lists element by element."""
    found: dict[str, int | bool] = {}
    for name, value in pair.inputs.items():
        if isinstance(value, tuple):
            found.update({f"{name}[{index}]": element for index, element in enumerate(value)})
        elif name != ANY.name:
            found[name] = value
    return found


def _thinned(heads: list[tuple[int, dict[str, object]]]) -> list[tuple[int, dict[str, object]]]:
    """The first and the last memories of a long run, and some between."""
    if len(heads) <= KEPT:
        return heads
    return [*heads[: KEPT // 2], *heads[KEPT // 2 : -3 : max(1, len(heads) // KEPT)], *heads[-3:]]


def _score_bounds(name: str, pairs: Pairs) -> list[tuple[int, int]]:
    seen = []
    for pair in pairs.some(80):
        first, second = pair.inputs.get(f"{name}<1>", ()), pair.inputs.get(f"{name}<2>", ())
        seen += [b - a for a, b in zip(first, second, strict=True)]
    return [(min(seen), max(seen))] if seen else [(0, 0)]


def _variants(loop: While) -> list[Term]:
    """What may count down: the distance in a comparison of the loop's test, or that while the test holds."""
    plain: list[Term] = []
    for part in subterms(loop.test):
        match part:
            case App("<", (left, right)):
                plain.append(sub(right, left))
            case App("<=", (left, right)):
                plain.append(add(sub(right, left), Num(1)))
            case App("not", (App("==", (left, right)),)):
                plain += [sub(right, left), sub(left, right)]
    return [*plain, *(ite(loop.test, term, ZERO) for term in plain)]


def search(
    context: Context,
    claim: Amount,
    *,
    seconds: float,
    progress: Progress = lambda text: None,
    shifts: Mapping[int, Term] | None = None,
    invariants: Mapping[int, tuple[Term, ...]] | None = None,
) -> Proved | NotProved:
    """A proof of the claim, or what is missing."""
    until = time.monotonic() + seconds
    return Search(context, claim, until, progress, shifts or {}, invariants or {}).run()


def context_for(program: Program, neighbors: Neighbors, claim: Amount) -> Context:
    """The context of a claim about a program."""
    return Context(program, neighbors, units_for(program, claim))
