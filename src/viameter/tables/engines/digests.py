"""Portable digests: the MD5 of a text that says salt and parts without ambiguity, equal in all engines.

Parts are integers, text, booleans, dates and timestamps. The text is the salt, a bar, and for each part: `n` for NULL;
`i`, its digits, `;` for an integer; `t`, its length in characters, `:`, itself for text; booleans are integers 0 and 1,
dates and timestamps are the integers that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.imports import import_ibis


def portable_digest(parts: Sequence[Any], salt: str, seconds_and_micros: Callable[[Any], tuple[Any, Any]]) -> Any:
    """The digest, as 32 hexadecimal digits."""
    text = import_ibis().literal(f"{salt}|")
    for part in parts:
        text = text + _encoded(part, seconds_and_micros)
    return builtin("md5", (text.type(),), "string")(text)


def checked_salt(salt: str) -> str:
    """The salt, if it stands for itself in every query."""
    if not isinstance(salt, str) or not salt.isascii() or not salt.isalnum():
        raise ParameterError("a salt is a text of letters and digits (ASCII), such as secrets.token_hex(16) gives")
    return salt


def number_of_salt(salt: str) -> str:
    """A salt as the digits of a number of 64 bits."""
    return str(int.from_bytes(sha256(salt.encode()).digest()[:8], signed=True))


def said(text: Any) -> Any:
    """Text, such that no two sequences of texts are said alike."""
    return (_text("t") + text.length().cast("string") + _text(":") + text).fill_null("n")


@lru_cache(maxsize=256)
def builtin(name: str, kinds: tuple[Any, ...], result: Any) -> Any:
    """A function that the engine has, under its own name; made once for each list of types."""
    ibis = import_ibis()
    parameters = ", ".join(f"a{index}" for index in range(len(kinds)))
    stub = eval(f"lambda {parameters}: None")  # Ibis counts the parameters of what it is given
    signature = (tuple(ibis.dtype(kind) for kind in kinds), ibis.dtype(result))
    return ibis.udf.scalar.builtin(stub, name=name, signature=signature)


def _encoded(part: Any, seconds_and_micros: Callable[[Any], tuple[Any, Any]]) -> Any:
    kind = part.type()
    if kind.is_string():
        return said(part)
    if kind.is_boolean():
        part = part.ifelse(1, 0) if not kind.nullable else part.cast("int32")
        return _integers(part)
    if kind.is_integer():
        return _integers(part)
    if kind.is_date():
        return _integers(part.year(), part.month(), part.day())
    if kind.is_timestamp():
        date = (part.year(), part.month(), part.day())
        return _integers(*date, part.hour(), part.minute(), *seconds_and_micros(part))
    raise ParameterError(
        f"a portable digest takes integers, text, booleans, dates and timestamps; a column of type {kind} has no text "
        "that is the same in all engines: make a whole number of it first, or use the engine's own digest"
    )


def _integers(*values: Any) -> Any:
    text = _text("")
    for value in values:
        text = text + _text("i") + value.cast("string") + _text(";")
    return text.fill_null("n")


def _text(value: str) -> Any:
    return import_ibis().literal(value)
