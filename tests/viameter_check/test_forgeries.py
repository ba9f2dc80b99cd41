"""No rule accepts what is false by the statement of its theorem.

The forgeries were made from statements and genuine certificates, without a look at the rules (but for those in
`ties`): each edits a genuine certificate, and its claim and hash are made to fit.
"""

import functools
from typing import Any

import pytest
from tests.cases import for_each
from tests.tables.quiet import DEPRECATIONS
from tests.viameter_check.forgeries import losses, mechanisms, ties, transformations
from tests.viameter_check.forgeries.forge import Edits, claimed, edited, nodes
from tests.viameter_check.forgeries.samples import names, sample

from viameter_check import RULES, check

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:{kind.__name__}") for message, kind in DEPRECATIONS
]  # what engines themselves warn of
FORGERIES = {**transformations.FORGERIES, **mechanisms.FORGERIES, **losses.FORGERIES}
CASES = [
    (f"{slug}: {why}", slug, name, edits)
    for slug, forgeries in (*FORGERIES.items(), *ties.FORGERIES.items())
    for why, name, edits in forgeries
]
genuine = functools.cache(sample)


def part(slug: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A genuine certificate, and its first node of a theorem."""
    document = genuine(name)
    return document, next(node for node in nodes(document["derivation"]) if node["theorem"] == slug)


@for_each("name", names())
def test_what_forgeries_are_made_from_is_genuine(name: str) -> None:
    document = genuine(name)
    report = check(document)
    assert report.ok, report
    again = check(claimed(document, document["derivation"]))
    assert again.ok and again.statement == report.statement, again


@for_each("slug", FORGERIES)
def test_what_forgeries_change_is_genuine_by_itself(slug: str) -> None:
    for _, name, _ in FORGERIES[slug]:
        report = check(claimed(*part(slug, name)))
        assert report.ok, (name, report)


@for_each(("why", "slug", "name", "edits"), CASES)
def test_a_forgery_is_refused(why: str, slug: str, name: str, edits: Edits) -> None:
    document, node = part(slug, name)
    forged = edited(node, edits)
    assert forged != node
    report = check(claimed(document, forged))
    assert not report.ok, (why, report)


def test_every_rule_has_two_forgeries() -> None:
    assert set(FORGERIES) == set(RULES)
    assert all(len(forgeries) >= 2 for forgeries in FORGERIES.values())
