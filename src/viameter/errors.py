"""Every error of the library.

An error is a release: its text is built from public parameters only (what was given, what was expected, what to do),
and *whether* it is raised must not depend on rows. The one error that may come from rows, `SealedError`, has a
constant text and no cause. Errors carry what they speak of as attributes, so that callers need not read the text.

    ViameterError
    ├── NumberError                 a number that cannot be taken, or a result that cannot be represented
    │   └── NotExact                a float where an exact number is needed
    ├── ParameterError              an argument of a constructor that makes no sense
    │   └── SqlError                a question in SQL that cannot be asked, with its place in the text
    ├── MismatchError               two sides that were put together and do not fit
    │   ├── DomainMismatch
    │   ├── MetricMismatch
    │   └── MeasureMismatch
    ├── NoTheorem                   a combination for which no theorem is known: names what would help
    ├── IncomparableLosses          an order or a sum that the measure does not have
    ├── OverBudget                  a query that would cost more than is left
    ├── NotInDomain                 data that were handed over and are not in the domain
    ├── MapError                    a stability or privacy map that returned something that is no distance or loss
    ├── SealedError                 something went wrong with rows; nothing more is said
    ├── QueryableError              a queryable that cannot answer
    │   ├── UnknownQuery            it does not know such a query
    │   ├── PermissionGone          a parent has moved on to another child
    │   ├── QueryableBusy           it was asked while it was answering
    │   └── QueryableEnded          it has given all the answers that it was made for
    ├── RegistryError               a theorem that is registered wrongly
    ├── FormatError                 a stored record that cannot be read
    ├── ServiceError                a service that was asked and did not do it, for a reason of its own
    ├── SourceUnavailable           rows that cannot be reached now; nothing was charged
    └── LedgerError                 a ledger that cannot do what it was asked
        ├── UnknownScope            there is no budget of that name
        ├── KeyTaken                the key of a request is that of another one
        ├── AnswerLost              it was paid for, and no answer was stored
        ├── LedgerTampered          the chain of entries is broken, or what was stored beside it was changed
        ├── LedgerBehind            it has fewer entries than its witness has seen, or other ones
        └── LedgerUnavailable       it cannot be read or written now
"""

from __future__ import annotations

from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

__all__ = [
    "AnswerLost",
    "DomainMismatch",
    "FormatError",
    "IncomparableLosses",
    "KeyTaken",
    "LedgerBehind",
    "LedgerError",
    "LedgerTampered",
    "LedgerUnavailable",
    "MapError",
    "MeasureMismatch",
    "MetricMismatch",
    "MismatchError",
    "NoTheorem",
    "NotExact",
    "NotInDomain",
    "NumberError",
    "OverBudget",
    "ParameterError",
    "PermissionGone",
    "QueryableBusy",
    "QueryableEnded",
    "QueryableError",
    "RegistryError",
    "SealedError",
    "ServiceError",
    "SourceUnavailable",
    "SqlError",
    "UnknownQuery",
    "UnknownScope",
    "ViameterError",
]


def plain(value: object) -> str:
    """An argument as an error may show it: what is public by its kind, and of what may hold rows its type only.

    >>> plain("1/2"), plain([41, 42])
    ("'1/2'", 'a value of type list')
    """
    kind = type(value)
    # Functions and classes by their name; a bound method would show what it is bound to.
    public = value is None or kind in (bool, int, float, complex, FunctionType, BuiltinFunctionType, type)
    public = public or (kind is str and len(str(value)) <= _LONGEST_TEXT)
    public = public or kind.__module__.partition(".")[0] in ("viameter", "fractions", "decimal", "enum")
    public = public and not isinstance(value, Mapping)
    return repr(value) if public else f"a value of type {kind.__name__}"


_LONGEST_TEXT = 80


class ViameterError(Exception):
    """The root: everything this library raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # From a worker process an error comes pickled; by default it would be made again from its text alone.
        return _made_again, (type(self), self.args, vars(self))


class NumberError(ViameterError, ValueError):
    """A number that cannot be taken, or a result that cannot be represented."""


class NotExact(NumberError):
    """A float was given where an exact number is needed."""

    def __init__(self, name: str, value: float) -> None:
        self.name, self.value = name, value
        super().__init__(
            f"{name}={value!r} is a float, and floats are rarely the number that was meant: "
            f'write it as a string, "{value!r}", or as exactly({value!r}) if you mean its binary value'
        )


class ParameterError(ViameterError, ValueError):
    """An argument of a constructor that makes no sense."""


class SqlError(ParameterError):
    """A question in SQL that cannot be asked: `text` stands there at `line` and `column`, both counted from 1."""

    def __init__(self, problem: str, *, line: int, column: int, text: str) -> None:
        self.problem, self.line, self.column, self.text = problem, line, column, text
        shown = f", at {text!r}" if text else ""
        super().__init__(f"line {line}, column {column}{shown}: {problem}")


class MismatchError(ViameterError, ValueError):
    """Two sides that were put together and do not fit; `left` and `right` are what each side said."""

    noun = "side"

    def __init__(self, left_name: str, left: object, right_name: str, right: object, hint: str = "") -> None:
        self.left, self.right = left, right
        text = f"{self.noun} mismatch: {left_name} has {left!r}, but {right_name} has {right!r}"
        super().__init__(f"{text}; {hint}" if hint else text)


class DomainMismatch(MismatchError):
    """The domains of the two sides differ."""

    noun = "domain"


class MetricMismatch(MismatchError):
    """The metrics of the two sides differ."""

    noun = "metric"


class MeasureMismatch(MismatchError):
    """The privacy measures of the two sides differ."""

    noun = "measure"


class NoTheorem(ViameterError, ValueError):
    """No theorem is known for this combination; the text names what would help."""


class IncomparableLosses(ViameterError, TypeError):
    """An order or a sum of losses that their measures do not have."""


class OverBudget(ViameterError):
    """A query would cost more than is left. Nothing was run and nothing was spent; cheaper queries are still answered.

    All are losses: `spent` so far, `asked` by this query, `left` of the `budget`. Where touch patterns are counted,
    `after` is what the costliest would cost then, `asked` by how much that is more; other queries may still fit. In a
    ledger, `scope` is the one whose budget it is.
    """

    def __init__(
        self,
        *,
        spent: object,
        asked: object,
        left: object,
        budget: object,
        after: object = None,
        scope: str | None = None,
    ) -> None:
        self.spent, self.asked, self.left, self.budget, self.after = spent, asked, left, budget, after
        self.scope = scope
        what = f"the query asks for {asked!r}, and {left!r} is left: {spent!r} of {budget!r} was spent before"
        if after is not None:
            what = f"the query would raise what the costliest touch pattern costs from {spent!r} to {after!r}, and the "
            what += f"budget is {budget!r}"
        if scope is not None:
            what = f"{plain(scope)}: {what}"
        super().__init__(f"{what}; nothing was run and nothing was spent now")


class NotInDomain(ViameterError, ValueError):
    """Data were handed over that are not in the domain. The text does not say which row: it could leave the house."""

    def __init__(self, domain: object, given: str = "") -> None:
        self.domain = domain
        what = f"{given} is not" if given else "the data handed over are not"
        super().__init__(
            f"{what} in {domain!r}; which part is not said here, since an error may be seen by others: "
            "domain.why_not(data) tells whoever may see the data"
        )


class MapError(ViameterError, ValueError):
    """A stability or privacy map returned something that is no distance or loss."""


class SealedError(ViameterError, RuntimeError):
    """Something went wrong with rows. The text is constant and the cause is not kept."""

    TEXT = (
        "the computation failed on the data; nothing more is said, since an error is a release "
        "(run `.function` on made-up data of the same domain to find out why)"
    )

    def __init__(self) -> None:
        super().__init__(self.TEXT)


class QueryableError(ViameterError):
    """A queryable that cannot answer."""


class UnknownQuery(QueryableError, TypeError):
    """The queryable does not know such a query."""

    def __init__(self, queryable: object, query: object, hint: str = "") -> None:
        self.query_type: type[Any] = type(query)
        text = f"{queryable!r} does not know queries of type {type(query).__name__}"
        super().__init__(f"{text}: {hint}" if hint else text)


class PermissionGone(QueryableError):
    """A sequential parent has moved on to another child, so that this one may no longer answer."""


class QueryableBusy(QueryableError, RuntimeError):
    """The queryable was asked while it was answering: a transition may not query its own queryable."""


class QueryableEnded(QueryableError):
    """The queryable has given all the answers that it was made for."""


class RegistryError(ViameterError, ValueError):
    """A theorem that is registered wrongly: a second one of the same slug, or a part of its statement missing."""


class FormatError(ViameterError, ValueError):
    """A stored record that cannot be read: not of this library, of a later version, or changed."""


class ServiceError(ViameterError):
    """A service was asked and did not do it, for a reason of its own: who asks, how often, or how it was reached.

    `code` is the service's word for it, such as "forbidden", or one of the client's: "unreachable", "not_understood".
    `status` is that of the reply, and `request` the number under which the service's log has it; None if there was
    none.
    """

    def __init__(self, message: str, *, code: str, status: int | None = None, request: str | None = None) -> None:
        self.message, self.code, self.status, self.request = message, code, status, request
        told = (code, None if status is None else f"status {status}", f"request {request}" if request else None)
        super().__init__(f"{message} ({', '.join(part for part in told if part)})")


class SourceUnavailable(ViameterError):
    """Rows cannot be reached now: their server is gone, busy, or another one. Nothing was charged or run."""


class LedgerError(ViameterError):
    """A ledger cannot do what it was asked; nothing was charged unless the text says so."""


class UnknownScope(LedgerError, KeyError):
    """There is no budget of that name in the ledger."""

    def __init__(self, scope: str, known: tuple[str, ...] = ()) -> None:
        self.scope, self.known = scope, known
        there = f"there are: {', '.join(known)}" if known else "there is none yet"
        super().__init__(f"no scope is called {plain(scope)}; {there}")

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its text in quotes


class KeyTaken(LedgerError):
    """The key of a request is that of another request of the same person, which asked for something else."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"key={plain(key)} was used for another request: one key is one question with one cost on the same scopes; "
            "take another key. Nothing was run and nothing was spent now"
        )


class AnswerLost(LedgerError):
    """A request was paid for and has no stored answer: it is running elsewhere, or was cut off. It stays spent."""

    def __init__(self, key: str, entry: int, at: str) -> None:
        self.key, self.entry, self.at = key, entry, at
        super().__init__(
            f"key={plain(key)} was charged at {at} (entry {entry}), and no answer was stored: it is still running, or "
            "it was cut off. What it cost stays spent, and it is not run again under this key; a new key asks, and "
            "pays, anew"
        )


class LedgerTampered(LedgerError):
    """The chain of entries is broken, or what was stored beside it was changed; `entry` is the first one, if known."""

    def __init__(self, problem: str, *, entry: int | None = None) -> None:
        self.problem, self.entry = problem, entry
        where = "" if entry is None else f"entry {entry}: "
        super().__init__(f"the ledger was changed outside of this library: {where}{problem}")


class LedgerBehind(LedgerError):
    """The ledger has fewer entries than its witness has seen, or other ones: an older copy would be a refund."""


class LedgerUnavailable(LedgerError):
    """The ledger cannot be read or written now: locked, read-only, full, gone, or of another version."""


def _made_again(kind: type[ViameterError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> ViameterError:
    error = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    return error
