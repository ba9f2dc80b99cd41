"""Losses as JSON, and back: the form that ledgers and certificates keep. Old records stay readable."""

from __future__ import annotations

from collections.abc import Mapping

from viameter.core import Loss, Measure
from viameter.errors import FormatError
from viameter.measures.amounts import ZCDP, ApproxDP, ApproxZCDP, BoundedRange, GaussianDP, PureDP
from viameter.measures.curves import Profile, RenyiDP

MEASURES: Mapping[str, Measure] = {
    measure.slug: measure
    for measure in (PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, BoundedRange, RenyiDP, Profile)
}


def loss_from_json(record: object) -> Loss:
    """Read a loss of any of the library's measures.

    >>> loss_from_json({"measure": "pure", "epsilon": "1/10"})
    pure(1/10)
    """
    slug = record.get("measure") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(slug, str) or slug not in MEASURES:
        raise FormatError(f"no loss: expected an object with `measure`, one of {', '.join(MEASURES)}")
    return MEASURES[slug].from_json(record)
