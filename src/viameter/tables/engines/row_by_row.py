"""Ibis tables that act row by row: allowed by a list of operations, each of which was looked at.

A row of the result must be made of one row of a table, and of nothing else: not of its neighbors (windows, reductions,
subqueries, joins), its place (rowid), the clock or chance, and it must be one row (not unnest). And no operation may
fail on some row: sums and products overflow, casts and parsers refuse values, logarithms have no value everywhere.
These are refused here and belong into the question, whose expressions are total on every engine.
"""

from __future__ import annotations

from typing import Any, Final

from viameter.errors import ParameterError
from viameter.tables.expressions import Kind, type_of_ibis

TABLES: Final = frozenset({"DatabaseTable", "InMemoryTable", "Project", "Filter", "DropColumns", "DropNull"})
ALIKE: Final = frozenset(
    {"Equals", "NotEquals", "Less", "LessEqual", "Greater", "GreaterEqual", "IdenticalTo", "Between", "InValues",
     "IfElse", "SearchedCase", "Coalesce"}
)  # fmt: skip
"""Values of several operands that must be of one kind: an engine that casts one to the type of another may fail."""
VALUES: Final = ALIKE | frozenset(
    {"Field", "Literal", "Alias", "And", "Or", "Xor", "Not", "IsNull", "NotNull", "IsNan", "IsInf",
     "StringLength", "StartsWith", "EndsWith", "StringContains"}
)  # fmt: skip
ALLOWED: Final = TABLES | VALUES


def require_row_by_row(expression: Any) -> None:
    """Refuse an Ibis table unless each of its operations is known to make one row of one row, without an error."""
    import ibis.expr.operations as ops

    for node in expression.op().find(ops.Node):
        name = type(node).__name__
        known = getattr(ops, name, None)
        if name not in ALLOWED or type(node) is not known:
            raise ParameterError(
                f"the Ibis table has a {name}, which is not known to make one row of one row without errors on some "
                "rows; open the table and ask with filter, derive, join and group_by, or make a view for whose rows "
                "you vouch"
            )
        if name == "Literal" and not node.dtype.is_null() and type_of_ibis(node.dtype) is None:
            raise ParameterError(f"the Ibis table has a constant of type {node.dtype}, which questions cannot use")
        if name in ALIKE and not _are_alike(node):
            raise ParameterError(
                f"the Ibis table has a {name} of values of different types: the engine would cast one of them, which "
                "may fail on some rows; compare values of one type"
            )


def _are_alike(node: Any) -> bool:
    """Whether operands are of one kind; conditions apart, of which one alone is no operand."""
    import ibis.expr.operations as ops

    operands = [each for each in node.__children__ if isinstance(each, ops.Value)]
    if isinstance(node, ops.IfElse | ops.SearchedCase):
        conditions = {node.bool_expr} if isinstance(node, ops.IfElse) else set(node.cases)
        operands = [each for each in operands if each not in conditions]
    types = {each.dtype.copy(nullable=True) for each in operands if not each.dtype.is_null()}
    if len(types) <= 1:
        return True
    if any(dtype.is_decimal() for dtype in types):
        return False
    kinds = {getattr(type_of_ibis(dtype), "kind", None) for dtype in types}
    return None not in kinds and (len(kinds) == 1 or kinds == {Kind.INTEGER, Kind.REAL})
