"""An order of rows that depends on what is in them alone, so that what is kept does not depend on where rows stand.

Rows are ordered by a hash of their content, so that what is kept of them is not, say, the smallest values; rows of the
same hash are ordered by the content itself. No bound rests on the quality of the hash, only on its being a function.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from viameter.spaces import Array

_ODD = np.uint64(0x9E3779B97F4A7C15)


def content_order(member: Any, *, first: Array | None = None) -> Array:
    """The places of the rows, in order of `first` if it is given, and by content among equals."""
    columns = list(member.values()) if isinstance(member, dict) else [member]
    bits = [_bits(column) for column in columns]
    mixed = np.zeros(len(bits[0]), dtype=np.uint64)
    for column in bits:
        mixed = _mix(mixed * _ODD + column)
    # lexsort takes the most important key last.
    keys = [*(_ranks(column) for column in columns), mixed]
    return np.lexsort([*keys, _ranks(first)] if first is not None else keys)


def _bits(column: Array) -> Array:
    """64 bits for each value: its own, or a digest of it."""
    if column.dtype == object:
        digests = {value: _digest(value) for value in set(column.tolist())}
        return np.fromiter((digests[value] for value in column.tolist()), dtype=np.uint64, count=len(column))
    return np.ascontiguousarray(column).view(np.uint64)


def _ranks(column: Array) -> Array:
    """Integers that are ordered, and equal, as the values are (floats by their bits, so that NaN has a place)."""
    if column.dtype == object:
        places = {value: place for place, value in enumerate(sorted(set(column.tolist())))}
        return np.fromiter((places[value] for value in column.tolist()), dtype=np.int64, count=len(column))
    return np.ascontiguousarray(column).view(np.int64)


def _mix(values: Array) -> Array:
    """The finalizer of SplitMix64: every bit of the input moves about half of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = values ^ (values >> np.uint64(31))
    return mixed


def _digest(value: str) -> int:
    return int.from_bytes(hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
