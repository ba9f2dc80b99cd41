"""Theorems as text: the list, and each whole statement."""

import pytest
from click.testing import CliRunner

from viameter.cli import main
from viameter.theorem import all_theorems


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["theorems", *arguments])
    return result.exit_code, result.output


def test_the_list_has_one_line_for_every_theorem() -> None:
    code, text = run()
    assert code == 0
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == [known.slug for known in all_theorems()]
    for line, known in zip(lines, all_theorems(), strict=True):
        assert line.endswith(known.statement.title)


@pytest.mark.parametrize("slug", [known.slug for known in all_theorems()])
def test_a_theorem_is_shown_with_all_its_parts(slug: str) -> None:
    code, text = run(slug)
    assert code == 0
    for part in ("Theorem", "Requires", "Ensures", "Proof", "Example", "Cites", "Numbers", "Code"):
        assert f"\n{part}\n" in text
    known = next(known for known in all_theorems() if known.slug == slug)
    assert text.startswith(f"{known.statement.title} [{slug}]\n")
    for said in (known.cites, known.numbers.value, known.where, ">>>"):
        assert said in text


@pytest.mark.parametrize("slug", ["nonsense", "Chain", "trusted_map", ""])
def test_an_unknown_theorem_is_refused_with_where_to_look(slug: str) -> None:
    code, text = run(slug)
    assert code == 2
    assert f"no theorem is called {slug!r}" in text and "`viameter theorems` lists them" in text
    assert "Traceback" not in text
