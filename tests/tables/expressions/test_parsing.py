"""Expressions written as text are read as data."""

import pytest

from viameter.errors import ParameterError
from viameter.tables.expressions import Column, Kind, Schema, Type, case, evaluate
from viameter.tables.expressions.parsing import LONGEST, parse

SCHEMA = Schema(
    {"n": Type(Kind.INTEGER), "x": Type(Kind.REAL), "t": Type(Kind.TEXT), "d": Type(Kind.DATE), "b": Type(Kind.BOOLEAN)}
)
N, X, T, D, B = (Column(name, SCHEMA[name]) for name in "nxtdb")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("n > 3", N > 3),
        ("3 < n <= 5", (N > 3) & (N <= 5)),
        ("n > 3 and not b or t == 'a'", ((N > 3) & ~B) | (T == "a")),
        ("(n > 3) & ~b | (t != 'a')", ((N > 3) & ~B) | (T != "a")),
        ("t in ['a', \"it's\"]", T.is_in(["a", "it's"])),
        ("t not in ('a', 'b')", ~T.is_in(["a", "b"])),
        ("t is None", T.is_null()),
        ("t is not None", ~T.is_null()),
        ("-n + 2 * x / 3 - n // 2 % 5 > -1.5", -N + 2 * X / 3 - N // 2 % 5 > -1.5),
        ("d.year() == 2013", D.year() == 2013),
        ("t.lower().starts_with('u')", T.lower().starts_with("u")),
        ("case((n > 1, 'many'), (n == 1, 'one'), default='none') == t",
         case((N > 1, "many"), (N == 1, "one"), default="none") == T),
        (" b ", B),
    ],
)  # fmt: skip
def test_a_text_means_what_python_would(text: str, meant: object) -> None:
    assert parse(text, SCHEMA).key == meant.key  # type: ignore[attr-defined]


def test_constants_are_expressions_too() -> None:
    assert evaluate(parse("1 + 2", SCHEMA), {}) == 3
    assert evaluate(parse("True", SCHEMA), {}) is True


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "n.columns", "n.key", "n.__class__", "n.is_null", "(lambda: n)()",
        "[n for n in t]",
        "n if b else x", "f'{n}'", "n ** 9", "n << 2", "open('x')", "n.bin(edges=[1])", "t is 'a'", "n := 3", "",
        "n >", "n; x",
        "'a' * 1000000000", "(1, 2)", "b'x'", "1j", "...", "m > 3", "is_null(n)",
    ],
)  # fmt: skip
def test_whatever_else_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse(text, SCHEMA)


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    with pytest.raises(ParameterError, match="too long"):
        parse("n > " + "1" * LONGEST, SCHEMA)
    with pytest.raises(ParameterError):
        parse("(" * 900 + "n" + ")" * 900, SCHEMA)
    with pytest.raises(ParameterError):
        parse("not " * 2000 + "b", SCHEMA)


def test_an_unknown_column_is_named_with_those_that_exist() -> None:
    with pytest.raises(ParameterError, match="there is no column 'nn'"):
        parse("nn > 3", SCHEMA)
