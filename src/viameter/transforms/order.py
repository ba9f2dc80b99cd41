"""An order of rows that depends on what is in them alone, so that what is kept does not depend on where rows stand.

Each row draws a lot: a hash of its content and of which of the equal rows it is (the first, the second, ...). So what
is kept is not, say, the smallest values, and equal rows do not stay or go together. A row more adds one lot and changes
no other: equal rows are interchangeable. No bound rests on the quality of the hash, only on its being a function.
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
    # Equal rows are told apart by which of them they are, so that each draws a lot of its own; a row more adds one lot.
    # lexsort takes the most important key last.
    ranks = [_ranks(column) for column in columns]
    which = np.zeros(len(mixed), dtype=np.int64)
    together = np.lexsort([*ranks, mixed])
    which[together] = _places_in_runs([rank[together] for rank in ranks])
    lots = _mix(mixed + which.view(np.uint64) * _ODD)
    keys = [which, *ranks, lots]
    return np.lexsort([*keys, _ranks(first)] if first is not None else keys)


def _places_in_runs(columns: list[Array]) -> Array:
    """0, 1, 2, ... within each run of equal rows."""
    places = np.arange(len(columns[0]))
    starts = np.zeros(len(places), dtype=bool)
    starts[:1] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return places - np.maximum.accumulate(np.where(starts, places, 0))


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
