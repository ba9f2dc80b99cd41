"""Programs as Python functions on whole populations of states, so that an enumeration runs at the speed of dicts.

A state is a tuple of the values of the variables that are live where it is; a population maps states to weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from viameter.logic.exact.liveness import Names, live_at_head, live_before, live_before_statement, without_dead
from viameter.logic.exact.splitting import Splitter
from viameter.logic.exact.translating import Translator, changed_in, defined
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Choose,
    Flip,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    Skip,
    Statement,
    While,
    terms_of,
)
from viameter.logic.lang.terms import Num, Term, Var, variables


@dataclass(frozen=True, slots=True)
class Step:
    """Straight code, after at most one sampling.

    `run(states, decks, denominator, goal, constants)` gives the states after it, the weight that was lost where a test
    was undecided, and the weight that missed the goal. `keys(states)` gives the values of the variables that the
    sampling's law depends on, by which `decks` are looked up; it is None if the law depends on inputs alone.
    """

    law: Law | None
    run: Callable[..., tuple[dict[Any, int], int, int]]
    keys: Callable[..., set[Any]] | None = None
    key_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice with sampling or loops in it; `split` gives the states of either side and what was lost."""

    split: Callable[..., tuple[dict[Any, int], dict[Any, int], int]]
    then: tuple[Operation, ...]
    orelse: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop; `split` gives the states that go on, those that leave, and what was lost."""

    split: Callable[..., tuple[dict[Any, int], dict[Any, int], int]]
    body: tuple[Operation, ...]


Operation = Step | Branch | Loop


@dataclass(frozen=True, slots=True)
class Machine:
    """A compiled program: the variables that its first state has, and its operations."""

    program: Program
    start: tuple[str, ...]
    operations: tuple[Operation, ...]


def machine_of(program: Program, *, aimed: bool = False, short: bool = True) -> Machine:
    """Compile a program; an aimed one follows one output list. Without `short`, every value drawn is gone through."""
    program = replace(program, body=_asked_first(program.body))
    made = _Compiler(Translator(program, aimed and program.output.sort == "list"), short)
    after = frozenset({program.output.name})
    body = without_dead(program.body, after)
    return Machine(program, made.translator.order(live_before(body, after)), made.block(body, after))


@dataclass(slots=True)
class _Compiler:
    translator: Translator
    short: bool

    def block(self, block: Block, after: Names) -> tuple[Operation, ...]:
        found: list[Operation] = []
        plain: list[Statement] = []
        for statement in reversed(block.statements):
            # Backwards, since what is live is known after a statement first.
            if _is_straight(statement):
                plain.insert(0, statement)
                continue
            rest = live_before(Block(tuple(plain)), after)
            before = live_before_statement(statement, rest)
            if isinstance(statement, Sample):
                found.insert(0, self.sampling(before, statement, plain, after))
            else:
                if plain:
                    found.insert(0, self.straight(rest, plain, after))
                found.insert(0, self.choice(before, statement, rest))
            plain, after = [], before
        if plain:
            found.insert(0, self.straight(live_before(Block(tuple(plain)), after), plain, after))
        return tuple(found)

    def choice(self, before: Names, statement: Statement, after: Names) -> Operation:
        if isinstance(statement, While):
            head = live_at_head(statement, after)
            split = self.split(head, statement.test, live_before(statement.body, head), after)
            return Loop(split, self.block(statement.body, head))
        if not isinstance(statement, If):
            raise TypeError(type(statement).__name__)
        then, orelse = live_before(statement.then, after), live_before(statement.orelse, after)
        split = self.split(before, statement.test, then, orelse)
        return Branch(split, self.block(statement.then, after), self.block(statement.orelse, after))

    def split(self, before: Names, test: Term, yes: Names, no: Names) -> Callable[..., Any]:
        """The function that parts a population by a test."""
        by = self.translator
        return defined(
            "def made(states, constants):\n"
            f"{by.header}"
            "    yes, no, lost = {}, {}, 0\n"
            f"    for {by.state(before)}, weight in states.items():\n"
            "        try:\n"
            f"            holds = {by.python(test)}\n"
            "        except Undecided:\n"
            "            lost += weight\n"
            "            continue\n"
            "        if holds:\n"
            f"            key = {by.state(yes)}\n"
            "            yes[key] = yes.get(key, 0) + weight\n"
            "        else:\n"
            f"            key = {by.state(no)}\n"
            "            no[key] = no.get(key, 0) + weight\n"
            "    return yes, no, lost\n"
        )

    def straight(self, before: Names, plain: list[Statement], after: Names) -> Step:
        """Straight code without sampling."""
        by = self.translator
        run = defined(
            "def made(states, decks, denominator, goal, constants):\n"
            f"{by.header}"
            "    found, lost, missed = {}, 0, 0\n"
            f"    for {by.state(before)}, weight in states.items():\n"
            "        try:\n"
            f"{by.lines(plain, 12, 'missed += weight')}"
            "        except Undecided:\n"
            "            lost += weight\n"
            "            continue\n"
            f"        key = {by.state(after)}\n"
            "        found[key] = found.get(key, 0) + weight\n"
            "    return found, lost, missed\n"
        )
        return Step(None, run)

    def sampling(self, before: Names, sample: Sample, plain: list[Statement], after: Names) -> Step:
        """A sampling and the straight code after it.

        For each state, rows that lead to the same state are added up first: their weights are short.
        """
        by = self.translator
        key_names = by.order(law_names(sample.law))
        keys = None
        deck = "        deck = decks\n"
        if key_names:
            picked = by.state(frozenset(key_names))
            keys = defined(f"def made(states):\n    return {{{picked} for {by.state(before)} in states}}\n")
            deck = f"        deck = decks.get({picked})\n"
        center = sample.law.center if isinstance(sample.law, Laplace | Gaussian) else Num(0)
        target = by.names[sample.target.name]
        kept = [by.names[name] for name in by.order(changed_in(plain) & (before - {sample.target.name}))]
        by.moving, by.early = {sample.target.name}, {}
        body = by.lines(plain, 20, "off += part")
        by.moving = None
        early = "".join(f"                {name} = {by.python(term)}\n" for term, name in by.early.items())
        way = None
        if self.short and not isinstance(sample.law, Flip | Choose):
            way = Splitter(by, after).text(sample, tuple(plain), 12)
        run = defined(
            "def made(states, decks, denominator, goal, constants):\n"
            f"{by.header}"
            "    found, lost, missed = {}, 0, 0\n"
            "    get = found.get\n"
            f"    for {by.state(before)}, weight in states.items():\n"
            f"{deck}"
            "        near, off, gone = {}, 0, 0\n"
            "        try:\n"
            "            if deck is None: raise Undecided\n"
            "            rows, sums, first, start, stop = deck\n"
            f"            center, size = {by.python(center)}, len(rows)\n"
            f"{way or '            raise Undecided' + chr(10)}"
            "        except Undecided:\n"
            "            near, off, gone = {}, 0, 0\n"
            "            try:\n"
            "                if deck is None: raise Undecided\n"
            "                rows = deck[0]\n"
            f"                center = {by.python(center)}\n"
            f"{early}"
            "            except Undecided:\n"
            "                lost += weight * denominator\n"
            "                continue\n"
            + "".join(f"            kept_{name} = {name}\n" for name in kept)
            + "            for drawn, part in rows:\n"
            + "".join(f"                {name} = kept_{name}\n" for name in kept)
            + "                try:\n"
            f"                    {target} = {'drawn' if center == Num(0) else 'center + drawn'}\n"
            f"{body}"
            "                except Undecided:\n"
            "                    gone += part\n"
            "                    continue\n"
            f"                key = {by.state(after)}\n"
            "                if key in near:\n"
            "                    near[key] += part\n"
            "                else:\n"
            "                    near[key] = part\n"
            "        lost += weight * gone\n"
            "        missed += weight * off\n"
            "        for key, part in near.items():\n"
            "            if part:\n"
            "                found[key] = get(key, 0) + weight * part\n"
            "    return found, lost, missed\n"
        )
        return Step(sample.law, run, keys, key_names)


def _asked_first(block: Block) -> Block:
    """A block in which choices with sampling or loops in them ask a variable that was given the test's answer.

    The answer is then computed with the code before it, where noise that only the test asks for is not gone through.
    """
    found: list[Statement] = []
    for statement in block:
        match statement:
            case If(test, then, orelse) if not _is_straight(statement):
                # By a name that no program's text can have.
                answer = Var(f"?{statement.at}.{len(found)}", "bool")
                choice = If(answer, _asked_first(then), _asked_first(orelse), statement.at)
                found += [Assign(answer, test, statement.at), choice]
            case While(test, body):
                found.append(While(test, _asked_first(body), statement.at))
            case _:
                found.append(statement)
    return Block(tuple(found))


def _is_straight(statement: Statement) -> bool:
    """Whether it has neither a loop nor a sampling."""
    if isinstance(statement, If):
        return all(map(_is_straight, (*statement.then.statements, *statement.orelse.statements)))
    return isinstance(statement, Skip | Assign | Append)


def law_names(law: Law) -> Names:
    """The variables that a law depends on, but for its center."""
    if isinstance(law, Laplace | Gaussian):
        law = replace(law, center=Num(0))
    return frozenset(var.name for term in terms_of(Sample(Var("x"), law)) for var in variables(term))
