"""Nodes of expressions: columns, literals, and calls of operations; each knows its type and is checked when made.

An expression is data: frozen, compared by `same_as` or `key` (since `==` makes a new expression), written by `repr`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.expressions.methods import Methods
from viameter.tables.expressions.types import Kind, Type

MOST_NODES, DEEPEST = 10_000, 100
"""How large an expression may be, and how deeply nested: each level is a level of calls in Python."""


class Expression(Methods):
    """A value of each row. Compare it, compute with it, call its methods: each makes another expression."""

    __slots__ = ()

    type: Type
    """The kind of the values, and for numbers what is known of their size."""
    columns: frozenset[str]
    """The names of the columns that are read."""
    key: Hashable
    """What two expressions have in common if and only if they are the same tree."""
    nodes: int
    """How many nodes the tree has, each as often as it occurs."""
    depth: int
    """How deeply they are nested."""

    def require_moderate(self, where: str) -> None:
        """Refuse what is too large to be written down, which is seen at once; so nothing here writes it either."""
        if self.nodes > MOST_NODES or self.depth > DEEPEST:
            raise ParameterError(
                f"{where}: the expression has {self.nodes:,} nodes, {self.depth:,} deep; expected at most "
                f"{MOST_NODES:,} nodes, {DEEPEST} deep: derive some of it as a column first"
            )

    def same_as(self, other: object) -> bool:
        """Whether the other is the same expression, node by node."""
        return isinstance(other, Expression) and self.key == other.key

    def __repr__(self) -> str:
        from viameter.tables.expressions.writing import written

        return written(self) if self.nodes <= MOST_NODES else f"<an expression of {self.nodes:,} nodes>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Expression):
    """The value of a column; a REAL is settled as it is read (see the package's contract).

    >>> distance = Column("distance", Type(Kind.INTEGER))
    >>> (distance > 500) & ~distance.is_null()
    (distance > 500) & ~distance.is_null()
    """

    name: str
    type: Type
    columns: frozenset[str] = field(init=False)
    key: Hashable = field(init=False)
    nodes: int = field(init=False, default=1)
    depth: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.type, Type):
            raise ParameterError(f"a column has a name and a type: got {plain(self.name)} and {plain(self.type)}")
        if self.type.kind is Kind.REAL:
            object.__setattr__(self, "type", self.type.settled())
        object.__setattr__(self, "columns", frozenset((self.name,)))
        object.__setattr__(self, "key", ("column", self.name, self.type))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expression):
    """A public constant; made by `literal`, which reads and checks it. None is NULL."""

    value: Any
    type: Type
    columns: frozenset[str] = field(init=False)
    key: Hashable = field(init=False)
    nodes: int = field(init=False, default=1)
    depth: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        from viameter.tables.expressions.constants import require_constant

        require_constant(self.value, self.type)
        object.__setattr__(self, "columns", frozenset())
        object.__setattr__(self, "key", ("literal", self.type.kind, self.value))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """An operation on expressions; made by operators and methods, which bring the arguments to fitting types first."""

    operation: str
    arguments: tuple[Expression, ...]
    options: tuple[Any, ...] = ()
    type: Type = field(init=False)
    columns: frozenset[str] = field(init=False)
    key: Hashable = field(init=False)
    nodes: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        from viameter.tables.expressions.typing_rules import type_of_call

        object.__setattr__(self, "type", type_of_call(self.operation, self.arguments, self.options))
        columns: frozenset[str] = frozenset().union(*(argument.columns for argument in self.arguments))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "nodes", 1 + sum(argument.nodes for argument in self.arguments))
        object.__setattr__(self, "depth", 1 + max(argument.depth for argument in self.arguments))
        key = ("call", self.operation, tuple(argument.key for argument in self.arguments), self.options)
        object.__setattr__(self, "key", key)
