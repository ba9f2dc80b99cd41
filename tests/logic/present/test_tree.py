"""The tree of rules: the same as the certificate's, every statement once, everything chosen shown."""

from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.present.verdicts import PROVED, nodes, of

from viameter.logic.certificate import tree_of as certified_tree
from viameter.logic.kernel.rules.sampling import RULES
from viameter.logic.lang.core import Sample, Skip, While, statements_of
from viameter.logic.lang.terms import show
from viameter.logic.lang.text import show_program
from viameter.logic.present.parts import Node
from viameter.logic.present.tree import steps_of, tree_of
from viameter.logic.search.prover import Proved


def proof_of(name: str) -> Proved:
    (proved,) = of(name).proofs
    return proved


def as_certified(children: tuple[Node, ...]) -> dict[str, Any]:
    """Nodes in the form of a certificate's tree; rules for one run alone are called as those for both."""
    found = []
    for node in children:
        if node.rule.startswith("cond"):
            branches = {child.head: child.children for child in node.children}
            premises = [as_certified(branches.get(word, ())) for word in ("then", "else")]
        else:
            premises = [as_certified(node.children)] if node.children else []
        found.append({"rule": node.rule.removesuffix("-one"), "line": node.line, "premises": premises})
    if not found:
        return {"rule": "skip", "line": 0, "premises": []}
    return found[0] if len(found) == 1 else {"rule": "seq", "line": found[0]["line"], "premises": found}


@pytest.mark.parametrize("name", PROVED)
def test_the_tree_is_that_of_the_certificate(name: str) -> None:
    proved = proof_of(name)
    root = tree_of(proved)
    assert as_certified(root.children) == certified_tree(proved.context.program.body, proved.proof)
    assert root.rule == ("pointwise" if proved.proof.pointwise else "equality")


@for_each("name", PROVED)
def test_every_statement_stands_in_the_tree_once_with_its_own_text(name: str) -> None:
    proved = proof_of(name)
    lines = show_program(proved.context.program).splitlines()
    found = [node for node in nodes(tree_of(proved)) if node.line]
    assert [node.line for node in found] == [
        s.at for s in statements_of(proved.context.program.body) if not isinstance(s, Skip)
    ]
    for node in found:
        assert lines[node.line - 1].strip() == node.head


@for_each("name", PROVED)
def test_loops_show_their_invariants_and_variants_and_draws_how_they_are_coupled(name: str) -> None:
    proved = proof_of(name)
    by_line = {node.line: node for node in nodes(tree_of(proved))}
    for statement in statements_of(proved.context.program.body):
        notes = {note.label: note.lines for note in by_line[statement.at].notes}
        if isinstance(statement, While):
            assert notes["invariant"] == tuple(show(term) for term in proved.proof.invariants[statement.at])
            assert notes["variant"] == (show(proved.proof.variants[statement.at]),)
        elif isinstance(statement, Sample):
            assert by_line[statement.at].rule == RULES[type(statement.law)]
            assert any(line.strip().startswith(f"{statement.target.name}<2> = ") for line in notes[""])


def test_branches_that_the_runs_take_apart_are_said_to_be_so() -> None:
    apart, together = proof_of("noisy_max"), proof_of("above_threshold")
    (split,) = (node for node in nodes(tree_of(apart)) if node.rule == "cond-split")
    assert split.line in apart.proof.split and "different branches" in split.notes[0].lines[0]
    for node in nodes(tree_of(together)):
        assert node.rule != "cond-split"
        if node.rule == "cond":
            assert node.notes[0].lines == ("both runs take the same branch",)


def test_the_root_says_what_both_runs_end_in() -> None:
    assert (
        tree_of(proof_of("above_threshold")).head
        == "two adjacent runs end with result<1> == result<2> and cost.eps <= 4"
    )
    assert tree_of(proof_of("sparse_vector")).head == "two adjacent runs end with same.out and cost.eps <= 4 * N"
    head = "when the first of two adjacent runs returns out.R, result<2> == out.R and cost.eps <= 2"
    assert tree_of(proof_of("noisy_max")).head == head


def test_sequences_are_flat_and_weakenings_are_left_out() -> None:
    steps = steps_of(proof_of("above_threshold").judgment)
    assert [step.rule for step in steps] == ["laplace", "assign", "assign", "assign", "while", "cond"]
