"""The data of a program: which of its inputs are data, what the text of their domain says, and what that implies.

A domain is `scalars(int, bounds=(0, 9))`, `vectors(int)`, `finite([False, True])`, where the data are one private input
in whole numbers, or `inputs(public n: int; q: list of length 5 on 1/100; requires ...; where m = 3)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from viameter_check.amounts import shortened
from viameter_check.places import Domain, read_domain
from viameter_check.programs.facts import Facts, at_any
from viameter_check.programs.questions import Questions
from viameter_check.programs.reading import read_term
from viameter_check.programs.relations import Runs
from viameter_check.programs.scopes import Scope
from viameter_check.programs.syntax import Program
from viameter_check.programs.terms import BOOL, INT, LIST, Term, length, make, number, truth, variable, within
from viameter_check.programs.texts import ANY
from viameter_check.programs.walking import parts, variables
from viameter_check.programs.words import MARKS
from viameter_check.report import Refused

Value = int | bool | tuple[int, ...]
_LONGEST = 200
"""Of public lists of more elements than this nothing is known but their length."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before there are data: budgets, public inputs, lengths of lists."""

    budgets: Mapping[str, Fraction]
    public: Mapping[str, Value]
    lengths: Mapping[str, int]

    def check(self, program: Program, private: frozenset[str]) -> None:
        """Refuse what does not fit the program: every budget, public inputs of the right sort, lengths of lists."""
        if set(self.budgets) != set(program.budgets):
            raise Refused(f"are not the budgets of the program: {', '.join(sorted(program.budgets))}", "budgets")
        # Which slots are taken stands in no text of a domain: what is known of it must not enter a bound unseen.
        for where, names in (("public", self.public), ("lengths", self.lengths)):
            for name in names:
                if name in marks_of(program):
                    raise Refused(f"{shortened(name)} says which rows are there, and is never known", where)
        kinds = {INT: int, BOOL: bool, LIST: tuple}
        for name, value in self.public.items():
            if name not in program.inputs or name in private or type(value) is not kinds[program.inputs[name]]:
                raise Refused(f"{shortened(name)} is no public input of that sort", "public")
        for name in self.lengths:
            if program.inputs.get(name) != LIST or name in self.public:
                raise Refused(f"{shortened(name)} is no list among the data", "lengths")

    def value(self, term: Term) -> int:
        """What a term over public inputs and lengths comes to."""
        done: dict[Term, Term] = {}
        for part in parts([term]):
            if part.op == "len":
                done[part] = number(self._length(part.args[0].name))
            elif part.op == "read":
                items, at = self.public.get(part.args[0].name), done[part.args[1]]
                if not isinstance(items, tuple) or not at.is_literal:
                    raise Refused(f"the bound depends on {part.args[0].name}, which is not given", "public")
                done[part] = number(items[at.leaf] if 0 <= at.leaf < len(items) else 0)
            elif part.op == "name" and part.sort != LIST:
                if part.name not in self.public:
                    raise Refused(f"the bound depends on {part.name}, which is not given", "public")
                found = self.public[part.name]
                done[part] = truth(found) if isinstance(found, bool) else number(int(found))  # type: ignore[arg-type]
            else:
                done[part] = make(part.op, *(done[arg] for arg in part.args)) if part.args else part
        return int(done[term].leaf)

    def _length(self, name: str) -> int:
        items = self.public.get(name)
        if isinstance(items, tuple):
            return len(items)
        if name not in self.lengths:
            raise Refused(f"the bound depends on the length of {name}, which is not fixed", "lengths")
        return self.lengths[name]

    def filled(self, program: Program, spoken: set[str]) -> dict[str, Value]:
        """The public inputs among some names that were given, in the order of the program's inputs."""
        return {name: self.public[name] for name in program.inputs if name in self.public and name in spoken}

    def facts(self) -> list[Term]:
        """The same as facts."""
        found = [make("==", length(name), number(size)) for name, size in self.lengths.items()]
        for name, value in self.public.items():
            if isinstance(value, bool):
                found.append(make("==", variable(name, BOOL), truth(value)))
            elif isinstance(value, int):
                found.append(make("==", variable(name), number(value)))
            else:
                found.append(make("==", length(name), number(len(value))))
                items = variable(name, LIST)
                found += [
                    make("==", make("read", items, number(k)), number(item)) for k, item in enumerate(value[:_LONGEST])
                ]
        return found


def marks_of(program: Program) -> frozenset[str]:
    """The inputs that say which slots of a list hold rows."""
    return frozenset(
        name for name in program.inputs if name.endswith(MARKS) and name.removesuffix(MARKS) in program.inputs
    )


@dataclass(frozen=True, slots=True)
class Data:
    """The inputs that are data, and what is said of them: facts, and facts about each element of a list."""

    plain: bool
    """Whether it is one private input in a domain of the library, the members of which lie between two ends."""
    size: int | None
    facts: tuple[Term, ...]
    each: tuple[tuple[str, Term], ...]


def read_data(text: str, program: Program, private: frozenset[str], known: Known) -> Data:
    """What the text of a domain says of the data of a program; refused where it is not a domain of these data."""
    marks = marks_of(program)
    names = [name for name in program.inputs if name not in known.public and name not in marks]
    slots = [make("==", length(name.removesuffix(MARKS)), length(name)) for name in sorted(marks)]
    # A slot is taken or not, whatever the rows are.
    taken = [
        (name, fact)
        for name in sorted(marks)
        for fact in _between(make("read", variable(name, LIST), variable(ANY)), 0, 1)
    ]
    if text.startswith("inputs("):
        found = _read_inputs(text, names, program, private, known)
    elif len(names) == 1 and names[0] in private and program.grids[names[0]] == 1:
        found = _read_plain(read_domain(text), text, names[0], program, known)
    else:
        raise Refused(f"{shortened(text)} is no domain of the data of this program", "input.domain")
    return replace(found, facts=(*found.facts, *slots), each=(*found.each, *taken))


def _read_plain(domain: Domain, text: str, name: str, program: Program, known: Known) -> Data:
    shapes = {INT: "scalars", LIST: "vectors"}
    if program.inputs[name] == BOOL and text == "finite([False, True])":
        return Data(True, None, (), ())
    if domain.kind != "int" or domain.shape != shapes.get(program.inputs[name]):
        raise Refused(f"{shortened(text)} is no domain of {name}", "input.domain")
    if known.lengths.get(name) != domain.size:
        raise Refused("is not the length that was fixed", "input.domain")
    ends = None if domain.bounds is None else tuple(map(int, domain.bounds))
    if domain.shape == "scalars":
        return Data(True, None, tuple(_between(variable(name), *ends) if ends else ()), ())
    element = make("read", variable(name, LIST), variable(ANY))
    return Data(True, domain.size, (), tuple((name, fact) for fact in (_between(element, *ends) if ends else ())))


def _between(term: Term, low: int, high: int) -> list[Term]:
    return [make("<=", number(low), term), make("<=", term, number(high))]


def _read_inputs(text: str, names: list[str], program: Program, private: frozenset[str], known: Known) -> Data:
    """The inputs that are data, what is required of them, and each public input that this speaks of, filled in."""
    scope = Scope("a domain", program.inputs, lists=program.lists)
    element = Scope("a domain", {**program.inputs, ANY: INT}, lists=program.lists)
    facts: list[Term] = []
    each: list[tuple[str, Term]] = []
    required = [entry for entry in text.removesuffix(")").split("; ") if entry.startswith("requires ")]
    for entry in required:
        rest = entry.removeprefix("requires ")
        if not rest.startswith("each "):
            facts.append(read_term(rest, scope))
            continue
        name, _, fact = rest.removeprefix("each ").partition(": ")
        if name not in program.lists:
            raise Refused(f"{shortened(name)} is no list of the program", "input.domain")
        each.append((name, read_term(fact, element)))
    spoken = {term.name for term in variables(*facts, *(fact for _, fact in each))} | {name for name, _ in each}
    filled = [f"where {name} = {value}" for name, value in known.filled(program, spoken).items()]
    entries = [_entry(name, program, private, known) for name in names]
    expected = f"inputs({'; '.join([*entries, *required, *filled])})"
    if text != expected:
        raise Refused(f"is not that of the data of the program: {shortened(expected)}", "input.domain")
    return Data(False, None, tuple(facts), tuple(each))


def _entry(name: str, program: Program, private: frozenset[str], known: Known) -> str:
    """An input that is data: whether it is public, its sort, its length and its grid."""
    public = "" if name in private else "public "
    size = f" of length {known.lengths[name]}" if name in known.lengths else ""
    grid = "" if program.grids[name] == 1 else f" on {program.grids[name]}"
    return f"{public}{name}: {program.inputs[name]}{size}{grid}"


def require_what_the_program_requires(data: Data, runs: Runs, known: Known) -> None:
    """Refuse a domain of which some member is not what the program requires of its inputs."""
    program = runs.program
    said = Runs(replace(program, requires=data.facts, each=data.each), runs.relation)
    index = variable("(any index)")
    goals = runs.in_run(1, *program.requires)
    for name, fact in program.each:
        (here,) = runs.in_run(1, fact)
        goals.append(make("=>", within(index, name), *at_any([here], index)))
    questions = Questions()
    for goal in goals:
        if not questions.holds(known.facts(), [goal], Facts(said, adjacent=False)):
            raise Refused(
                "has members that are not what the program requires, as far as could be shown", "input.domain"
            )


def keeps_between(data: Data, name: str, runs: Runs) -> bool:
    """Whether numbers of the input may be anything between those of two members: for data that move."""
    if data.plain:
        return True
    low, middle, high = (variable(f"({word})") for word in ("low", "middle", "high"))
    questions = Questions()
    for fact, value in _about(data, name):
        if value is None:
            return False
        one, two, three = (_with(fact, value, put) for put in (low, middle, high))
        order = [make("<=", low, middle), make("<=", middle, high)]
        said = Runs(replace(runs.program, requires=(), each=()), runs.relation)
        if not questions.holds([one, three, *order], [two], Facts(said, adjacent=False)):
            return False
    return True


def is_of_each(data: Data, name: str, *, rows: bool) -> bool:
    """Whether nothing is said but of each element by itself; of rows, wherever they stand and however many."""
    if data.plain:
        return not rows or data.size is None
    for fact, value in _about(data, name):
        if value is None:
            return False
        rest = _with(fact, value, number(0))
        if rows and any(part is variable(ANY) or part is length(name) for part in parts([rest])):
            return False
    return not rows or not any(
        part is length(name) for fact in data.facts for part in parts([fact]) if fact not in _slots(name)
    )


def _slots(name: str) -> list[Term]:
    return [make("==", length(name), length(name + MARKS))]


def _about(data: Data, name: str) -> list[tuple[Term, Term | None]]:
    """The facts that read the input, each with the one value of it that it reads; None where it reads more."""
    found: list[tuple[Term, Term | None]] = []
    own = make("read", variable(name, LIST), variable(ANY))
    for fact in data.facts:
        inside = set(parts([fact]))
        scalar = {variable(name), variable(name, BOOL)} & inside
        if scalar or any(part.op == "read" and part.args[0].name == name for part in inside):
            found.append((fact, scalar.pop() if len(scalar) == 1 else None))
    for items, fact in data.each:
        reads = {part for part in parts([fact]) if part.op == "read" and part.args[0].name == name}
        if reads or items == name:
            found.append((fact, own if items == name and reads <= {own} else None))
    return found


def _with(fact: Term, value: Term, put: Term) -> Term:
    """The fact with another term for a value that it reads."""
    done: dict[Term, Term] = {}
    for part in parts([fact]):
        if part is value:
            done[part] = put
        else:
            done[part] = make(part.op, *(done[arg] for arg in part.args)) if part.args and part.op != "len" else part
    return done[fact]
