"""Literals that are outside the subset, and what to write instead of each."""

from __future__ import annotations

import ast

from viameter.logic.front.context import Context


def refuse_literal(ctx: Context, node: ast.expr) -> None:
    """Refuse floats, texts and other constants that are no integers or truth values."""
    if not isinstance(node, ast.Constant) or (isinstance(node.value, int) and not isinstance(node.value, float)):
        return
    if isinstance(node.value, float):
        raise ctx.error(
            node, f"the float {node.value!r} is outside the subset",
            f'write a fraction, Fraction("{node.value!r}") or 1 / 2, and let real numbers stand on a vm.Grid',
        )  # fmt: skip
    raise ctx.error(
        node, f"the constant {node.value!r} is outside the subset", "programs compute with integers, grids and bools"
    )


_EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write the expression where it is used"),
    ast.ListComp: ("a comprehension", "write a for loop that appends to an output list"),
    ast.GeneratorExp: ("a comprehension", "write a for loop"),
    ast.SetComp: ("a comprehension", "write a for loop"),
    ast.DictComp: ("a comprehension", "write a for loop"),
    ast.Dict: ("a dict", "programs have integers, bools and lists"),
    ast.Set: ("a set", "programs have integers, bools and lists"),
    ast.Tuple: ("a tuple", "use one variable for each part"),
    ast.List: ("a list in an expression", "start an output list with out = [] and append to it"),
    ast.JoinedStr: ("a string", "programs compute with integers, grids and bools"),
    ast.Await: ("await", "write a plain function"),
    ast.Yield: ("yield", "append to an output list and return it"),
    ast.YieldFrom: ("yield", "append to an output list and return it"),
    ast.NamedExpr: ("an assignment within an expression", "assign in a statement of its own"),
    ast.Starred: ("a starred expression", "name the parts"),
    ast.Attribute: ("an attribute", "use parameters, variables and constants of the module"),
}

_STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("try", "operations are total: a read outside a list is 0, and so is a division by zero"),
    ast.TryStar: ("try", "operations are total: a read outside a list is 0, and so is a division by zero"),
    ast.Raise: ("raise", "an error is a release: state what inputs must fulfill in requires="),
    ast.With: ("with", "write its body alone"),
    ast.Import: ("an import", "import above the function"),
    ast.ImportFrom: ("an import", "import above the function"),
    ast.Global: ("global", "a program has only its own variables"),
    ast.Nonlocal: ("nonlocal", "a program has only its own variables"),
    ast.FunctionDef: ("a nested def", "write it as a program of its own, and call it"),
    ast.AsyncFunctionDef: ("a nested def", "write it as a program of its own, and call it"),
    ast.ClassDef: ("a class", "programs have integers, bools and lists"),
    ast.Delete: ("del", "let the variable stand"),
    ast.Assert: ("assert", 'state what inputs must fulfill in requires=, as in requires="N >= 1"'),
    ast.Match: ("match", "write if and elif"),
    ast.AsyncFor: ("async for", "write a plain for"),
    ast.AsyncWith: ("async with", "write its body alone"),
}


def refuse_expression(ctx: Context, node: ast.expr) -> Exception:
    """The error for an expression that is outside the subset."""
    what, hint = _EXPRESSIONS.get(type(node), (ast.unparse(node), "see the subset in the documentation of vm.program"))
    return ctx.error(node, f"{what} is outside the subset", hint)


def refuse_statement(ctx: Context, node: ast.stmt) -> Exception:
    """The error for a statement that is outside the subset."""
    known = _STATEMENTS.get(type(node), (type(node).__name__, "see the subset in the documentation of vm.program"))
    return ctx.error(node, f"{known[0]} is outside the subset", known[1])
