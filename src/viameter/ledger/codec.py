"""Answers as bytes, and back: JSON with a tag for each kind of value. Nothing that is read can run.

What is released is what was stored: a value is written, kept, read again, and then given to whoever asked, so that the
first time and every later one are the same.
"""

from __future__ import annotations

import base64
import json
import math
import operator
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.core import Loss, Queryable
from viameter.errors import FormatError
from viameter.ledger.chain import canonical
from viameter.measures import loss_from_json

DEEPEST = 100
"""How deep values may be nested."""
LONGEST = 1024
"""How many bits an integer may have to be written in decimals, which Python does for so many and no more."""

Place = Callable[[Queryable], int]
Find = Callable[[int], Any]


def encode(value: Any, *, place: Place | None = None) -> bytes:
    """A value as bytes; `place` gives queryables the number under which they are found again.

    >>> encode((1, Fraction(1, 3)))
    b'{"tuple":[1,{"fraction":[1,3]}]}'
    >>> decode(encode({("A", 1): 2.5}))
    {('A', 1): 2.5}
    """
    return canonical(_written(value, place, 0)).encode("ascii")


def decode(content: bytes, *, find: Find | None = None) -> Any:
    """The value of bytes that `encode` wrote."""
    try:
        return _read(json.loads(content), find)
    except FormatError:
        raise
    except Exception:  # whatever is wrong with bytes that were not written here
        raise FormatError("no answer: the bytes are not those of a value as this library writes them") from None


def _written(value: Any, place: Place | None, depth: int) -> Any:
    if depth > DEEPEST:
        raise FormatError("an answer that is nested deeper than a hundred times cannot be stored")

    def inside(item: Any) -> Any:
        return _written(item, place, depth + 1)

    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if value.bit_length() <= LONGEST else {"int": hex(value)}
    if kind is Fraction:
        return {"fraction": [inside(value.numerator), inside(value.denominator)]}
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [inside(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [inside(item) for item in value]}  # also named ones: their names are no part of the answer
    if isinstance(value, dict):
        return {"dict": [[inside(key), inside(item)] for key, item in value.items()]}
    if isinstance(value, set | frozenset):
        tag = "set" if isinstance(value, set) else "frozenset"
        return {tag: sorted((inside(item) for item in value), key=canonical)}
    if kind is np.ndarray:  # none that derives from it: what a masked one hides is there in its bytes
        return _written_array(value, inside)
    if isinstance(value, np.generic):
        return {"scalar": _written_array(np.asarray(value), inside)["array"]}
    if isinstance(value, Loss):
        return {"loss": _written_loss(value)}
    if isinstance(value, Queryable) and place is not None:
        return {"queryable": place(value)}
    for tag, (known, write, _) in _SIMPLE.items():
        if kind is known:
            return {tag: write(value)}
    raise FormatError(f"an answer of type {kind.__name__} cannot be stored: give numbers, text, lists, dicts or arrays")


def _written_loss(loss: Loss) -> dict[str, Any]:
    try:
        written = loss.to_json()
        if loss_from_json(written) == loss:
            return written
    except Exception:  # a measure of somebody else, or a curve that is a function
        pass
    raise FormatError(f"an answer with a loss of type {type(loss).__name__} cannot be stored")


def _written_array(array: Any, inside: Callable[[Any], Any]) -> dict[str, Any]:
    shape = list(array.shape)
    if array.dtype == object:
        return {"array": ["object", shape, [inside(item) for item in array.ravel().tolist()]]}
    # Floats of more than 64 bits are padded with whatever was in memory, and are not the same everywhere.
    if array.dtype.kind not in "biufUSMm" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        raise FormatError(f"an answer with an array of {array.dtype} cannot be stored")
    content = np.ascontiguousarray(array).tobytes()
    return {"array": [array.dtype.str, shape, base64.b64encode(content).decode("ascii")]}


def _read(value: Any, find: Find | None) -> Any:
    if isinstance(value, list):
        return [_read(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    [(tag, held)] = value.items()
    if tag == "tuple":
        return tuple(_read(item, find) for item in held)
    if tag == "dict":
        return {_read(key, find): _read(item, find) for key, item in held}
    if tag == "set":
        return {_read(item, find) for item in held}
    if tag == "frozenset":
        return frozenset(_read(item, find) for item in held)
    if tag == "fraction":
        numerator, denominator = (operator.index(_read(item, find)) for item in held)
        return Fraction(numerator, denominator)
    if tag in ("array", "scalar"):
        array = _read_array(held, find)
        return array if tag == "array" else array[()]
    if tag == "loss":
        return loss_from_json(held)
    if tag == "queryable" and find is not None:
        return find(held)
    return _SIMPLE[tag][2](held)


def _read_array(held: Any, find: Find | None) -> Any:
    kind, shape, content = held
    if kind == "object":
        array = np.empty(len(content), dtype=object)
        for place, item in enumerate(content):  # one by one: lists would be taken for rows
            array[place] = _read(item, find)
    else:
        array = np.frombuffer(base64.b64decode(content, validate=True), dtype=np.dtype(kind)).copy()
    shaped = array.reshape(shape)
    if list(shaped.shape) != shape:
        raise ValueError("a shape that leaves a side to be guessed")
    return shaped


_SIMPLE: dict[str, tuple[type[Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "int": (int, hex, lambda text: int(text, 16)),
    "decimal": (Decimal, str, Decimal),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "seconds": (
        timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda held: timedelta(days=held[0], seconds=held[1], microseconds=held[2]),
    ),
}
"""Values that are one text each: their type, how they are written, how they are read."""
