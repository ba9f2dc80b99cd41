"""From a typed Python function to a program of the core language.

**Types.** Parameters are annotated: `int`, `bool`, `vm.Eps` (a budget), `vm.Grid("1/100")`, `vm.Between(0, 10)` or a
`list[...]` of these; `->` int, bool, a grid or a list. A list of bools is one of 0 and 1. Numbers on a grid are stored
in steps of it, and whole numbers and grids mix: 1 on the grid of 1/100 is 100 steps.

**Statements.** Assignments, `out = []` with `out.append(e)` or `out += [e]`, if, while, `for i in range(...)`,
`for x in q`, `for i, x in enumerate(q)`, return, break, continue, pass.

**Expressions.** + - * // %, comparisons, and, or, not, `a if b else c`, min, max, abs, len(q), q[i], sum(q), int and
bool constants of the module, and / by constants where the result stays on a grid. An index below 0 counts from the end,
as in Python. Everything is total: a read outside a list gives 0; `a // 0` is 0 and `a % 0` is a; a variable that is
read before it is assigned is 0 or False. (Python would stop with an error there, which would be a release of its own.)

**Noise** is drawn where Python would draw it, in the same order. Scales are public.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.logic.front.annotations import Declared, declared, noise_grid
from viameter.logic.front.context import Context
from viameter.logic.front.exits import completes
from viameter.logic.front.expressions import evaluate
from viameter.logic.front.indexing import negative_variables
from viameter.logic.front.inputs import PRESENT, core_inputs, element_facts, input_facts
from viameter.logic.front.kinds import BIT
from viameter.logic.front.names import RESERVED, RESERVED_BUDGETS, Names, is_plain
from viameter.logic.front.requiring import required
from viameter.logic.front.returning import output_name
from viameter.logic.front.scanning import Scan, scanned
from viameter.logic.front.source import Source, source_from_text, source_of
from viameter.logic.front.starting import started
from viameter.logic.front.statements import translate
from viameter.logic.lang.core import Block, Program, Skip, assigned, statements_of
from viameter.logic.lang.parsing import canonical
from viameter.logic.lang.terms import Var

_MOST_PASSES = 40
TOO_DEEP = ("the program is nested too deeply", "name the parts of long expressions, and put loops into programs")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A core program, and the hints that were written into the function, by line of the program's own text.

    `shifts` are those of sampling statements, `invariants` those of while loops: text in core syntax, `x<1>` and
    `x<2>`. `parameters` are the function's, budgets among them, in their order.
    """

    program: Program
    shifts: dict[int, str] = field(default_factory=dict)
    invariants: dict[int, tuple[str, ...]] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()


def compile_function(
    function: Callable[..., Any],
    requires: str | Iterable[str] = (),
    *,
    private: frozenset[str] = frozenset(),
    slots: frozenset[str] = frozenset(),
) -> Compiled:
    """The program that a function stands for.

    `private` are the inputs that two runs may differ in, which scales must not depend on; `slots` those lists of which
    rows may be added or removed.
    """
    return _compile(source_of(function), requires, private, slots)


def compile_source(
    text: str,
    name: str | None = None,
    *,
    requires: str | Iterable[str] = (),
    private: frozenset[str] = frozenset(),
    slots: frozenset[str] = frozenset(),
    names: Mapping[str, Any] | None = None,
) -> Compiled:
    """The program that the text of a function stands for; `names` are other programs and constants that it uses.

    >>> print(compile_source("def half(q: int, eps: Eps) -> int: return q // 2 + lap(1 / eps)").program.body)
    Block(statements=(Sample(target=Var(name='noise', ...
    """
    return _compile(source_from_text(text, name, names=names), requires, private, slots)


def _compile(source: Source, requires: str | Iterable[str], private: frozenset[str], slots: frozenset[str]) -> Compiled:
    if requires is not None and not isinstance(requires, str | list | tuple):
        raise ParameterError(f"requires={plain(requires)}: expected facts as text, such as 'N >= 1'")
    parameters = _parameters(source)
    inputs = {name: entry for name, entry in parameters.items() if entry.shape != "budget"}
    budgets = tuple(name for name, entry in parameters.items() if entry.shape == "budget")
    returns = _returned(source)
    for name in slots:
        if name in inputs and inputs[name].shape == "list":
            inputs[name + PRESENT] = Declared("list", BIT, 0, 1)
    try:
        ctx = _context(source, inputs, budgets, private, slots, returns)
        _translate(ctx)
        return _finished(ctx, tuple(parameters), required(source, requires, core_inputs(inputs)))
    except RecursionError:
        raise source.error(source.tree, *TOO_DEEP) from None


def _parameters(source: Source) -> dict[str, Declared]:
    args = source.tree.args
    strange = args.vararg or args.kwarg
    if strange is not None:
        raise source.error(strange, f"the parameter *{strange.arg} is outside the subset", "name every parameter")
    if args.defaults or any(default is not None for default in args.kw_defaults):
        raise source.error(source.tree, "a parameter has a default", "leave it out: values are given when it is run")
    found: dict[str, Declared] = {}
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if arg.annotation is None:
            raise source.error(arg, f"the parameter {arg.arg} has no annotation", "write its type: q: list[int]")
        entry = declared(source, arg.annotation)
        if arg.arg in RESERVED or not is_plain(arg.arg) or (entry.shape == "budget" and arg.arg in RESERVED_BUDGETS):
            raise source.error(arg, f"{arg.arg} is a word of the core language", "give the parameter another name")
        found[arg.arg] = entry
    return found


def _returned(source: Source) -> Declared:
    node = source.tree.returns
    hint = 'write -> int, bool, vm.Grid("1/100") or list[...] of one of these'
    if node is None:
        raise source.error(source.tree, "the function does not say what it returns", hint)
    entry = declared(source, node)
    if entry.shape == "budget" or (entry.bounded and entry.kind != BIT):
        raise source.error(node, f"{ast.unparse(node)} is no type of a result", hint)
    return entry


def _context(
    source: Source, inputs: dict[str, Declared], budgets: tuple[str, ...], private: frozenset[str],
    slots: frozenset[str], returns: Declared,
) -> Context:  # fmt: skip
    scan: Scan = scanned(source, inputs, budgets)
    names = Names({*scan.used, *inputs, *budgets})
    locals_ = {name: name if name not in RESERVED else names.fresh(name) for name in scan.assigned}
    lists = frozenset(locals_[name] for name in scan.lists)
    listed = returns.shape == "list"
    own = output_name(scan.returns, scan.lists, list_returned=listed)
    output = locals_[own] if own is not None and own in locals_ else names.fresh("result")
    data = [name for name in inputs if name in (private or inputs) and not name.endswith(PRESENT)]
    grid = noise_grid([inputs[name] for name in data], returns)
    ctx = Context(
        source, inputs, budgets, private, slots, returns, grid, locals_, lists | ({output} if listed else set()),
        scan.once, names, evaluate, output,
    )  # fmt: skip
    ctx.fixed[output] = returns.kind
    # What is required of a single number does not bind those who call this program with a variable of their own.
    ctx.negative = frozenset(
        name for name, entry in inputs.items() if entry.shape != "list" or entry.low is None or entry.low < 0
    )
    return ctx


def _translate(ctx: Context) -> None:
    """Translate until the kinds of variables stay what they are."""
    body = ctx.source.tree.body
    if completes(body):
        raise ctx.error(body[-1], "the function may come to its end without a return", "return something on every path")
    for _ in range(_MOST_PASSES):
        ctx.start()
        translate(ctx, body)
        known, ctx.negative = ctx.negative, negative_variables(ctx.out, ctx.negative)
        if not ctx.changed and ctx.negative == known:
            break
    else:
        raise ctx.error(
            ctx.source.tree, f"the grid of {ctx.changed} gets finer without end",
            "give it a grid by an annotation, and round with // to stay on it",
        )  # fmt: skip
    for name, node in ctx.unknown.items():
        raise ctx.error(node, f"{name} is read, and nothing has been assigned to it", "assign to it first")


def _finished(ctx: Context, parameters: tuple[str, ...], requires: tuple[Any, ...]) -> Compiled:
    source = ctx.source
    inputs = frozenset(ctx.inputs)
    body = started(Block(tuple(ctx.out)), inputs, source.line(source.tree))
    output = Var(ctx.output, "list" if ctx.returns.shape == "list" else ctx.returns.kind.core)
    if output not in assigned(body):
        raise ctx.error(source.tree, f"nothing is ever appended to {ctx.output}", "a program releases something")
    facts = [*input_facts(ctx.inputs, ctx.slots & inputs), *requires]
    facts += [fact for fact in ctx.requires if fact not in facts]
    each = [fact for name, entry in ctx.inputs.items() if entry.shape == "list" for fact in element_facts(name, entry)]
    made = Program(
        source.tree.name, core_inputs(ctx.inputs), ctx.budgets, tuple(facts), body, output, tuple(each),
        ctx.returns.kind.grid or core_inputs({"": ctx.returns})[0].grid, mechanisms=dict(ctx.mechanisms),
    )  # fmt: skip
    try:
        program = canonical(made)
    except ParameterError as problem:
        raise source.error(source.tree, str(problem), TOO_DEEP[1]) from None
    old = [statement for statement in statements_of(made.body) if not isinstance(statement, Skip)]
    lines = {id(before): after.at for before, after in zip(old, statements_of(program.body), strict=True)}
    return Compiled(
        program,
        {lines[id(statement)]: text for statement, text in ctx.shifts if id(statement) in lines},
        {lines[id(statement)]: texts for statement, texts in ctx.invariants if id(statement) in lines},
        parameters,
    )
