"""README and docs show what the programs really print."""

import re
from pathlib import Path

from click.testing import CliRunner

from viameter.cli import main

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_real_output_of_the_demo() -> None:
    shown = without_noise(CliRunner().invoke(main, ["demo"]).output)
    readme = without_noise((ROOT / "README.md").read_text())
    assert f"```text\n{shown}```" in readme


def without_noise(text: str) -> str:
    """What was released is another number every time."""
    return re.sub(r"released: -?\d+", "released: ...", text)


def test_no_page_names_a_path_of_somebodys_machine() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/**/*.md")]
    for page in pages:
        assert not re.search(r"/(tmp|home|root|work)/", page.read_text()), page


def test_the_changelog_names_the_version() -> None:
    from viameter import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
