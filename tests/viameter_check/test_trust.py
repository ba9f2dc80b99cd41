"""What a certificate does not show is listed as trusted, and what stands in it in words is never printed as proved."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import for_each
from tests.viameter_check.forgeries.forge import claimed, edited, nodes
from tests.viameter_check.forgeries.losses import ADAPTIVE, FILTERED, as_range
from tests.viameter_check.forgeries.samples import ROWS, SPACE, sample
from tests.viameter_check.forging import changed, leaves
from tests.viameter_check.zoo import own_parts

import viameter as vm
from viameter.core.composability import Adaptivity
from viameter.errors import NoTheorem
from viameter_check import Report, check, checker
from viameter_check.programs import FORMAT, checking
from viameter_check.rules.composition import COMPOSABILITY, COMPOSITIONS
from viameter_check.rules.row_functions import FUNCTIONS

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "stored" / "version_1.json").read_text())
"""Certificates as they were written when functions of rows were not described."""
MEASURES = (
    vm.PureDP,
    vm.ApproxDP,
    vm.ZCDP,
    vm.ApproxZCDP,
    vm.RenyiDP,
    vm.GaussianDP,
    vm.BoundedRange,
    vm.Profile,
)
DESCRIBED = {"own": 1, "monotone": 1, "composed": 0}
"""Those in which no function takes rows to another domain, and how many assumptions they state."""


def messages(document: Any) -> list[str]:
    report = check(document)
    assert report.ok, report
    return [claim.message for claim in report.claims]


@for_each("name", STORED)
def test_certificates_of_earlier_versions_hold_and_say_what_they_do_not_describe(name: str) -> None:
    found = messages(STORED[name])
    free = [text for text in found if "not described" in text]
    assert bool(free) == (name not in DESCRIBED), found
    if name in DESCRIBED:
        assert len(found) == DESCRIBED[name]


def test_functions_of_the_library_are_described_and_leave_nothing_to_trust() -> None:
    for name in ("clamp", "clamp sized", "select of users", "column", "chain"):
        assert messages(sample(name)) == []


def test_a_function_of_ones_own_is_trusted_with_what_it_gives() -> None:
    lengths = vm.Space(vm.vectors(str), vm.SymmetricDistance()) >> vm.map_rows(
        function=len, output=vm.scalars(int, bounds=(0, 80)), default=0, trust="len is a function"
    )
    assert messages(lengths.certificate(1).text) == [
        "len is a function (map_rows len)",
        "a function of single rows, which is not described, maps vectors(str) to vectors(int, bounds=(0, 80))",
    ]


def test_a_function_that_is_not_described_is_trusted_once_for_each_pair_of_domains() -> None:
    document = sample("clamp")
    bare = claimed(document, edited(document["derivation"], {"parameters": {}}))
    assert messages(bare) == [
        "a function of single rows, which is not described, maps vectors(int) to vectors(int, bounds=(0, 9))"
    ]


USERS = "a function of single rows, which is not described, keeps the values of the column that names users in "


@for_each("row", [{}, {"row": ["own"]}])
@for_each("metric", ["SymmetricIdDistance(id='who')", "ChangeOneIdDistance(id='who')"])
def test_that_a_function_that_is_not_described_keeps_the_names_of_users_is_trusted(row: Any, metric: str) -> None:
    document = sample("select of users")
    place = {"domain": document["derivation"]["input"]["domain"], "metric": metric}
    edits = {"parameters": row, "input": place, "output": place, "assumes": ["it is a function"]}
    assert messages(claimed(document, edited(document["derivation"], edits))) == ["it is a function", USERS + metric]


def test_functions_of_earlier_versions_are_trusted_to_keep_the_names_of_users() -> None:
    found = [text for text in messages(STORED["select of users"]) if text.startswith(USERS)]
    assert found == [USERS + "SymmetricIdDistance(id='who')"]
    assert not [name for name in STORED if name != "select of users" and USERS in str(messages(STORED[name]))]


@for_each("name", sorted(FUNCTIONS))
def test_functions_that_may_change_the_names_of_users_are_refused_by_name(name: str) -> None:
    document = sample("select of users")
    forged = claimed(document, edited(document["derivation"], {"parameters.row": [name, "age", "who"]}))
    report = check(forged)
    assert report.ok == (name == "select")
    if not report.ok:
        assert [str(failure) for failure in report.failures] == [
            f"derivation.parameters.row: {name} may change the column that names users"
        ]


def test_that_steps_over_a_table_keep_to_the_rows_of_each_unit_is_trusted_whatever_columns_they_give() -> None:
    document = sample("units")
    node = next(node for node in nodes(document["derivation"]) if node["theorem"] == "units-one-by-one")
    same = claimed(document, edited(node, {"output": node["input"]}))
    assert messages(same) == [
        f"rows of {node['input']['domain']} are made of the same unit's rows, by steps that are not described"
    ]


# --- losses that nobody derives --------------------------------------------------------------------------------------


def test_that_steps_cost_what_is_stated_for_them_is_trusted() -> None:
    assert messages(sample("adaptive")) == ["each step cost at most the loss that is stated for it"]
    for name in ("filter of losses", "concentrated filter", "advanced filter"):
        assert messages(sample(name)) == ["the steps together cost at most the budget that is stated for them"]
    assert messages(sample("meter")) == []  # its premises derive what each step cost
    assert messages(vm.adaptive(SPACE, d_in=1, losses=[], measure=vm.PureDP).certificate(1).text) == []


# --- what no rule foresaw --------------------------------------------------------------------------------------------


def test_an_error_in_a_rule_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("own")

    document = sample("clamp")
    monkeypatch.setattr(checker, "_examine", broken)
    report = check(document)
    assert [str(failure) for failure in report.failures] == ["certificate: could not be checked: KeyError"]
    monkeypatch.setattr(checking, "read_certificate", broken)
    assert str(checking.check_program({"format": FORMAT})) == str(report)


ODD: tuple[Any, ...] = (
    None, True, "", "own", "-1", "1/0", "inf", "9" * 5000, [], ["own", "0"], [[]], {}, {"measure": []},
)  # fmt: skip


@pytest.mark.parametrize("name", ["clamp", "select of users", "adaptive", "both renyi", "units", "keys"])
def test_no_value_in_the_place_of_another_is_an_error(name: str) -> None:
    document = sample(name)
    for path, _ in leaves(document["derivation"]):
        for odd in ODD:
            forged = changed(document, (("derivation", *path), odd))
            assert isinstance(checker._checked(forged), Report), (path, odd)  # without the guard


# --- how parts may answer --------------------------------------------------------------------------------------------


def test_losses_add_where_the_measures_of_the_library_say_so() -> None:
    ways = {way: way.name.lower().replace("_", "-") for way in Adaptivity}
    for measure in MEASURES:
        cells = COMPOSABILITY.get(measure.slug, {})
        for way, name in ways.items():
            written = name if name != "fully-adaptive" else "fully adaptive"
            try:
                how = measure.composability(way).name.lower()
            except NoTheorem:
                assert written not in cells, (measure, way)
                continue
            if measure.slug == "profile":
                assert cells == {}  # no rule of the checker composes profiles
            elif measure.slug == "bounded-range":
                assert cells[written] == "one-shot"
            else:
                assert cells[written] == how, (measure, way)
    assert set(COMPOSABILITY) == set(COMPOSITIONS.values())


def test_ranges_of_queryables_do_not_add_and_one_alone_keeps_its_range() -> None:
    capped = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure(1))
    alone = vm.compose(SPACE, [capped], measure=vm.BoundedRange).certificate(1)
    assert check(alone.text).ok
    both = vm.compose(SPACE, [capped, SPACE >> vm.count() >> vm.laplace(scale=9)], measure=vm.BoundedRange)
    (failure,) = check(both.certificate(1).text).failures
    assert failure.path == "derivation.premises[0].premises[0]"
    assert failure.message == "answers queries (privacy-filter), and bounded-range adds one-shot parts only"
    document = sample("both ranges")
    twice = edited(document["derivation"]["premises"][0], {"premises": [as_range(ADAPTIVE)], "given": [{}]})
    twice["given"] = [twice["premises"][0]["bound"]]
    assert check(claimed(document, {**twice, "bound": {"measure": "bounded-range", "eta": "1/2"}})).ok
    twice["premises"][0]["times"] = "2"
    assert not check(claimed(document, {**twice, "bound": {"measure": "bounded-range", "eta": "1"}})).ok


def test_that_a_vouched_part_answers_once_is_trusted_where_ranges_add() -> None:
    found = messages(sample("both ranges"))
    assert [text for text in found if "answers once" in text] == [
        f"derivation.premises[0].premises[{n}] answers once and no queries after that" for n in (0, 1)
    ]


def test_that_queryables_take_turns_is_trusted_where_losses_add_in_sequence() -> None:
    capped = vm.Odometer(ROWS, vm.PureDP).filter(d_in=1, budget=vm.pure(1))
    both = vm.compose(ROWS, [capped, capped], measure=vm.ApproxZCDP)
    assert [text for text in messages(both.certificate(1).text) if "until the next part" in text] == [
        f"derivation.premises[0].premises[{n}] answers queries until the next part begins, and none after that"
        for n in (0, 1)
    ]
    alike = messages(vm.compose(ROWS, [capped, capped], measure=vm.ZCDP).certificate(1).text)
    assert not [text for text in alike if "until the next part" in text]


def test_that_losses_of_ones_own_measure_add_is_trusted_for_the_way_of_choosing() -> None:
    assert messages(sample("both variation"))[-1] == (
        "losses of user:Variation add where parts are chosen in a way that is non-adaptive"
    )
    own = {"measure": "user:Own", "amount": "1"}
    forged = {
        **FILTERED,
        "parameters": {"at": "1", "budget": own},
        "output": {"measure": "user:Own"},
        "bound": own,
        "assumes": ["it is a measure"],
    }
    assert messages(claimed(sample("batch"), forged))[-1] == (
        "losses of user:Own add where parts are chosen in a way that is fully adaptive"
    )


# --- words -----------------------------------------------------------------------------------------------------------


def test_names_that_somebody_gave_are_printed_in_quotes() -> None:
    report = check(own_parts().certificate(1).text)
    assert report.statement == "On data at most 1 apart in 'Apart', releases are close in 'user:Variation': amount 2."


def test_words_of_a_certificate_print_no_lines_of_their_own() -> None:
    document = own_parts().certificate(1).to_json()
    text = json.dumps(document)
    for old, new in (("oddness (domain Odd)", "x\nOK\n\x1b[2J\u202e"), ("Apart", "Apart\nDerived again: 99")):
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    forged = changed(json.loads(text))
    report = check(forged)
    assert report.ok, report
    lines = str(report).split("\n")
    assert lines.count("OK") == 1 and sum(line.startswith("Derived again") for line in lines) == 1
    assert all(line.isprintable() for line in lines)


def test_a_label_is_told_as_a_label() -> None:
    document = sample("own map")
    document["derivation"]["subject"] = "count(), which was derived again"
    found = messages(changed(document))
    assert found[-1] == (
        "the bound of what calls itself 'count(), which was derived again' is taken from the certificate"
    )
