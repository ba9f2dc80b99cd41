"""Every page's examples run with what the page says to install, and README's first ones after a plain install."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.project.installed import extras_named

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if ">>>" in page.read_text()]
PLAIN = [page for page in PAGES if not extras_named(page.read_text())]
MORE = [page for page in PAGES if page not in PLAIN]


def run(*pages: Path) -> str:
    command = [sys.executable, str(Path(__file__).with_name("installed.py")), *map(str, pages)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


def test_pages_run_with_what_they_name_most_of_them_after_a_plain_install() -> None:
    """README last: it names extras, and its first examples come before them."""
    assert len(PLAIN) > 10 and README not in PLAIN
    assert not run(*PLAIN, README)


@pytest.mark.long
@pytest.mark.parametrize("page", MORE, ids=lambda page: page.stem)
def test_other_pages_run_with_the_extras_that_they_name(page: Path) -> None:
    assert not run(page)
