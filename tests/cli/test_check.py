"""`viameter check`: what is printed, and what it exits with."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import viameter as vm
from viameter.cli import main
from viameter.core.certificate import content_hash

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
VOUCHED = vm.transformation(
    function=len,
    output=vm.Space(vm.scalars(int), vm.AbsoluteDistance()),
    stability=lambda d: 2 * d,
    trust="len is 2-stable",
)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["check", *arguments])
    return result.exit_code, result.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "certificate.json"
    (ROWS >> VOUCHED >> vm.laplace(scale=10)).certificate(1).write(found)
    return found


def test_a_certificate_that_holds_is_told_with_what_was_taken_on_trust(path: Path) -> None:
    code, text = run(str(path))
    assert code == 0
    assert text.splitlines() == [
        "On data at most 1 apart in SymmetricDistance(), releases are close in pure: epsilon 1/5.",
        "Derived again: 2, by chain, laplace-on-integers.",
        "Taken on trust:",
        "  * derivation.premises[0].assumes[0]: len is 2-stable (transformation len)",
        '  * derivation.premises[0]: the bound of what calls itself "transformation(function=len, output='
        "Space(domain=scalars(int), metric=AbsoluteDistance()), stability=<lambda>, trust='len is 2-stable')\" "
        "is taken from the certificate",
        "OK",
    ]


def test_a_certificate_that_fails_is_told_with_the_node(path: Path) -> None:
    document = json.loads(path.read_text())
    document["derivation"]["premises"][1]["parameters"]["scale"] = "1"
    document["hash"] = content_hash(document)
    path.write_text(json.dumps(document))
    code, text = run(str(path))
    assert code == 1
    assert text.splitlines() == [
        "FAILED",
        "  * derivation.premises[1].bound.epsilon: 1/5 is too small: laplace-on-integers gives 2",
    ]


def test_the_report_as_json(path: Path) -> None:
    code, text = run(str(path), "--json")
    assert code == 0 and json.loads(text)["derived"] == 2
    path.write_text("{}")
    code, text = run(str(path), "--json")
    assert code == 1 and json.loads(text)["ok"] is False


@pytest.mark.parametrize("content", [None, "", "{", "nonsense"])
def test_what_cannot_be_read_is_a_fault_of_the_call(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "it.json"
    if content is not None:
        path.write_text(content)
    code, text = run(str(path))
    assert code == 2 and "it.json" in text and "Traceback" not in text
    assert run()[0] == 2
