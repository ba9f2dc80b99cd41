"""The same question on a local table and on a remote one: the same preview, and an answer of the same shape."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.service.client.lines import SCHEMA, playing
from tests.service.serving import VISITS as ON_SERVER
from tests.service.serving import WARDS, Running

import viameter as vm
from viameter.arith import show
from viameter.core import Loss
from viameter.core.certificate import Certificate
from viameter.errors import NoTheorem, NumberError, OverBudget, ParameterError
from viameter.service.client import Connection
from viameter.service.client.replies import schema_of
from viameter.tables import Answer, Ranked, Table
from viameter.tables.expressions import Kind, Type

VISITS: dict[str, Callable[[Any], Any]] = {
    "count": lambda t: t.agg(n=vm.count()),
    "numbers": lambda t: t.agg(
        n=vm.count(),
        u=vm.count_units(),
        sum=vm.sum("wait", bounds=(0, 240)),
        mean=vm.mean("wait", bounds=(0, "481/2")),
        of_an_expression=vm.mean(t["wait"], bounds=(0, 240)),
        variance=vm.variance("wait", bounds=(0, 240)),
        std=vm.std("wait", bounds=(0.1, 240)),
    ),
    "quantiles": lambda t: t.agg(
        median=vm.median("wait", bounds=(0, 240)),
        quantile=vm.quantile("wait", 0.9, bounds=(0, 240), bins=17),
        picked=vm.median("wait", bounds=(0, 240), interval=False),
        minimum=vm.minimum("wait", bounds=(0, 240)),
        maximum=vm.maximum("wait", bounds=(0, 240), q="199/200"),
    ),
    "keys": lambda t: t.group_by("ward", keys=WARDS).agg(n=vm.count()),
    "keys of a set": lambda t: t.group_by("ward", keys=set(WARDS)).agg(n=vm.count()),
    "other": lambda t: t.group_by("ward", keys=WARDS[:2], other=True).agg(n=vm.count()),
    "two columns": lambda t: t.group_by("ward", "age", keys=[("Oncology", 40), ("Emergency", 41)]).agg(n=vm.count()),
    "combinations": lambda t: t.group_by("ward", "age", keys={"ward": WARDS, "age": range(40, 43)}).agg(n=vm.count()),
    "edges": lambda t: t.group_by("wait", edges=[0, 60, 120.5, 240]).agg(n=vm.count()),
    "histogram": lambda t: t.histogram("age", [0, 30, 60, 90], other=True),
    "filter": lambda t: t.filter(t["wait"] > 60).agg(n=vm.count()),
    "two filters": lambda t: t.filter(t["wait"] > 60).filter(t["ward"] == "Oncology").agg(n=vm.count()),
    "derive": lambda t: t.derive(hours=t["wait"] / 60).agg(x=vm.mean("hours", bounds=(0, 4))),
    "case": lambda t: (
        t.derive(age_group=vm.case((t["age"] < 18, "child"), default="adult"))
        .group_by("age_group", keys=["child", "adult"])
        .agg(n=vm.count())
    ),
    "limit": lambda t: t.limit(rows=3, per_group=2).limit(rows=2).group_by("ward", keys=WARDS).agg(n=vm.count()),
    "limit to the first": lambda t: t.limit(rows=1, keep="first by wait").agg(x=vm.mean("wait", bounds=(0, 240))),
    "an expression": lambda t: t.agg(x=vm.mean(t["wait"] * 2 + t["age"], bounds=(0, 480))),
    "a filter by text": lambda t: t.filter("wait > 60 and ward != 'Oncology'").agg(n=vm.count()),
    "another meaning": lambda t: (
        t.filter(t["wait"] > 60).derive(wait=t["wait"] - 60).agg(x=vm.sum("wait", bounds=(0, 9)))
    ),
    "selected": lambda t: t.select("ward", "wait").agg(n=vm.count()),
    "joined": lambda t: (
        t.join(vm.public({"ward": [*WARDS, WARDS[0]], "floor": [1, 2, 3, 4, 5, 6]}), on="ward")
        .group_by("floor", keys=[1, 2, 6])
        .agg(n=vm.count())
    ),
    "bounds": lambda t: t.bounds_question("wait", within=(0, 10_000)),
    "top": lambda t: t.group_by("ward", keys=WARDS).top(2),
    "top of units": lambda t: t.group_by("wait", edges=[0, 60, 240]).top(1, by="units"),
}
STAYS: dict[str, Callable[[Any], Any]] = {
    "days": lambda t: t.group_by("day", keys=["2024-05-01", datetime.date(2024, 5, 2)], other=True).agg(n=vm.count()),
    "truth values": lambda t: t.group_by("urgent").agg(n=vm.count(), x=vm.mean("cost", bounds=(0, 10))),
    "a filter by day": lambda t: t.filter(t["day"] >= datetime.date(2024, 5, 2)).agg(n=vm.count()),
    "a month": lambda t: (
        t.derive(month=t["day"].truncate("month")).group_by("month", keys=[datetime.date(2024, 5, 1)]).agg(n=vm.count())
    ),
    "reals": lambda t: t.filter(t["cost"] * 2.5 < 7.1).agg(x=vm.sum("cost", bounds=(0, 8))),
    "keys that are found": lambda t: t.group_by("clinic").agg(n=vm.count(), x=vm.mean("cost", bounds=(0, 8))),
    "days that are found": lambda t: t.group_by("day", other=True).agg(n=vm.count()),
    "heavy hitters": lambda t: t.heavy_hitters("clinic"),
    "heavy hitters by day": lambda t: t.heavy_hitters("day", "clinic"),
    "top of truth values": lambda t: t.group_by("urgent").top(1),
}
CASES = [
    *(pytest.param("visits", ask, vm.zcdp("1/10"), id=name) for name, ask in VISITS.items()),
    *(pytest.param("stays", ask, vm.approx_zcdp("1/20", "1e-6"), id=name) for name, ask in STAYS.items()),
]


@pytest.mark.parametrize(("dataset", "ask", "spend"), CASES)
def test_a_question_has_the_same_preview_and_an_answer_of_the_same_shape(
    dataset: str, ask: Callable[[Any], Any], spend: Any, connection: Connection, local: dict[str, Table]
) -> None:
    here, there = ask(local[dataset]), ask(connection[dataset])
    mine, theirs = here.preview(spend=spend, alpha="1/10"), there.preview(spend=spend, alpha="1/10")
    for name in ("rows", "loss", "alpha", "kept", "notes"):
        assert getattr(theirs, name) == getattr(mine, name), name
    assert theirs.fits and theirs.unit == mine.unit
    assert repr(theirs).splitlines()[: len(mine.rows) + 1] == repr(mine).splitlines()[: len(mine.rows) + 1]
    released, remote = here.release(spend=spend), there.release(spend=spend)
    assert remote.loss == released.loss and remote.keys == released.keys
    assert remote.to_columns().keys() == released.to_columns().keys()
    if isinstance(remote, Ranked):
        assert len(remote) == len(released) and remote.by == released.by
        assert set(remote) <= set(here.plan.grouping.labels)
        assert repr(remote).splitlines()[0] == repr(released).splitlines()[0]
        return
    # Which keys are found depends on noise; here all occur often enough.
    assert sorted(map(repr, remote.groups)) == sorted(map(repr, released.groups))
    if "heavy_hitters" not in repr(there):
        assert remote.groups == released.groups
    assert remote.columns == released.columns and remote.covers == released.covers
    for name, estimate in released.estimates.items():
        for end in ("value", "lower", "upper"):
            assert getattr(remote[name], end).dtype == getattr(estimate, end).dtype
            assert len(getattr(remote[name], end)) == len(getattr(estimate, end))
    assert remote.to_dicts()[0].keys() == released.to_dicts()[0].keys()


def test_widths_weights_and_alpha_are_sent_exactly(connection: Connection, local: dict[str, Table]) -> None:
    def ask(table: Any) -> Any:
        return table.agg(n=vm.count(), x=vm.sum("wait", bounds=(0, 240)))

    options: dict[str, Any] = {"alpha": "1/3", "weights": {"n": "3", "x": 0.1}}
    mine = ask(local["visits"]).preview(spend=vm.zcdp("1/7"), **options)
    theirs = ask(connection["visits"]).preview(spend=vm.zcdp("1/7"), **options)
    assert theirs.rows == mine.rows and theirs.alpha == Fraction(1, 3)
    least = ask(local["visits"]).spend_for({"n": "51/2"}, alpha="1/3")
    within = ask(connection["visits"]).preview(within={"n": "51/2"}, alpha="1/3")
    assert within.loss == ask(local["visits"]).preview(spend=least, alpha="1/3").loss
    answer = ask(connection["visits"]).release(within={"n": "51/2"}, alpha="1/3")
    assert answer.loss == within.loss and answer.alpha == Fraction(1, 3)
    assert (answer["n"].upper - answer["n"].value).max() <= 25.5


def test_raw_numbers_may_be_below_zero(connection: Connection) -> None:
    table = connection["visits"]
    question = table.filter(table["wait"] < -1).group_by("age", edges=list(range(40))).agg(n=vm.count())
    # Of 39 groups without rows, that none is below 0 has a chance of 2^-39.
    assert question.release(spend=vm.zcdp("1/1000"), raw=True)["n"].value.min() < 0
    assert question.release(spend=vm.zcdp("1/1000"))["n"].value.min() == 0


def test_what_is_done_in_another_order_is_the_same_question(connection: Connection, local: dict[str, Table]) -> None:
    # Filters and columns come one after the other; the service gets columns first.
    def ask(table: Any) -> Any:
        late = table.filter(table["wait"] > 30).derive(hours=table["wait"] // 60)
        return late.filter(late["hours"] < 3).derive(twice=late["hours"] * 2).agg(x=vm.sum("twice", bounds=(0, 6)))

    mine, theirs = ask(local["visits"]), ask(connection["visits"])
    spend = vm.zcdp("99/10")
    assert theirs.preview(spend=spend).rows == mine.preview(spend=spend).rows
    # The noise is small enough to see that the same rows are counted.
    exact = _exact_sum(local["visits"])
    for answer in (mine.release(spend=spend), theirs.release(spend=spend)):
        assert abs(answer["x"].value[0] - exact) < 100 < exact


def _exact_sum(table: Table) -> int:
    """The sum by hand; no patient has more than five rows in this file."""
    rows: Any = table.session.source
    waits = rows.expression.execute()["wait"]
    return int(sum(2 * (wait // 60) for wait in waits if 30 < wait < 180))


def test_a_table_has_the_face_of_a_local_one(connection: Connection, local: dict[str, Table]) -> None:
    mine, theirs = local["stays"], connection["stays"]
    assert theirs.schema == mine.schema and theirs.unit == mine.unit and theirs.budget == mine.budget
    assert repr(theirs["cost"] * 2 > 3) == repr(mine["cost"] * 2 > 3)
    text = repr(theirs.filter(theirs["cost"] > 3.5).limit(rows=2))
    assert text.startswith("private table stays of http://127.0.0.1:") and "filter(cost > 3.5)" in text
    assert "day      DATE" in text and "one patient with all of its rows (user)" in text and "at most rows=2" in text
    assert "filter(cost &gt; 3.5)" in theirs.filter(theirs["cost"] > 3.5)._repr_html_()
    with pytest.raises(ParameterError, match="did you mean 'clinic'"):
        theirs["clinik"]
    assert repr(theirs.limit(rows=1).group_by("day", keys=["2024-05-01"]).agg(n=vm.count())) == (
        'stays.limit(rows=1).group_by(day, keys=["2024-05-01"]).agg(n=count())'
    )


def test_what_is_spent_is_seen_at_once_and_in_the_history(run_service: Callable[..., Running]) -> None:
    there = run_service(datasets=[{**ON_SERVER, "budget": {"zcdp": "100"}}])
    with vm.connect(there.url, token=there.tokens["analyst-all"]) as connection:
        see_what_is_spent(connection["visits"])


def see_what_is_spent(table: Any) -> None:
    """Ask a little, and see what becomes of the numbers."""
    table.agg(n=vm.count()).release(spend=vm.zcdp("1/1000"))
    before, lines = table.spent, len(table.history)
    answer = table.agg(n=vm.count()).release(spend=vm.zcdp("1/1000"), key="in-the-history")
    assert table.spent == before.measure.total([before, answer.loss])
    assert table.left == table.budget.left_after(table.spent)
    newest = table.history[-1]
    assert len(table.history) == lines + 1
    assert (newest.question, newest.loss, newest.entry) == ("agg(n)", answer.loss, answer.entry)
    assert (newest.by, newest.key) == ("analyst-all", "in-the-history")
    spent: Any = table.spent
    # To show a table asks nothing of the service: it shows what was seen last.
    assert f"{show(spent.rho)} of 100 spent" in repr(table)


def test_a_long_history_comes_in_pages_and_in_order(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    table = connection["stays"]
    for _ in range(3):
        table.agg(n=vm.count()).release(spend=vm.approx_zcdp("1/1000", 0))
    whole = table.history
    monkeypatch.setattr("viameter.service.client.dataset.PAGE", 2)
    assert table.history == whole and len(whole) >= 3
    entries = [one.entry or 0 for one in whole]
    assert entries == sorted(set(entries)) and min(entries) > 0


def test_what_is_left_is_the_least_of_what_pays(serving: Running) -> None:
    limit = {"budget": {"zcdp": "1/50"}, "why": "a trial"}
    assert serving.api("admin", "PUT", "/datasets/visits/budgets/analyst-visits", json=limit).status_code == 200
    with vm.connect(serving.url, token=serving.tokens["analyst-visits"]) as mine:
        assert mine["visits"].left == vm.zcdp("1/50") < mine["visits"].budget
        question = mine["visits"].agg(n=vm.count())
        preview = question.preview(spend=vm.zcdp("1/10"))
        assert not preview.fits
        # The numbers of one budget stand together, and it is said which one limits.
        whole, own = preview.budgets
        assert preview.budgets == mine["visits"].budgets and preview.binding == own
        assert (own.name, own.budget, own.spent, own.left) == (
            "your own limit",
            vm.zcdp("1/50"),
            vm.zcdp(0),
            vm.zcdp("1/50"),
        )
        assert (whole.name, whole.budget) == ("visits", vm.zcdp(100)) and whole.left == vm.zcdp(100).left_after(
            whole.spent
        )
        assert "your own limit: zcdp(0) spent of zcdp(1/50), zcdp(1/50) left; this one limits" in repr(preview)
        shown = mine["visits"]
        assert shown.left == own.left and "your own limit: zcdp(0) spent of zcdp(1/50)" in repr(shown)
        with pytest.raises(OverBudget) as refused:
            question.release(spend=vm.zcdp("1/10"))
    assert refused.value.left == vm.zcdp("1/50") == refused.value.budget and refused.value.spent == vm.zcdp(0)
    assert refused.value.scope == "visits@analyst-visits" and isinstance(refused.value.asked, Loss)


def test_an_answer_is_shown_drawn_and_made_into_tables(connection: Connection) -> None:
    question = connection["visits"].group_by("ward", keys=WARDS).agg(n=vm.count(), x=vm.mean("wait", bounds=(0, 240)))
    answer = question.release(spend=vm.zcdp("1/10"))
    assert isinstance(answer, Answer) and len(answer) == 5 and not answer.replayed
    lines = repr(answer).splitlines()
    assert lines[0].split() == ["ward", "n", "x"] and lines[1].startswith("Cardiology")
    assert f"cost {answer.loss!r} for one patient with all of its rows (user)" in lines
    assert answer.guarantee.granularity == connection["visits"].unit.granularity
    assert "<td" in answer._repr_html_() and "Cardiology" in answer._repr_html_()
    assert answer.to_arrow().column_names == list(answer.columns) == list(answer.to_pandas().columns)
    assert [row["ward"] for row in answer] == WARDS
    assert len(answer.plot().axes) == 2
    with pytest.raises(ParameterError, match="there is no aggregate 'm'"):
        answer["m"]


def test_the_theorems_behind_an_answer_are_those_of_a_local_one(
    connection: Connection, local: dict[str, Table], tmp_path: Path
) -> None:
    def ask(table: Any) -> Any:
        return table.filter(table["wait"] > 60).agg(n=vm.count()).release(spend=vm.zcdp("1/10"))

    mine, theirs = ask(local["visits"]), ask(connection["visits"])
    assert str(theirs.explain()).splitlines()[1:] == str(mine.explain()).splitlines()[1:]
    assert theirs.explain().claim == mine.certificate().claim
    certificate = theirs.certificate()
    assert isinstance(certificate, Certificate)
    assert certificate.to_json()["derivation"] == mine.certificate().to_json()["derivation"]
    certificate.write(tmp_path / "certificate.json")
    done = subprocess.run(
        [sys.executable, "-m", "viameter_check", str(tmp_path / "certificate.json")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_theorem_that_this_version_does_not_have_is_named_by_its_slug() -> None:
    node = {
        "subject": "a step", "theorem": "of-tomorrow", "numbers": "exact", "given": "1", "bound": vm.zcdp(1).to_json(),
        "assumes": ["the moon"], "premises": [], "times": "3",
    }  # fmt: skip
    import httpx

    from viameter.service.client.explaining import Proofs

    found = {"line": {}, "claim": "All is well.", "derivation": node}
    played = playing(httpx.Response(200, json=found), httpx.Response(200, json={**found, "derivation": None}))
    with played.connect() as made:
        proofs = Proofs(made._wire, "visits")
        text = str(proofs.explanation(7))
        assert text.splitlines()[:2] == ["All is well.", "3 times a step: 1 -> zcdp(1)"]
        assert "[of-tomorrow, exact]" in text and "the moon" in text
        with pytest.raises(vm.errors.ServiceError, match="cannot be written down"):
            proofs.explanation(7)


def test_a_schema_is_read_with_the_ranges_of_integers() -> None:
    schema = schema_of(SCHEMA)
    assert schema["wait"] == Type(Kind.INTEGER, lower=0, upper=255) and schema["day"] == Type(Kind.DATE)
    assert schema.unusable == ("blob", "shape")


NOT_SENT = ["partition", "sub_budget"]


@pytest.mark.parametrize("method", NOT_SENT)
def test_what_a_service_is_not_asked_for_is_refused_in_words(method: str, connection: Connection) -> None:
    given = {"keys": 3, "budgets": 3} if method == "partition" else {"budget": 3}
    with pytest.raises(ParameterError, match=f"^{method} cannot be sent to a service: "):
        getattr(connection["visits"], method)("anything", **given)


MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "groups of an expression": (lambda t: t.group_by(t["wait"] > 3), "is not the name of a column"),
    "hitters of an expression": (lambda t: t.heavy_hitters(t["ward"]), "is not the name of a column"),
    "no aggregate": (lambda t: t.agg(), "at least one aggregate"),
    "no column": (lambda t: t.group_by(), "at least one column"),
    "nothing to hit": (lambda t: t.heavy_hitters(), "at least one column"),
    "a column that is not there": (lambda t: t.agg(x=vm.mean("weight", bounds=(0, 9))), "no column 'weight'"),
    "a mean of text": (lambda t: t.agg(x=vm.mean("ward", bounds=(0, 9))), "no number"),
    "no bounds": (lambda t: t.agg(x=vm.mean("wait")), "takes a column and bounds"),
    "keys of another type": (lambda t: t.group_by("ward", keys=[3]), "no value of a column that is TEXT"),
    "keys and edges": (lambda t: t.group_by("wait", keys=[3], edges=[0, 1]), "leaves no keys"),
    "edges in disorder": (lambda t: t.group_by("wait", edges=[5, 1]), "bin"),
    "edges without end": (lambda t: t.group_by("wait", edges=[0, float("inf")]), "no finite number"),
    "other": (lambda t: t.group_by("ward", keys=["A"], other=1), "True or False"),
    "top of unknown keys": (lambda t: t.group_by("ward").top(2), "or list the keys"),
    "top of half a key": (lambda t: t.group_by("ward", keys=["A"]).top(0.5), "whole number"),
    "top by something": (lambda t: t.group_by("ward", keys=["A"]).top(1, by="age"), "'rows' or 'units'"),
    "a filter by a number": (lambda t: t.filter(t["wait"]), "INTEGER, not BOOLEAN"),
    "a filter that is no text": (lambda t: t.filter(3), "takes an expression"),
    "a filter by a column that is not there": (lambda t: t.filter("weight > 3"), "no column 'weight'"),
    "a limit": (lambda t: t.limit(rows=0), "no limit"),
    "no cost": (lambda t: t.agg(n=vm.count()).release(), "spend=... .* or within"),
    "two costs": (lambda t: t.agg(n=vm.count()).preview(spend=vm.zcdp(1), within={"n": 3}), "or within"),
    "a cost that is none": (lambda t: t.agg(n=vm.count()).release(spend="1/10"), "is not a loss"),
    "another measure": (lambda t: t.agg(n=vm.count()).release(spend=vm.pure(1)), "measure mismatch"),
    "widths": (lambda t: t.agg(n=vm.count()).preview(within=[3]), "expected widths by name"),
    "a width that is a float": (lambda t: t.agg(n=vm.count()).preview(within={"n": 0.1}), "is a float"),
    "an alpha": (lambda t: t.agg(n=vm.count()).preview(spend=vm.zcdp(1), alpha=2), "between 0 and 1"),
    "weights": (lambda t: t.agg(n=vm.count()).preview(spend=vm.zcdp(1), weights={"n": "many"}), "not a number above 0"),
    "raw": (lambda t: t.agg(n=vm.count()).release(spend=vm.zcdp(1), raw="yes"), "True or False"),
    "a key with a space": (lambda t: t.agg(n=vm.count()).release(spend=vm.zcdp(1), key="a b"), "1 to 200 signs"),
    "a key of dots": (lambda t: t.answer(".."), "1 to 200 signs"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(mistake: str) -> None:
    ask, text = MISTAKES[mistake]
    played = playing()
    with (
        played.connect() as made,
        pytest.raises((ParameterError, NumberError, NoTheorem, vm.errors.MismatchError), match=text),
    ):
        ask(made["visits"])
    assert played.asked == []


def test_what_only_the_service_can_judge_is_its_refusal_in_the_same_words(connection: Connection) -> None:
    table = connection["visits"]
    with pytest.raises(ParameterError, match="rows=6 is more than the table allows, rows=5"):
        table.limit(rows=6).agg(n=vm.count()).preview(spend=vm.zcdp("1/10"))
    with pytest.raises(ParameterError, match="'ward' is the name of a column that groups rows"):
        table.group_by("ward", keys=["A"]).agg(ward=vm.count()).preview(spend=vm.zcdp("1/10"))
    with pytest.raises(NoTheorem, match="delta"):
        table.heavy_hitters("ward").release(spend=vm.zcdp("1/10"))
