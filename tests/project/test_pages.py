"""Pages name what there is: tests, theorems, versions, and no path of a machine."""

import functools
import re
from pathlib import Path

import pytest

import viameter.composition.accounting
import viameter.logic.running
import viameter.neighborhood
import viameter.tables  # noqa: F401  # with the lines above, registers every theorem
from viameter.theorem import all_theorems

ROOT = Path(__file__).parents[2]


def test_no_page_names_a_path_of_somebodys_machine() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/**/*.md")]
    for page in pages:
        assert not re.search(r"/(tmp|home|root|work)/", page.read_text()), page


def test_the_changelog_names_the_version() -> None:
    from viameter import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


@functools.cache
def known_tests() -> set[str]:
    """The names of all tests."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    return {name for source in sources for name in re.findall(r"def (test_\w+)\(", source)}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("source-*.md")), ids=lambda page: page.stem)
def test_every_test_that_a_source_page_names_exists(page: Path) -> None:
    """The pages that map a source document to code and tests name what is there."""
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) >= 6 and named <= known_tests(), named - known_tests()
    files = set(re.findall(r"`(tests/[\w/]+\.py)`", text))
    assert all((ROOT / file).exists() for file in files), files
    slugs = set(re.findall(r"\]\(#([a-z0-9-]+)\)", text))
    assert slugs and slugs <= {known.slug for known in all_theorems()}
