"""What a forger does to a certificate: change values, and make the hash and the sentence fit again."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import ibis
import pyarrow as pa

import viameter as vm
from viameter.core.certificate import content_hash
from viameter_check import Report, check

Path = tuple[Any, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is not an object or a list, with its path."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))
    else:
        yield path, value


def at(document: Any, path: Path) -> Any:
    """The value at a path."""
    for part in path:
        document = document[part]
    return document


def changed(document: dict[str, Any], *changes: tuple[Path, Any]) -> dict[str, Any]:
    """A copy with other values at some paths, and the hash that fits; what is not changed is shared."""
    forged: Any = document
    for path, value in changes:
        forged = _with(forged, path, value)
    return rehashed(forged)


def _with(inner: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    part, *rest = path
    same: Any = inner.copy()
    if isinstance(same, dict) and not rest:
        same[part] = value
    else:
        same[part] = _with(same[part], tuple(rest), value)
    return same


def rehashed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the hash of its content."""
    return {**document, "hash": content_hash(document)}


def refused_at(document: Any) -> str:
    """The path at which the checker refuses a certificate for the first time."""
    report: Report = check(document)
    assert not report.ok, report
    assert report.loss is None and report.statement == "" and report.derived == 0
    return report.failures[0].path


_TABLES: dict[str, Any] = {}


@cache
def _engine() -> Any:
    return ibis.duckdb.connect()


def stored(columns: Mapping[str, Any]) -> Any:
    """These columns as a table on one engine for all tests: to start an engine takes ten times as long as to open."""
    name = repr(columns)
    if name not in _TABLES:
        _TABLES[name] = _engine().create_table(f"table_{len(_TABLES)}", pa.table(dict(columns)))
    return _TABLES[name]


def waiting() -> vm.Measurement:
    """The measurement that most forgeries are tried on."""
    rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    return rows >> vm.clamp(bounds=(0, 240)) >> vm.sum() >> vm.laplace(scale=2400) >> vm.postprocess(abs)
