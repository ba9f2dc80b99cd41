"""Declared leaves in a TOML file, composed; claims about them, judged."""

import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.cli.declared import WARDS, refused, run, whole, write

import viameter as vm
from viameter import neighborhood as nb
from viameter.cli.declared import read_declared
from viameter.cli.verdicts import judge, read_claim
from viameter.errors import FormatError
from viameter.neighborhood import cuts, granularities
from viameter.neighborhood.declared.kinds import CUTS, GRANULARITIES

ROOT = Path(__file__).parents[2]

GRANULARITY_CASES: list[tuple[str, nb.Granularity]] = [
    ('"unbounded"', nb.unbounded()),
    ('"bounded"', nb.bounded()),
    ('"add-remove-or-replace"', nb.add_remove_or_replace()),
    ('"add_remove_or_replace"', nb.add_remove_or_replace()),
    ('"insert-delete"', nb.insert_delete()),
    ('"bounded-ordered"', nb.bounded_ordered()),
    ('{ name = "bounded-ordered", columns = 4 }', nb.bounded_ordered(columns=4)),
    ('"zero-out"', nb.zero_out()),
    ('{ name = "attribute", columns = 3 }', nb.attribute(columns=3)),
    ('{ name = "local", columns = 3 }', nb.local(columns=3)),
    ('{ name = "policy", pairs = [["a", "b"], ["b", 3]] }', nb.policy([("a", "b"), ("b", 3)])),
    ('{ name = "geo", radius = "1/2" }', nb.geo("1/2")),
    ('"event"', nb.event()),
    ('{ name = "w-event", w = 3 }', nb.w_event(3)),
    ('"user"', nb.user()),
    ('{ name = "user", rows = 5, times = 7, alters = true }', nb.user(rows=5, times=7, alters=True)),
    ('{ name = "entity", root = "patient" }', nb.entity("patient")),
    ('"edge"', nb.edge()),
    ('{ name = "k-edge", k = 2 }', nb.k_edge(2)),
    ('{ name = "node", degree = 5 }', nb.node(degree=5)),
    ('{ name = "node-rewire", nodes = 9 }', nb.node_rewire(nodes=9)),
    ('{ name = "out-link", nodes = 9, degree = 2 }', nb.out_link(nodes=9, degree=2)),
    ('{ name = "group", of = "unbounded", most = 3 }', nb.group(nb.unbounded(), 3)),
    ('{ name = "group", of = { name = "w-event", w = 2 }, most = 3 }', nb.group(nb.w_event(2), 3)),
    ('"free-lunch"', nb.free_lunch()),
    ('{ name = "personalised", classes = ["a", "b"] }', nb.personalised(["a", "b"])),
    ('{ name = "personalised", classes = ["a"], of = "user" }', nb.personalised(["a"], nb.user())),
]


@pytest.mark.parametrize(("written", "expected"), GRANULARITY_CASES, ids=lambda case: str(case)[:50])
def test_every_granularity_is_the_one_of_python(tmp_path: Path, written: str, expected: nb.Granularity) -> None:
    content = whole(written, more=f"granularity = {written}")
    declared = read_declared(write(tmp_path, content))
    assert declared.granularity == expected
    assert declared.leaves[0].claims[0].granularity == expected
    code, text = run(tmp_path, whole(written))
    assert code == 0 and f"neighbors in {expected!r} if {expected.protects}." in text


def test_every_granularity_of_the_library_has_a_name_and_a_case() -> None:
    made = {name.replace("_", "-") for name in granularities.__all__ if name.islower()} - {"granularity"}
    assert set(GRANULARITIES) == made
    covered = " ".join(written for written, _ in GRANULARITY_CASES)
    assert all(f'"{name}"' in covered for name in GRANULARITIES)


ATTRIBUTES = {"age": range(120), "ward": ["A", "B"]}
CUT_CASES: list[tuple[str, str, nb.Granularity, nb.Cut]] = [
    ("partition", 'parts = 3\nby = "value"', nb.unbounded(), nb.partition(3)),
    ("partition", "parts = 3\nvalues = 1", nb.bounded(), nb.partition(3, values=1)),
    ("partition", "parts = 3\nblanks = true", nb.zero_out(), nb.partition(3, blanks=True)),
    ("partition", 'parts = [["a", "b"], ["c"], [4]]', nb.unbounded(), nb.partition([["a", "b"], ["c"], [4]])),
    ("partition", 'parts = 4\nby = "id"', nb.bounded_ordered(), nb.partition(4, by="id")),
    ("partition", 'parts = 4\nby = "column"', nb.attribute(), nb.partition(4, by="column")),
    ("partition", 'parts = 5\nby = "time"', nb.w_event(3), nb.partition(5, by="time")),
    ("partition", 'parts = 2\nby = "position"', nb.unbounded(), nb.partition(2, by="position")),
    ("subsets", "parts = 5\nat_most = 3", nb.unbounded(), nb.subsets(5, at_most=3)),
    (
        "memberships",
        'values = { flu = [0], hip = [1], "flu and hip" = [0, 1] }\nparts = 3\nplural = true',
        nb.add_remove_or_replace(),
        nb.memberships({"flu": [0], "hip": [1], "flu and hip": [0, 1]}, parts=3, plural=True),
    ),
    (
        "memberships",
        'values = [{ value = ["a", 1], parts = [0] }, { value = ["b", 1], parts = [1] }]',
        nb.attribute(),
        nb.memberships({("a", 1): [0], ("b", 1): [1]}),
    ),
    (
        "projections",
        'columns = [["age", "zip"], ["zip"], ["ward"]]',
        nb.attribute(),
        nb.projections([["age", "zip"], ["zip"], ["ward"]]),
    ),
    ("intervals", "spans = [[0, 6], [7, 13], [3, 9]]", nb.event(), nb.intervals([(0, 6), (7, 13), (3, 9)])),
    ("windows", "length = 7\nhorizon = 28\nstep = 7", nb.w_event(8), nb.windows(length=7, horizon=28, step=7)),
    (
        "tree",
        'within = { country = "", north = "country", south = "country", town = "north" }',
        nb.unbounded(),
        nb.tree({"country": None, "north": "country", "south": "country", "town": "north"}),
    ),
    (
        "predicates",
        'conditions = [{ age = { from = 18, to = 99 } }, { age = { from = 0, to = 65 }, ward = ["A"] }, '
        '{ ward = ["B"] }]\n'
        'domains = { age = { from = 0, to = 119 }, ward = ["A", "B"] }\ntime_limit = 60',
        nb.unbounded(),
        nb.predicates(
            [{"age": range(18, 100)}, {"age": range(66), "ward": ["A"]}, {"ward": ["B"]}],
            domains=ATTRIBUTES,
            time_limit=60,
        ),
    ),
    ("induced", "parts = 3", nb.edge(), nb.induced(3)),
    ("incident", "parts = 3", nb.k_edge(2), nb.incident(3)),
    ("by-source", "parts = 3", nb.out_link(), nb.by_source(3)),
    (
        "contributions",
        "parts = 10\nmost_parts = 2\nmost_rows = 5\nmost_rows_in_a_part = 3",
        nb.user(),
        nb.contributions(10, l0=2, l1=5, linf=3),
    ),
    ("contributions", "parts = 10\nmost_rows = 5", nb.user(), nb.contributions(10, l1=5)),
    (
        "foreign-keys",
        "tables = { patient = {}, visit = { patient = 5 }, drug = { visit = 3 } }",
        nb.entity("patient"),
        nb.foreign_keys({"patient": {}, "visit": {"patient": 5}, "drug": {"visit": 3}}),
    ),
    ("patterns", "patterns = [[1, 0, 2], [0, 1, 1]]", nb.unbounded(), nb.patterns([[1, 0, 2], [0, 1, 1]])),
    (
        "constrained",
        "parts = 3\nmost = [2, 1, 2]\n"
        'constraints = [{ sum = { 0 = 1, 1 = "1/2", 2 = 1 }, most = "3" }]\ntime_limit = 60',
        nb.unbounded(),
        nb.constrained(3, most=[2, 1, 2], constraints=[({0: 1, 1: "1/2", 2: 1}, 3)], time_limit=60),
    ),
    ("constrained", "parts = 2\nmost = 2", nb.unbounded(), nb.constrained(2, most=2)),
    ("opaque", 'stability = "3/2"\nname = "join"', nb.unbounded(), nb.opaque("join", stability="3/2").cut),
    ("whole", "", nb.unbounded(), nb.whole().cut),
]
WRITTEN = {expected: written for written, expected in GRANULARITY_CASES} | {
    nb.w_event(8): '{ name = "w-event", w = 8 }'
}
WRITTEN |= {nb.attribute(): '"attribute"', nb.out_link(): '"out-link"'}


@pytest.mark.parametrize(
    ("kind", "keys", "target", "cut"), CUT_CASES, ids=[f"{kind}-{at}" for at, (kind, *_) in enumerate(CUT_CASES)]
)
def test_every_cut_is_the_one_of_python(
    tmp_path: Path, kind: str, keys: str, target: nb.Granularity, cut: nb.Cut
) -> None:
    losses = [f"{part + 1}/7" for part in range(len(cut))]
    listed = json.dumps(losses)
    content = f'granularity = {WRITTEN[target]}\n[cuts.c]\nkind = "{kind}"\n{keys}\n'
    content += f'[[leaves]]\ncut = "c"\nparts = "all"\nlosses = {listed}\nmeasure = "zcdp"\nmode = "common"\n'
    if kind in ("contributions", "foreign-keys"):
        content += 'granularity = "unbounded"\n'
    own = nb.unbounded() if kind in ("contributions", "foreign-keys") else None
    declared = read_declared(write(tmp_path, content))
    found = declared.leaves[0].part.cut
    assert type(found) is type(cut) and len(found) == len(cut)
    # How a search tells of its progress is the command's own.
    names = {field.name for field in fields(cut)} - {"progress"}
    assert {f.name: getattr(found, f.name) for f in fields(found) if f.name in names} == {
        f.name: getattr(cut, f.name) for f in fields(cut) if f.name in names
    }
    expected = nb.compose(
        target, [nb.leaf(p, vm.zcdp(e), mode="common", granularity=own) for p, e in zip(cut, losses, strict=True)]
    )
    code, text = run(tmp_path, content, "--json")
    report = json.loads(text)
    assert code == 0 and report["loss"] == expected.loss.to_json()
    assert report["tight"] == expected.tight and report["why_not_tight"] == expected.why_not_tight
    assert report["witness"]["text"] == str(expected.witness)
    assert report["c1"]["holds"] == expected.check_c1().holds
    assert report["c2"]["holds"] == expected.check_c2().holds


@pytest.mark.parametrize("kind", ["predicates", "constrained"])
def test_how_a_search_goes_is_said_apart_from_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    keys = next(keys for name, keys, *_ in CUT_CASES if name == kind)
    content = f'granularity = "unbounded"\n[cuts.c]\nkind = "{kind}"\n{keys}\n'
    declared = read_declared(write(tmp_path, content + '[[leaves]]\ncut = "c"\nparts = "all"\nloss = { pure = 1 }'))
    cut: Any = declared.leaves[0].part.cut
    cut.progress("searching")
    assert capsys.readouterr() == ("", "searching\n")


def test_every_cut_of_the_library_has_a_name_and_a_case() -> None:
    assert set(CUTS) == {name.replace("_", "-") for name in cuts.__all__ if name.islower()}
    assert set(CUTS) == {kind for kind, *_ in CUT_CASES}


def test_the_report_has_guarantee_pair_conditions_and_theorems(tmp_path: Path) -> None:
    code, text = run(tmp_path, WARDS)
    assert code == 0
    assert text.startswith("Guarantee: these 3 leaves together cost pure(4/5).\n")
    for line in (
        "Neighbors: two datasets are neighbors in bounded() if one record of one is replaced by another in the other.",
        "Is less possible? No: some mechanisms with these losses cost just this on the neighbors below.",
        "The costliest neighbors: D = ('c',), D' = ('e',):\n"
        "  part 1 by value gives ('c',) and (), 1 step of bounded() apart",
        "C1, neighbors differ in one part at most: no; there are neighbors that differ in 2 of the parts.",
        "C2, each part moves by at most one step of bounded(): no; there are neighbors with a part infinitely many",
        "[common-domain-composition, outward]",
        "claimed: pure(3/10) -> pure(3/10)",
    ):
        assert line in text
    assert "claim pure" not in text.lower()


def test_the_report_as_json(tmp_path: Path) -> None:
    code, text = run(tmp_path, WARDS, "--json", "--claim", "pure 0.5")
    report = json.loads(text)
    assert code == 1
    assert report["granularity"] == "bounded()" and report["leaves"] == 3
    assert report["neighbors"] == nb.bounded().protects
    assert report["loss"] == {"measure": "pure", "epsilon": "4/5"}
    assert report["tight"] is True and report["why_not_tight"] is None
    assert report["witness"]["before"] == "('c',)" and report["witness"]["attained"] is True
    assert report["witness"]["parts"][1] == {
        "part": "part 2 by value",
        "before": "()",
        "after": "('e',)",
        "steps": "1",
    }
    assert report["c1"] == {"holds": False, "reason": "there are neighbors that differ in 2 of the parts"}
    assert report["theorems"] == ["common-domain-composition", "given-loss"]
    assert report["claim"]["verdict"] == "WRONG" and report["claim"]["loss"] == {"measure": "pure", "epsilon": "1/2"}
    assert "composed" not in report and "classes" not in report


def test_an_infinite_loss_is_no_guarantee(tmp_path: Path) -> None:
    separate = WARDS.replace('mode = "common"', "")
    code, text = run(tmp_path, separate)
    assert code == 0 and "cost pure(inf), which is no guarantee." in text
    assert "tell the neighbors below apart by any amount" in text
    code, text = run(tmp_path, separate, "--json")
    report = json.loads(text)
    assert report["loss"]["epsilon"] == "inf" and report["witness"]["parts"][0]["steps"] == "inf"


def test_a_step_that_costs_nothing_is_said_so(tmp_path: Path) -> None:
    one = 'granularity = "bounded"\n[cuts.c]\nkind = "partition"\nparts = 1\nvalues = 1\n'
    code, text = run(tmp_path, one + '[[leaves]]\ncut = "c"\nloss = { pure = 1 }\n')
    assert code == 0 and "this leaf costs pure(0)" in text and "no step reaches a part that costs anything" in text


def test_an_epsilon_at_a_delta_and_another_measure(tmp_path: Path) -> None:
    code, text = run(tmp_path, WARDS, "--into", "zcdp", "--delta", "1e-6", "--json")
    report = json.loads(text)
    bound = nb.compose(nb.bounded(), read_declared(write(tmp_path, WARDS)).leaves, measure=vm.ZCDP).loss
    assert code == 0 and report["loss"] == bound.to(vm.ApproxDP, delta="1e-6").to_json()
    assert report["composed"]["loss"] == bound.to_json()
    # Converted losses need not be attained, and neither is an epsilon at a delta.
    assert report["tight"] is False and report["composed"]["tight"] is False
    assert report["theorems"][0] == "zcdp-to-approx"
    report = json.loads(run(tmp_path, WARDS, "--delta", "1e-6", "--json")[1])
    assert report["tight"] is False and report["composed"]["tight"] is True
    assert "At this delta: approx(" in run(tmp_path, WARDS, "--delta", "1e-6")[1]


@pytest.mark.parametrize(
    ("written", "loss"),
    [
        ('{ pure = "0.2" }', vm.pure("0.2")),
        ("{ pure = 2 }", vm.pure(2)),
        ('{ approx = ["1", "1e-6"] }', vm.approx(1, "1e-6")),
        ('{ zcdp = "1/10" }', vm.zcdp("0.1")),
        ('{ gdp = "0.5" }', vm.gdp("0.5")),
        ('{ approx_zcdp = ["0.1", "1e-9"] }', vm.approx_zcdp("0.1", "1e-9")),
        ('{ approx-zcdp = ["0.1", "1e-9"] }', vm.approx_zcdp("0.1", "1e-9")),
        ('{ bounded_range = "0.3" }', vm.bounded_range("0.3")),
        ('{ renyi = { "2" = "0.1", "7/2" = "0.3" } }', vm.renyi({2: "0.1", "7/2": "0.3"})),
    ],
    ids=str,
)
def test_losses_of_every_measure(tmp_path: Path, written: str, loss: vm.Loss) -> None:
    content = whole('"bounded"', written, f"[claim]\nloss = {written}")
    declared = read_declared(write(tmp_path, content))
    assert declared.leaves[0].losses == [loss] and declared.claim == loss
    code, text = run(tmp_path, content)
    assert code == 0 and "is RIGHT" in text


def test_losses_by_steps_and_by_class_further_claims_and_stability(tmp_path: Path) -> None:
    steps = whole(
        '{ name = "group", of = "unbounded", most = 2 }', '{ steps = { 1 = { pure = "0.1" }, 2 = { pure = "0.15" } } }'
    )
    code, text = run(tmp_path, steps + 'granularity = "unbounded"', "--json")
    assert code == 0 and json.loads(text)["loss"] == vm.pure("0.15").to_json()
    classes = '{ classes = { staff = { pure = "0.1" }, patients = { pure = "0.3" } } }'
    people = whole('{ name = "personalised", classes = ["staff", "patients"] }', classes)
    code, text = run(tmp_path, people)
    assert code == 0 and "For the class staff: pure(1/10)." in text and "costs pure(3/10)" in text
    assert json.loads(run(tmp_path, people, "--json")[1])["classes"]["staff"] == vm.pure("0.1").to_json()
    also = whole(
        '"bounded"',
        '{ pure = "0.3" }',
        'granularity = "bounded"\nalso = [{ loss = { pure = "0.1" }, granularity = "unbounded" }]',
    )
    code, text = run(tmp_path, also, "--json")
    assert code == 0 and json.loads(text)["loss"] == vm.pure("0.2").to_json()
    code, text = run(tmp_path, whole('"bounded"', more="stability = 3"), "--json")
    assert code == 0 and json.loads(text)["loss"] == vm.pure("0.3").to_json()


def test_parts_by_name_by_number_and_by_list(tmp_path: Path) -> None:
    tree = (
        'granularity = "unbounded"\n[cuts.places]\nkind = "tree"\nwithin = { top = "", north = "top", south = "top" }\n'
    )
    leaf = '[[leaves]]\ncut = "places"\nloss = { pure = "0.1" }\n'
    cases = {'part = "south"': [2], "part = 1": [1], 'parts = ["top", 2]': [0, 2], 'parts = "all"': [0, 1, 2]}
    for parts, places in cases.items():
        declared = read_declared(write(tmp_path, f"{tree}{leaf}{parts}"))
        assert [found.part.place for found in declared.leaves] == places
        assert all(found.part.cut is declared.leaves[0].part.cut for found in declared.leaves)
        assert {id(found.claims) for found in declared.leaves} == {id(declared.leaves[0].claims)}
    tables = 'granularity = { name = "entity", root = "a" }\n[cuts.t]\nkind = "foreign-keys"\n'
    tables += "tables = { a = {}, b = { a = 2 } }\n"
    tables += '[[leaves]]\ncut = "t"\npart = "b"\nloss = { pure = "0.1" }\ngranularity = "unbounded"'
    assert read_declared(write(tmp_path, tables)).leaves[0].part.place == 1


def test_two_tables_of_leaves_on_one_cut_are_touched_together(tmp_path: Path) -> None:
    content = WARDS + '[[leaves]]\ncut = "wards"\npart = 0\nloss = { pure = "0.1" }\nmode = "common"\n'
    code, text = run(tmp_path, content, "--json")
    report = json.loads(text)  # no step reaches all three parts, so the sum over parts is not what it costs
    assert code == 0 and report["loss"] == vm.pure("0.8").to_json() and report["tight"] is True


@pytest.mark.parametrize(
    ("claim", "code", "word", "reason"),
    [
        ("pure 0.8", 0, "RIGHT", "nothing less holds for all mechanisms"),
        ("pure 4/5", 0, "RIGHT", "nothing less holds for all mechanisms"),
        ("pure 0.9", 0, "LOOSE", "so does pure(4/5), which is less"),
        ("pure inf", 0, "LOOSE", "so does pure(4/5), which is less"),
        ("pure 0.799999999", 1, "WRONG", "cost pure(4/5), on the pair of neighbors shown"),
        ("pure 0", 1, "WRONG", "cost pure(4/5), on the pair of neighbors shown"),
        # Other measures, of which theorems lead there without further numbers.
        ("approx 0.8 0", 0, "RIGHT", "whether less holds too is not known: the bound was converted from pure(4/5)"),
        # At the delta of the claim.
        ("approx 0.8 1e-6", 0, "LOOSE", "so does approx(<=0.79999"),
        ("approx 0.7 1e-6", 4, "UNPROVED", "does not follow from approx(<=0.79999"),
        ("zcdp 0.32", 0, "LOOSE", "which is less"),
        ("zcdp 0.1", 4, "UNPROVED", "that pure(4/5) is attained says nothing of less in ZCDP"),
        ("bounded-range 1.6", 0, "RIGHT", "converted from pure(4/5)"),
        ("bounded_range 1.2", 4, "UNPROVED", "does not follow from bounded_range(8/5)"),
        ("bounded_range 0.5", 1, "WRONG", "cost pure(4/5)"),
    ],
)
def test_the_verdict_on_a_claim(tmp_path: Path, claim: str, code: int, word: str, reason: str) -> None:
    found, text = run(tmp_path, WARDS, "--claim", claim)
    assert f"is {word}: " in text and reason in text
    assert found == code


def test_the_claim_of_the_file_and_the_option_that_replaces_it(tmp_path: Path) -> None:
    content = WARDS + '[claim]\nloss = { pure = "0.5" }\n'
    assert run(tmp_path, content)[0] == 1
    assert run(tmp_path, content, "--claim", "pure 1")[0] == 0


def test_a_claim_against_no_bound_at_all_is_wrong(tmp_path: Path) -> None:
    code, text = run(tmp_path, WARDS.replace('mode = "common"', ""), "--claim", "pure 100")
    assert code == 1 and "tell two neighbors apart by more than any bound, on the pair" in text
    assert "part 0 by value gives ('a',) and (), infinitely many steps of bounded() apart" in text


def test_a_claim_below_a_bound_that_need_not_be_attained_is_unproved(tmp_path: Path) -> None:
    attribute = WARDS.replace('"bounded"', '"attribute"', 1)
    code, text = run(tmp_path, attribute, "--claim", "pure 0.5")
    assert code == 4 and "is UNPROVED: " in text and "may be more than there are" in text
    code, text = run(tmp_path, attribute, "--claim", "pure 0.8")
    assert code == 0 and "is RIGHT: it is what is proved; whether less holds too is not known: the touch" in text
    approx = whole('"bounded"', '{ approx = ["0.5", "1e-6"] }')
    assert run(tmp_path, approx, "--claim", "approx 0.4 1e-6")[0] == 4
    assert run(tmp_path, approx, "--claim", "approx 0.4 1e-5")[0] == 4  # neither less nor more
    assert run(tmp_path, approx, "--claim", "approx 0.5 1e-6")[0] == 0
    assert run(tmp_path, approx, "--claim", "approx 0.5 1e-5")[0] == 0


def test_declared_losses_that_were_converted_refute_nothing(tmp_path: Path) -> None:
    """The bound on a pure loss in zCDP is not what every mechanism of that loss, or any, costs."""
    mixed = whole('"bounded"', '{ pure = "0.5" }') + '\n[[leaves]]\ncut = "whole"\nloss = { zcdp = "0.1" }\n'
    code, text = run(tmp_path, mixed, "--claim", "zcdp 0.2")
    assert code == 4 and "declared losses were converted into ZCDP" in text


def test_a_sum_that_was_rounded_up_refutes_nothing() -> None:
    wide = Fraction(1, 3**400)
    leaf = nb.leaf(nb.whole(), vm.pure(wide))
    composed = nb.compose(nb.bounded(), [leaf])
    assert composed.loss > vm.pure(wide)
    verdicts = {
        claim: judge(claim, composed) for claim in (composed.loss, vm.pure(wide), vm.pure(wide * Fraction(999, 1000)))
    }
    assert [verdict.word for verdict in verdicts.values()] == ["RIGHT", "UNPROVED", "UNPROVED"]
    assert "rounded up" in verdicts[composed.loss].reason and "rounded up" in verdicts[vm.pure(wide)].reason


@pytest.mark.parametrize("delta", [(), ("--delta", "1e-6"), ("--delta", "1/10"), ("--delta", "1e-12")])
def test_a_claim_in_approx_is_judged_at_its_own_delta(tmp_path: Path, delta: tuple[str, ...]) -> None:
    zcdp = whole('"bounded"', '{ zcdp = "0.1" }')
    epsilon = vm.zcdp("0.1").to(vm.ApproxDP, delta="1e-6").epsilon
    above, below = (f"{float(epsilon) * factor:.6f}" for factor in (1.001, 0.999))
    for claim, word, code in ((above, "LOOSE", 0), (below, "UNPROVED", 4)):
        found, text = run(tmp_path, zcdp, "--claim", f"approx {claim} 1e-6", *delta)
        assert f"is {word}" in text and found == code
        in_file = zcdp + f'[claim]\nloss = {{ approx = ["{claim}", "1e-6"] }}\n'
        assert run(tmp_path, in_file, *delta) == (found, text)
    # At delta 0 nothing is proved of zCDP.
    assert "is UNPROVED" in run(tmp_path, zcdp, "--claim", "approx 100 0", *delta)[1]
    assert "is of another measure" in refused(tmp_path, zcdp, "--claim", "pure 1", *delta)


def test_claims_as_the_option_takes_them() -> None:
    assert read_claim("renyi 2=0.1 4=0.3") == vm.renyi({2: "0.1", 4: "0.3"})
    assert read_claim("approx-zcdp 0.1 1e-9") == vm.approx_zcdp("0.1", "1e-9")
    for written in (
        "",
        "pure",
        "pure 1 2",
        "approx 1",
        "pure x",
        "pure -1",
        "epsilon 1",
        "renyi",
        "renyi 2",
        "renyi 2=1 2=2",
    ):
        with pytest.raises(FormatError, match="--claim"):
            read_claim(written)


def test_a_group_of_steps_that_is_bounded_one_by_one_has_a_report(tmp_path: Path) -> None:
    content = 'granularity = { name = "group", of = "event", most = 2 }\n[cuts.t]\n'
    content += 'kind = "partition"\nparts = 3\nby = "time"\n'
    content += '[[leaves]]\ncut = "t"\nparts = "all"\nloss = { pure = "0.1" }\n'
    code, text = run(tmp_path, content)
    assert code == 0 and "cost pure(1/5)" in text and "C1, neighbors differ in one part at most: not known" in text


PAGE = (ROOT / "docs" / "declared.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"```toml\n(?P<file>granularity.*?)```\n\n```text\n\$ viameter compose \S+\.toml(?P<options>[^\n]*)\n"
    r"(?P<output>.*?)```",
    PAGE,
    flags=re.DOTALL,
)


@pytest.mark.parametrize(("content", "options", "output"), EXAMPLES)
def test_the_page_shows_what_the_command_prints(tmp_path: Path, content: str, options: str, output: str) -> None:
    assert run(tmp_path, content, *options.split())[1] == output


def test_the_page_has_two_complete_examples_and_names_every_kind_and_key() -> None:
    assert len(EXAMPLES) >= 2
    for kinds in (GRANULARITIES, CUTS):
        for name, kind in kinds.items():
            assert f'"{name}"' in PAGE, name
            assert all(f"`{key}`" in PAGE or f"{key} = " in PAGE for key in (*kind.required, *kind.optional)), name
