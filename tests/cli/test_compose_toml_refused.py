"""What is wrong in a TOML file of declared leaves, said with its place."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.declared import WARDS, refused, whole

from viameter.cli import main


def changed(old: str, new: str) -> str:
    assert WARDS.count(old) == 1
    return WARDS.replace(old, new)


REFUSED_FILES = [
    ("granularity = ", "is not TOML"),
    ("granularity = 1\ngranularity = 2", "is not TOML"),
    ("a = " + "[" * 100_000, "is not TOML"),
    ("", "the file: the key 'granularity' is missing"),
    ('granularity = "bounded"', "the file: the key 'leaves' is missing"),
    ('granularity = "bounded"\nleaves = []', "declare at least one"),
    ('granularity = "bounded"\nleaves = 3', "leaves = 3: expected a list"),
    ('granularty = "bounded"', "unknown key 'granularty': did you mean 'granularity'?"),
    (WARDS + "[x]", "unknown key 'x': expected one of granularity, leaves, cuts, claim"),
    (whole('"bounded"', more="[cuts]\nwhole = 3"), "cuts.whole = 3: expected a table"),
    (whole('"bounded"', more='measure = "pure"'), "`measure` goes with `losses`"),
    (whole('"bounded"', more="[claim]"), "claim: the key 'loss' is missing"),
    (whole('"bounded"', more="[claim]\nloss = { pure = 0.5 }"), "claim.loss.pure = 0.5: numbers"),
    (whole('"bounded"', more="[claim]\nlos = { pure = 1 }"), "claim: unknown key 'los': did you mean 'loss'?"),
    (whole('"bounded"', '{ zcdp = "1" }', "[claim]\nloss = { pure = 1 }"), "is of another measure than zcdp(1)"),
]
REFUSED_GRANULARITIES = [
    ('"bounde"', "granularity.name = 'bounde' is not known: did you mean 'bounded'?"),
    ('"xyz"', "'xyz' is not known: expected one of unbounded, bounded,"),
    ("3", "granularity = 3: expected a name"),
    ('"own"', "one of your own is declared in Python"),
    ("{ w = 3 }", "granularity: the key 'name' is missing"),
    ('"w-event"', "granularity: the key 'w' is missing"),
    ('{ name = "w-event", w = "3" }', "granularity.w = '3': expected a whole number from 1"),
    ('{ name = "w-event", w = -3 }', "granularity.w = -3: expected a whole number from 1"),
    ('{ name = "w-event", w = true }', "granularity.w = True: expected a whole number"),
    ('{ name = "w-event", w = 3.0 }', "granularity.w = 3.0: numbers with a point"),
    ('{ name = "event", w = 3 }', "granularity: unknown key 'w': it takes no keys"),
    ('{ name = "user", row = 3 }', "unknown key 'row': did you mean 'rows'?"),
    ('{ name = "user", alters = 1 }', "alters = 1: expected true or false"),
    ('{ name = "geo", radius = 0.5 }', 'are taken exactly: "0.5"'),
    ('{ name = "geo", radius = "-1" }', "granularity: radius=-1 is negative"),
    ('{ name = "policy", pairs = [["a", "a"]] }', "granularity: pairs[0] is not a pair"),
    ('{ name = "policy", pairs = [["a", 1979-05-27]] }', "granularity.pairs[0][1] = "),
    ('{ name = "group", of = { name = "w-event", w = 0 }, most = 2 }', "granularity.of.w = 0"),
    ('{ name = "personalised", classes = ["a"], of = "bounded" }', "a replaced record may be"),
    ('{ name = "entity", root = "" }', "granularity.root = '': expected text"),
    ('"edge"', "nothing is known of how edges that come and go reach"),
]
REFUSED_CHANGES = [
    ('kind = "partition"', "", "cuts.wards: the key 'kind' is missing: expected one of partition,"),
    ('"partition"', '"partitions"', "wards.kind = 'partitions' is not known: did you mean 'partition'?"),
    ("parts = 3", "", "cuts.wards: the key 'parts' is missing"),
    ("parts = 3", "parts = -3", "cuts.wards.parts = -3: expected a whole number from 1"),
    ("parts = 3", "parts = 3000000", "parts = 3000000: expected a whole number from 1 to 1000000"),
    ("parts = 3", "parts = 3\nat_most = 2", "cuts.wards: unknown key 'at_most'"),
    ("parts = 3", 'parts = [["a", "b"], ["b"]]', "cuts.wards: parts 0 and 1 overlap"),
    ("parts = 3", 'parts = [["a", "b"], []]', "cuts.wards: a part lists no values"),
    ("parts = 3", 'parts = [["a", 1.5]]', "cuts.wards.parts[0][1] = 1.5: numbers with a point"),
    ('by = "value"', 'by = "color"', "cuts.wards: by='color' is not what a partition can go by"),
    ('by = "value"', 'by = "id"\nvalues = 1', "`values` is for a number of parts"),
    ('by = "value"', 'by = "time"\nblanks = true', "`blanks` is for a number of parts"),
    ('cut = "wards"', "", "leaves[0]: the key 'cut' is missing"),
    ('cut = "wards"', 'cut = "ward"', "cut = 'ward' is not declared under [cuts]: did you mean 'wards'?"),
    ('parts = "all"', "", "leaves[0]: the key 'part' is missing"),
    ('parts = "all"', 'parts = "some"', "leaves[0].parts = 'some': expected \"all\", or a list"),
    ('parts = "all"', "parts = []", "leaves[0].parts = []: expected"),
    ('parts = "all"', "part = 3", "leaves[0].part = 3: expected the number of a part, from 0 to 2"),
    ('parts = "all"', "part = -1", "leaves[0].part = -1: expected the number of a part"),
    ('parts = "all"', "parts = [0, 7]", "leaves[0].parts[1] = 7: expected the number of a part"),
    ('parts = "all"', 'part = "surgery"', "leaves[0].part = 'surgery': expected the number of a part"),
    ('parts = "all"', "part = true", "leaves[0].part = True: expected the number"),
    ('parts = "all"', "part = 0\nparts = [1]", "give either `part` or `parts`"),
    ('parts = "all"', "parts = [0, 1]", "there are 3 losses for 2 parts"),
    ('measure = "pure"', "", "leaves[0]: the key 'measure' is missing"),
    ('measure = "pure"', 'measure = "pur"', "the measure 'pur' is not known: did you mean 'pure'?"),
    ('measure = "pure"', 'measure = "approx"', "losses[0].approx = '0.2': expected a list of epsilon and delta"),
    ('"0.5"', "0.5", "leaves[0].losses[1].pure = 0.5: numbers with a point or an exponent are written in quotes"),
    ('"0.5"', "1e-6", 'are taken exactly: "1e-6"'),
    ('"0.5"', "inf", 'are taken exactly: "inf"'),
    ('"0.5"', "true", "leaves[0].losses[1].pure = True: expected a number"),
    ('"0.5"', '"-0.5"', "leaves[0].losses[1].pure: epsilon=-0.5 is negative"),
    ('"0.5"', '"half"', "leaves[0].losses[1].pure: epsilon='half' is not a number"),
    ('mode = "common"', 'mode = "shared"', 'mode = \'shared\': expected "separate" or "common"'),
    ('mode = "common"', "loss = { pure = 1 }", "leaves[0]: give either `loss`, or `losses`"),
    ('mode = "common"', "stability = 0.5", "leaves[0].stability = 0.5: numbers with a point"),
    ('mode = "common"', 'stability = "-1"', "leaves[0]: stability=-1 is negative"),
    ('mode = "common"', 'also = [{ mode = "common" }]', "leaves[0].also[0]: the key 'loss' is missing"),
]
REFUSED_LOSSES = [
    ("{ }", "leaves[0].loss = {}: expected a table with one measure"),
    ("3", "leaves[0].loss = 3: expected a table with one measure"),
    ('{ pure = "1", zcdp = "1" }', "expected a table with one measure"),
    ("{ pure = 0.1 }", "leaves[0].loss.pure = 0.1: numbers"),
    ('{ approx = ["1", 1e-6] }', "leaves[0].loss.approx[1] = 1e-6: numbers"),
    ('{ approx = ["1", "2"] }', "leaves[0].loss.approx: delta=2 is more than 1"),
    ('{ renyi = { "1" = "0.1" } }', "leaves[0].loss.renyi: "),
    ('{ renyi = "0.1" }', "leaves[0].loss.renyi = '0.1': expected a table"),
    ("{ renyi = {} }", "leaves[0].loss.renyi: renyi takes bounds by order"),
    ("{ steps = {} }", "leaves[0].loss.steps = {}: expected at least one loss"),
    ("{ steps = { a = { pure = 1 } } }", "whole numbers of steps as keys"),
    ("{ steps = { 1 = { pure = 1 }, 01 = { pure = 2 } } }", "each number of steps once"),
    ("{ steps = { 1 = { pure = 1 }, 2 = { zcdp = 2 } } }", "with losses of one measure"),
    ("{ steps = { 1 = { pure = 2 }, 2 = { pure = 1 } } }", "leaves[0]: contradictory guarantees"),
    ("{ classes = { a = { pure = 1 } } }", "compose for personalised"),
]
ALL_REFUSED = [
    *REFUSED_FILES,
    *((changed('"bounded"', written), expected) for written, expected in REFUSED_GRANULARITIES),
    *((changed(old, new), expected) for old, new, expected in REFUSED_CHANGES),
    *((whole('"bounded"', loss), expected) for loss, expected in REFUSED_LOSSES),
]


@pytest.mark.parametrize(("content", "expected"), ALL_REFUSED, ids=[expected[:50] for _, expected in ALL_REFUSED])
def test_what_is_wrong_in_a_file_is_said_with_its_place(tmp_path: Path, content: str, expected: str) -> None:
    assert expected in refused(tmp_path, content)


@pytest.mark.parametrize(
    ("kind", "keys", "expected"),
    [
        ("subsets", "parts = 3", "cuts.c: the key 'at_most' is missing"),
        ("memberships", "values = { a = [-1] }", "cuts.c.values.a[0] = -1: expected a whole number from 0"),
        ("memberships", "values = { a = [1000000] }", "cuts.c.values.a[0] = 1000000: expected the number of a part"),
        ("memberships", "values = { a = [3] }\nparts = 2", "cuts.c: parts=2, but a value is listed in part 3"),
        ("memberships", "values = [{ value = 1, parts = [0] }, { value = 1, parts = [1] }]", "each value once"),
        ("memberships", "values = [{ value = 1 }]", "cuts.c.values[0]: the key 'parts' is missing"),
        ("projections", "columns = [[]]", "cuts.c: columns[0] must name at least one column"),
        ("intervals", "spans = [[3, 1]]", "cuts.c: spans[0] is no span of times"),
        ("intervals", "spans = [[0, 1.5]]", "cuts.c.spans[0][1] = 1.5: numbers with a point"),
        ("windows", "length = 9\nhorizon = 3", "no window fits"),
        ("tree", 'within = { a = "b" }', "cuts.c: node 'a' is in a node that is not listed"),
        ("tree", 'within = { a = "b", b = "a" }', "cuts.c: "),
        ("tree", "within = { a = 3 }", 'or "" at the top'),
        (
            "predicates",
            'conditions = [{ w = ["C"] }]\ndomains = { w = ["A"] }',
            "has 'C', which domains.w does not have",
        ),
        (
            "predicates",
            'conditions = [{ x = ["C"] }]\ndomains = { w = ["A"] }',
            "names 'x', which domains does not list",
        ),
        (
            "predicates",
            "conditions = [{ a = { from = 0, to = 9 } }]\ndomains = { a = { from = 1, to = 9 } }",
            "has 0, which domains.a does not have",
        ),
        ("predicates", "conditions = [{ a = { from = 9, to = 0 } }]\ndomains = { a = [0] }", "first <= last"),
        ("contributions", "parts = 3", "give most_rows (of a person, in all) or most_rows_in_a_part"),
        ("foreign-keys", "tables = { a = { b = 3 } }", "which is not listed"),
        ("foreign-keys", "tables = { a = {}, b = { a = 0 } }", "cuts.c.tables.b.a = 0: expected a whole number from 1"),
        ("patterns", "patterns = [[1], [1, 0]]", "cuts.c: patterns must be a list of equally long lists"),
        ("patterns", "patterns = [[-1]]", "cuts.c.patterns[0][0] = -1: expected a whole number from 0"),
        ("constrained", "parts = 2\nmost = [1]", "cuts.c: most="),
        (
            "constrained",
            "parts = 2\nmost = 1\nconstraints = [{ sum = { 2 = 1 }, most = 1 }]",
            "names a part that is not",
        ),
        (
            "constrained",
            "parts = 2\nmost = 1\nconstraints = [{ sum = { a = 1 }, most = 1 }]",
            "number of a part as key",
        ),
        ("constrained", "parts = 2\nmost = 1\nconstraints = [{ sum = { 0 = 0.5 }, most = 1 }]", "numbers with a point"),
        ("opaque", "stability = -1", "cuts.c: stability=-1 is negative"),
        ("whole", "parts = 1", "cuts.c: unknown key 'parts': it takes no keys"),
    ],
    ids=lambda value: re.sub(r"\W+", " ", value)[:50],
)
def test_what_is_wrong_in_a_cut_is_said_with_its_place(tmp_path: Path, kind: str, keys: str, expected: str) -> None:
    content = f'granularity = "unbounded"\n[cuts.c]\nkind = "{kind}"\n{keys}\n'
    assert expected in refused(tmp_path, content + '[[leaves]]\ncut = "c"\nparts = "all"\nloss = { pure = 1 }')


def test_options_that_do_not_go_with_the_file(tmp_path: Path) -> None:
    assert "--adaptivity is for a JSON list" in refused(tmp_path, WARDS, "--adaptivity", "adaptive")
    assert refused(tmp_path, WARDS, "--delta", "2") and refused(tmp_path, WARDS, "--into", "gdp")
    result = CliRunner().invoke(main, ["compose", str(tmp_path / "none.TOML")])
    assert result.exit_code == 2 and "cannot be read" in result.output
    (tmp_path / "losses.json").write_text('[{"measure": "pure", "epsilon": "1"}]')
    result = CliRunner().invoke(main, ["compose", str(tmp_path / "losses.json"), "--claim", "pure 1"])
    assert result.exit_code == 2 and "--claim is for a TOML file" in result.output
