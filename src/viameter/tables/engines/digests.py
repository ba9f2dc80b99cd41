"""Salted digests of a row's content, by which kept rows are put in order: the same in all engines, or an engine's own.

A digest is a function of the parts and the salt alone. Another salt gives an unrelated order. Two rows may have one
digest although their parts differ: whoever orders by it breaks ties by the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.capabilities import DUCKDB, PYSPARK, require
from viameter.tables.engines.imports import import_ibis


def portable_digest(engine: str, parts: Sequence[Any], salt: str) -> Any:
    """The MD5, as 32 hexadecimal digits, of a text that says salt and parts without ambiguity; equal in all engines.

    Parts are integers, text, booleans, dates and timestamps. The text is the salt, a bar, and for each part: `n` for
    NULL; `i`, its digits, `;` for an integer; `t`, its length in characters, `:`, itself for text; booleans are
    integers 0 and 1, dates and timestamps are the integers that they are made of.
    """
    require(engine, "portable digests")
    ibis = import_ibis()
    text = ibis.literal(f"{salt_in_sql(engine, 'portable', salt)}|")
    for part in _some(parts):
        text = text + _encoded(engine, part)
    return _function("md5", (text.type(),), "string")(text)


def native_digest(engine: str, parts: Sequence[Any], salt: str) -> Any:
    """A 64-bit integer by the engine's own hash of salt and parts: faster, but other rows come first in each engine."""
    require(engine, "native digests")
    ibis = import_ibis()
    parts, written = _some(parts), salt_in_sql(engine, "native", salt)
    if engine == DUCKDB:
        first = ibis.literal(int(written), type="int64")
        # Hashes of parts are combined by exclusive or: hashed once more, so that the salt does not only flip bits.
        inner = _function("hash", (first.type(), *(part.type() for part in parts)), "uint64")(first, *parts)
        return _function("hash", (inner.type(),), "uint64")(inner)
    if engine == PYSPARK:
        first = ibis.literal(int(written), type="int64")
        # Each part seeds the hash of the next. NULL is passed over, so that it is said apart where it stands.
        chain = [first, *(piece for part in parts for piece in (part.isnull(), part))]
        return _function("xxhash64", tuple(piece.type() for piece in chain), "int64")(*chain)
    # PostgreSQL's own hash of short texts that differ in a bit prefers some orders: it is given their MD5.
    text = ibis.literal(f"{written}|")
    for part in parts:
        text = text + _said(part.cast("string"))
    digest = _function("md5", (text.type(),), "string")(text)
    return _function("hashtextextended", ("string", "int64"), "int64")(digest, 0)


def salt_in_sql(engine: str, order: str, salt: str) -> str:
    """How a salt is written in the queries of an engine: nothing else in a digest depends on it.

    An engine's own hash begins with a number, or ("portable", and in PostgreSQL) a text begins with the salt and a bar.
    """
    if order == "portable" or engine not in (DUCKDB, PYSPARK):
        return _checked(salt)
    return str(int.from_bytes(sha256(_checked(salt).encode()).digest()[:8], signed=True))


def _checked(salt: str) -> str:
    if not isinstance(salt, str) or not salt.isascii() or not salt.isalnum():
        raise ParameterError("a salt is a text of letters and digits (ASCII), such as secrets.token_hex(16) gives")
    return salt


def _some(parts: Sequence[Any]) -> tuple[Any, ...]:
    if not parts:
        raise ParameterError("a digest needs at least one part")
    return tuple(parts)


def _encoded(engine: str, part: Any) -> Any:
    kind = part.type()
    if kind.is_string():
        return _said(part)
    if kind.is_boolean():
        part = part.ifelse(1, 0) if not kind.nullable else part.cast("int32")
        return _integers(part)
    if kind.is_integer():
        return _integers(part)
    if kind.is_date():
        return _integers(part.year(), part.month(), part.day())
    if kind.is_timestamp():
        date = (part.year(), part.month(), part.day())
        return _integers(*date, part.hour(), part.minute(), *_seconds_and_micros(engine, part))
    raise ParameterError(
        f"a portable digest takes integers, text, booleans, dates and timestamps; a column of type {kind} has no text "
        "that is the same in all engines: make a whole number of it first, or use the engine's own digest"
    )


def _said(text: Any) -> Any:
    return (_text("t") + text.length().cast("string") + _text(":") + text).fill_null("n")


def _integers(*values: Any) -> Any:
    text = _text("")
    for value in values:
        text = text + _text("i") + value.cast("string") + _text(";")
    return text.fill_null("n")


def _seconds_and_micros(engine: str, moment: Any) -> tuple[Any, Any]:
    if engine == PYSPARK:
        # What Ibis makes of these gives a fraction in Spark, or is not there.
        digits = _function("date_format", (moment.type(), "string"), "string")(moment, "SSSSSS")
        return _function("second", (moment.type(),), "int32")(moment), digits.cast("int32")
    return moment.second(), moment.microsecond()


def _text(value: str) -> Any:
    return import_ibis().literal(value)


@lru_cache(maxsize=256)
def _function(name: str, kinds: tuple[Any, ...], result: str) -> Any:
    """A function that the engine has, under its own name; made once for each list of types."""
    ibis = import_ibis()
    parameters = ", ".join(f"a{index}" for index in range(len(kinds)))
    stub = eval(f"lambda {parameters}: None")  # Ibis counts the parameters of what it is given
    signature = (tuple(ibis.dtype(kind) for kind in kinds), ibis.dtype(result))
    return ibis.udf.scalar.builtin(stub, name=name, signature=signature)
