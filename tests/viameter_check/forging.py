"""What a forger does to a certificate: change values, and make the hash and the sentence fit again."""

import copy
from collections.abc import Iterator
from typing import Any

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
    """A copy with other values at some paths, and the hash that fits."""
    forged = copy.deepcopy(document)
    for path, value in changes:
        at(forged, path[:-1])[path[-1]] = value
    return rehashed(forged)


def rehashed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the hash of its content."""
    return {**document, "hash": content_hash(document)}


def refused_at(document: Any) -> str:
    """The path at which the checker refuses a certificate for the first time."""
    report: Report = check(document)
    assert not report.ok, report
    assert report.loss is None and report.statement == "" and report.derived == 0
    return report.failures[0].path


def waiting() -> vm.Measurement:
    """The measurement that most forgeries are tried on."""
    rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    return rows >> vm.clamp(bounds=(0, 240)) >> vm.sum() >> vm.laplace(scale=2400) >> vm.postprocess(abs)
