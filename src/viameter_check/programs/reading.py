"""Reading: the text of terms; which names may stand in it, and whether they have a side, is said by a `Scope`."""

from __future__ import annotations

from viameter_check.amounts import shortened
from viameter_check.programs.scopes import FUNCTIONS, WORDS, Scope
from viameter_check.programs.showing import show
from viameter_check.programs.terms import BOOL, INT, LIST, Term, make, number, truth
from viameter_check.programs.tokens import Tokens
from viameter_check.report import Refused

MOST_NESTED = 30


class Reader(Tokens):
    """A position in the text of a term; operations are read from the one that binds least on."""

    def __init__(self, text: str, scope: Scope) -> None:
        super().__init__(text)
        self.scope, self.level = scope, 0

    def term(self) -> Term:
        """A whole term."""
        self.level += 1
        if self.level > MOST_NESTED:
            raise self.problem(f"is nested in more than {MOST_NESTED} levels")
        left = self._or()
        if self.accept("=>"):
            left = self._apply("=>", left, self.term())
        self.level -= 1
        return left

    def _or(self) -> Term:
        left = self._and()
        while self.accept("or"):
            left = self._apply("or", left, self._and())
        return left

    def _and(self) -> Term:
        left = self._not()
        while self.accept("and"):
            left = self._apply("and", left, self._not())
        return left

    def _not(self) -> Term:
        count = 0
        while self.accept("not"):
            count += 1
        found = self._comparison()
        for _ in range(count):
            found = self._apply("not", found)
        return found

    def _comparison(self) -> Term:
        left = self._sum()
        found: list[Term] = []
        while op := self.accept("<=", "<", "==", "!=", ">=", ">"):
            right = self._sum()
            found.append(self._apply(op, left, right))
            left = right
        return make("and", *found) if found else left

    def _sum(self) -> Term:
        left = self._product()
        while op := self.accept("+", "-"):
            left = self._apply(op, left, self._product())
        return left

    def _product(self) -> Term:
        left = self._signed()
        while op := self.accept("*", "//", "%"):
            left = self._apply(op, left, self._signed())
        return left

    def _signed(self) -> Term:
        count = 0
        while self.accept("-"):
            count += 1
        found = self.atom()
        for _ in range(count):
            found = self._apply("neg", found)
        return found

    def atom(self) -> Term:
        """A term that needs no brackets."""
        if self.accept("("):
            inner = self.term()
            self.take(")")
            return inner
        if self.kind == "number":
            return number(self.integer())
        if self.kind != "name":
            raise self.problem(f"did not expect {self.next[:60] or 'the end'!r}")
        name, _, side = self.next.removesuffix(">").partition("<")
        if name in ("true", "false", "len", *FUNCTIONS):
            return self._function(self.word())
        if name in WORDS:
            raise self.problem(f"did not expect {name!r}")
        self.place += 1
        found = self.scope.variable(name, int(side or 0))
        if found.sort != LIST:
            return found
        if not self.accept("["):
            raise self.problem(f"the list {name!r} is only read at an index, or for its length")
        index = self.term()
        self.take("]")
        return self._apply("read", found, index)

    def _function(self, name: str) -> Term:
        if name in ("true", "false"):
            return truth(name == "true")
        self.take("(")
        if name == "len":
            items = self.next.partition("<")[0]
            self.place += 1
            self.take(")")
            return self.scope.length(items)
        args = [self.term()]
        while self.accept(","):
            args.append(self.term())
        self.take(")")
        if len(args) != FUNCTIONS[name]:
            raise self.problem(f"{name} takes {FUNCTIONS[name]} arguments")
        return self._apply(name, *args)

    def _apply(self, op: str, *args: Term) -> Term:
        if op in ("and", "or", "not", "=>"):
            wanted = [BOOL] * len(args)
        elif op in ("==", "!="):
            wanted = [args[0].sort] * 2
        elif op == "ite":
            wanted = [BOOL, args[1].sort, args[1].sort]
        else:
            wanted = [LIST, INT] if op == "read" else [INT] * len(args)
        for arg, sort in zip(args, wanted, strict=True):
            if arg.sort != sort:
                raise self.problem(f"{op} needs {sort} where {show(arg)[:60]} is {arg.sort}")
        return make(op, *args)


def read_term(text: object, scope: Scope, sort: str = BOOL) -> Term:
    """The term of a text, which must be of a sort."""
    if not isinstance(text, str):
        raise Refused(f"{shortened(text)} is not text: expected an expression")
    reader = Reader(text, scope)
    term = reader.term()
    reader.done()
    if term.sort != sort:
        raise Refused(f"{shortened(text)} is {term.sort}: expected {sort}")
    return term
