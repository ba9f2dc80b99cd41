"""Verdicts as text: what is said, in lines that fit, and a tree whose branches hang together."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.logic.present.verdicts import PROVED, Adjacent, Stand, eps, of, unknown
from tests.logic.programs import ALL, RIGHT, UP, amount

import viameter as vm
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.terms import show
from viameter.logic.lang.text import numbered
from viameter.logic.present.parts import Document, Listing, Node, Note, Paragraph, Points, Table, Tree
from viameter.logic.present.text import WIDEST, as_text, explained
from viameter.logic.search.prover import NotProved
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import verify


def flat(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", PROVED)
def test_a_proof_says_what_was_proved_of_which_program_and_why(name: str) -> None:
    verdict = of(name)
    text = explained(verdict)
    (proved,) = verdict.proofs
    said = flat(text)
    assert said.startswith(
        f"PROVED: {name} costs at most {verdict.bound} in pure differential privacy, for inputs of any"
    )
    assert f"for inputs of any size, when {verdict.adjacency}." in said
    assert "exact discrete noise on the integers; nothing is said about floats" in said
    for line in numbered(proved.context.program).splitlines():
        assert f"  {line}" in text.splitlines()
    for clauses in proved.proof.invariants.values():
        for clause in clauses:
            assert show(clause) in said
    assert verdict.certificate is not None and verdict.certificate.digest in text
    assert (f"\n  {'out.R':10}  any one output" in text) == proved.proof.pointwise


@pytest.mark.parametrize("name", [*PROVED, "no_query_noise"])
def test_no_line_is_wider_than_a_screen_nor_ends_in_spaces(name: str) -> None:
    for line in explained(of(name)).splitlines():
        assert len(line) <= WIDEST and line == line.rstrip()


def test_the_unit_of_cost_is_told_with_how_many_the_claim_is() -> None:
    assert "cost.eps    counts eps/4: what was spent so far; the claim is 4 of these" in explained(
        of("above_threshold")
    )
    assert "counts eps/(4*N): what was spent so far; the claim is 4 * N of these" in explained(of("sparse_vector"))
    assert "counts eps: what was spent so far; the claim is len(q) of these" in explained(of("dummy_sum_1"))


def test_what_is_required_of_whoever_runs_it_is_told() -> None:
    assert "\n  required     1 <= N\n" in explained(of("sparse_vector"))
    assert "required" not in explained(of("above_threshold"))
    assert "\n  adjacent     abs(q<1>[k] - q<2>[k]) <= 1 for every index k of q\n" in explained(of("sparse_vector"))


def test_moved_draws_are_told_and_only_they() -> None:
    assert "Some draws are made later" in explained(of("early_noise"))
    assert "Some draws are made later" not in explained(of("dummy_sum_1"))


def test_two_directions_are_both_shown_and_the_second_shortened_if_it_is_like_the_first() -> None:
    alike = explained(of("dummy_sum_1", both=True))
    assert alike.count("[equality]") == 1 and "The proof, in the first direction:" in alike
    said = "The other direction (one q differs by at most 1, from the second run to the first): the same shifts,"
    assert said in flat(alike)
    program = RIGHT["monotone_sparse_vector"][0]
    verdict = verify(Stand(program, Adjacent((UP, UP.swapped()))), amount("eps", program), seconds=60)
    first, second = verdict.proofs
    assert first.proof != second.proof
    text = explained(verdict)
    assert text.count("[equality]") == 2 and text.count("The program, in core text") == 1
    assert "the same shifts" not in text
    for proved in (first, second):
        for clauses in proved.proof.invariants.values():
            assert all(show(clause) in text for clause in clauses)


def in_a_file(folder: Path) -> tuple[Verdict, Path]:
    """A proved program whose lines come from a file, whatever that says."""
    program, neighbors, claim = RIGHT["above_threshold"]
    path = folder / "mine.py"
    path.write_text("\n".join(f"line {at} of the file" for at in range(1, 40)))
    source = {6: 12, 7: 12, 8: 13, 10: 14, 11: 99}
    return verify(Stand(replace(program, source=source), Adjacent((neighbors,)), str(path)), claim), path


def test_the_lines_of_the_file_stand_beside_the_core_program(tmp_path: Path) -> None:
    verdict, path = in_a_file(tmp_path)
    lines = explained(verdict).splitlines()
    assert any(line.endswith("beside the lines of mine.py:") for line in lines)
    beside = {
        line.split()[0]: line.partition("│")[2].strip() for line in lines if line.startswith("  ") and "│" in line
    }
    assert beside["6"] == "12  line 12 of the file" and beside["7"] == "12" and beside["8"] == "13  line 13 of the file"
    assert beside["11"] == "99" and beside["9"] == ""
    path.unlink()
    assert "line 12 of the file" not in explained(verdict)
    assert any(line.endswith("│ 12") for line in explained(verdict).splitlines())


def test_a_long_line_of_the_file_is_cut_to_fit(tmp_path: Path) -> None:
    verdict, path = in_a_file(tmp_path)
    path.write_text("\n" * 11 + "x = " + "1 + " * 60 + "1\n")
    lines = explained(verdict).splitlines()
    assert all(len(line) <= WIDEST for line in lines) and [line for line in lines if "…" in line]
    assert all(line.lstrip().startswith("6 ") for line in lines if "…" in line)


@for_each(
    ("fields", "said"),
    [
        ({"measure": "zcdp", "rho": Fraction(1, 200)}, "at most rho = 1/200 in zero-concentrated differential privacy"),
        (
            {"measure": "approx", "delta": Fraction(1, 1000)},
            "costs at most epsilon = eps with delta = 1/1000 in approximate differential privacy",
        ),
    ],
)
def test_other_measures_are_named(fields: dict[str, object], said: str) -> None:
    assert said in flat(explained(replace(of("above_threshold"), **fields)))  # type: ignore[arg-type]


def test_a_claim_that_was_converted_says_from_what() -> None:
    verdict = replace(of("above_threshold"), measure="approx", delta=Fraction(1, 9), rho=Fraction(1, 50))
    assert "rho = 1/50, which gives the claim by the conversion" in explained(verdict)
    assert "rho" not in explained(replace(verdict, rho=None))


def test_tightness_is_told() -> None:
    verdict = replace(of("above_threshold"), tight="a witness shows that the bound cannot be lower")
    assert "tight        a witness shows that the bound cannot be lower" in explained(verdict)


def test_grids_are_told() -> None:
    program = on_a_grid()
    verdict = verify(Stand(program, Adjacent((replace(ALL, each=()),))), amount("eps", program), seconds=20)
    assert verdict.status is Status.PROVED
    text = explained(verdict)
    assert "\n  grid         input q is counted in steps of 1/100\n" in text
    assert "\n               the output is counted in steps of 1/10\n" in text
    assert "grid" not in explained(of("above_threshold"))


def on_a_grid() -> Program:
    return read_program(
        "program p\ninput q: list on 1/100\nbudget eps\nbegin\n  z :=$ lap(1/eps)\n  result := z\nend\n"
        "return result on 1/10\n"
    )


def test_a_refutation_has_the_witness_and_a_snippet_that_runs() -> None:
    verdict = of("no_query_noise")
    text = explained(verdict)
    assert verdict.witness is not None and verdict.status is Status.REFUTED
    assert text.startswith("REFUTED: no_query_noise does not have privacy loss eps.")
    for line in verdict.witness.text().splitlines()[1:]:
        assert line.strip() in text
    for name, budget in verdict.witness.gap.budgets.items():
        assert text.count(f"{name} = {budget}") == 1
    snippet = text.partition("Paste this into Python to compute it again:\n")[2]
    assert snippet.strip() == verdict.witness.paste().strip()
    exec(snippet.replace("print(", "str("), {})


def test_unknown_says_what_is_missing_and_where_and_that_it_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("one\ntwo\n    if q[i] > 0:\n")
    missing = NotProved("both runs take the same branch", 14, {"q<1>[0]": 3, "q<2>[0]": 4})
    text = explained(unknown(missing, source=(str(path), {14: 3}), bound=eps(2)))
    assert "What is missing (mine.py, line 3): both runs take the same branch." in text
    assert "\n  3  if q[i] > 0:\n" in text
    assert "UNKNOWN says nothing about the program" in flat(text) and "costs at most 2*eps" in flat(text)
    for hint in ("vm.invariant(", "shift=", "requires=", "seconds=300", "--seconds 300", "a larger bound"):
        assert hint in text
    path.unlink()
    assert "What is missing (mine.py, line 3)" in explained(unknown(missing, source=(str(path), {14: 3})))


def test_unknown_without_a_file_or_a_line_still_says_what_is_missing() -> None:
    assert "What is missing (line 7 of the core text): it." in explained(unknown(NotProved("it", 7)))
    text = explained(unknown(NotProved("no shifts were found", 0)))
    assert "What is missing: no shifts were found." in text and "a larger bound" not in text
    assert "no bound was found for what thing costs when every q differs by at most 1" in flat(text)


def test_mechanisms_that_are_called_are_told_with_what_they_cost() -> None:
    verdict = of("above_threshold")
    (proved,) = verdict.proofs
    space = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    other = mechanism(vm.laplace(space, scale=4), distance=2)
    program = replace(proved.context.program, mechanisms={"other": other})
    context = replace(proved.context, program=program)
    text = explained(replace(verdict, proofs=(replace(proved, context=context),)))
    said = "* other: epsilon = 1/2, delta = 0 for integers that are at most 2 apart"
    assert text.endswith(f"It rests on what the mechanisms that are called cost by their own maps:\n  {said}")
    assert "by their own maps" not in explained(verdict)


words = st.lists(st.sampled_from(["a", "x<1>", "==", "-", "word" * 3]), min_size=1, max_size=30).map(" ".join)
notes = st.builds(Note, st.sampled_from(["", "label"]), st.lists(words, min_size=1, max_size=2).map(tuple))
leaves = st.builds(
    Node, words, st.sampled_from(["", "rule"]), st.integers(0, 120), st.lists(notes, max_size=2).map(tuple)
)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda node, below: replace(node, children=tuple(below)), leaves, st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)


@given(trees)
def test_branches_of_a_tree_hang_together(root: Node) -> None:
    lines = as_text(Document("PROVED", "it", (Tree("", root),))).split("\n\n", 1)[1].splitlines()
    for above, below in zip(lines, [*lines[1:], ""], strict=True):
        for column, letter in enumerate(above):
            if letter in "│├":
                assert below[column : column + 1] in "│├└" and below[column : column + 1]
            if letter == "└":
                assert below[column : column + 1] not in ("│", "├", "└")
    for above, below in pairwise(lines[1:]):
        if "─ " not in above:  # a note of the parent, or of what stands before it
            assert all(above[column : column + 1] == "│" for column, letter in enumerate(below) if letter in "├└")
    joints = sum(line.count("├─ ") + line.count("└─ ") for line in lines)
    assert joints == _count(root) - 1
    assert all(len(line) <= WIDEST for line in lines)


def _count(node: Node) -> int:
    return 1 + sum(map(_count, node.children))


def test_parts_are_divided_and_long_ones_wrapped() -> None:
    long = "word " * 60
    parts = (
        Paragraph(long), Points("Try:", (long, "b")), Listing("", ("  kept  spaces",)),
        Listing("", ("x" * 130,), code=True),
        Table("T:", (("name", long), ("n", "b"))), Table("", (("a", "1", "22", ""),), ("", "run 1", "run 2", "")),
    )  # fmt: skip
    text = as_text(Document("UNKNOWN", "it.", parts))
    blocks = text.split("\n\n")
    assert len(blocks) == 7 and blocks[0] == "UNKNOWN: it."
    assert blocks[3] == "    kept  spaces" and blocks[4] == "x" * 130
    assert blocks[2].splitlines()[0] == "Try:" and blocks[2].splitlines()[-1] == "  * b"
    table = blocks[5].splitlines()
    assert table[1].startswith("  name  word") and table[2].startswith("        word") and table[-1] == "  n     b"
    assert blocks[6].splitlines() == ["     run 1  run 2", "  a      1     22"]
    assert all(len(line) <= WIDEST for block in (*blocks[:4], *blocks[5:]) for line in block.splitlines())
