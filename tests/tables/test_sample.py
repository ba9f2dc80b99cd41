"""Samples: which units they keep, for how long they are the same, and that nobody learns by which secret."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables import session as sessions
from viameter.tables.session import Sampling

UNITS = [f"p{place}" for place in range(2000)]
ROWS: dict[str, Any] = {
    "u": [unit for unit in UNITS for _ in range(2)],
    "k": ["a", "b"] * 2000,
    "x": list(range(4000)),
}


def opened(**options: Any) -> Any:
    return vm.open(held(ROWS), unit=vm.per("u", rows=2), **{"budget": vm.zcdp(10**9), **options})


def units(table: Any) -> set[str]:
    """The units that are kept: of a table of this process, before any noise."""
    return {row["u"] for row in table.relation.rows().expression[["u"]].to_pyarrow().to_pylist()}


def near(kept: set[str], share: float, of: int = 2000) -> bool:
    """Whether so many are kept as a share of them, but for a chance below 1e-9 (Hoeffding)."""
    return bool(abs(len(kept) - share * of) < 3.3 * of**0.5)


def test_a_sample_keeps_about_so_many_units_with_all_of_their_rows() -> None:
    half = opened().sample("1/2")
    kept = units(half)
    assert near(kept, 1 / 2)
    rows = half.relation.rows().expression[["u", "x"]].to_pyarrow().to_pylist()
    assert len(rows) == 2 * len(kept)
    assert units(opened().sample(1)) == set(UNITS)


def test_two_questions_of_one_table_are_of_the_same_units() -> None:
    table = opened()
    first, second = table.sample("1/2"), table.sample("1/2")
    assert units(first) == units(second)
    assert first.source == second.source and first.relation is second.relation
    assert units(table.filter(table["x"] >= 0).sample("1/2")) == units(first)
    assert units(table.derive(y=table["x"] + 1).sample("1/2").select("y", "u")) == units(first)
    assert units(table.query({"steps": [{"sample": "1/2"}]}).table) == units(table)
    asked = table.query({"steps": [{"sample": "1/2"}]}).question.source
    assert units(type(table)(table.session, asked)) == units(first)
    loud = vm.zcdp(10**6)
    counts = {int(table.sample("1/2").agg(n=vm.count()).release(spend=loud)["n"].value[0]) for _ in range(5)}
    assert counts == {2 * len(units(first))}


def test_a_smaller_fraction_keeps_some_of_the_same_units() -> None:
    table = opened()
    quarter, half, most = (units(table.sample(share)) for share in ("1/4", "1/2", "9/10"))
    assert quarter < half < most and near(quarter, 1 / 4)


def test_a_sample_of_a_sample_is_a_smaller_one() -> None:
    table = opened()
    once, twice = table.sample("1/2"), table.sample("1/2").sample("1/2")
    thrice = twice.filter(table["x"] >= 0).sample("1/2")
    assert units(thrice) < units(twice) < units(once)
    assert near(units(twice), 1 / 4) and near(units(thrice), 1 / 8)
    assert units(table.sample("1/2").derive(y=table["x"]).sample("1/2")) == units(twice)
    # Of those of one sample, others are kept than another sample of all would keep.
    assert units(table.sample("1/4")) != units(twice)


def test_a_sample_of_joined_rows_is_a_smaller_one_than_those_of_both_sides() -> None:
    drugs = {"u": UNITS, "drug": ["d"] * 2000}
    sources: dict[str, Any] = {"visits": held(ROWS), "drugs": held(drugs)}
    tables = vm.open(sources, unit=vm.per("u", rows=2), budget=vm.zcdp(1))
    visits, twice = tables["visits"], tables["drugs"].sample("1/2").sample("1/2")
    joined = visits.sample("1/2").join(twice.select("drug"))
    # Both sides are sampled by one secret: units of the sample of a sample are units of the sample.
    assert units(joined) == units(twice)
    assert near(units(joined.sample("1/2")), 1 / 8) and units(joined.sample("1/2")) < units(joined)
    assert units(visits.join(twice.select("drug")).sample("1/2")) == units(joined.sample("1/2"))


def test_parts_and_shares_of_a_table_have_the_units_of_its_samples() -> None:
    table = opened()
    half = units(table.sample("1/2"))
    share = table.sub_budget("mine", budget=vm.zcdp(1))
    assert units(share.sample("1/2")) == half
    # Each unit has a row in both parts.
    parts = table.partition("k", keys=["a", "b"], budgets=vm.zcdp(1))
    assert units(parts["a"].sample("1/2")) == units(parts["b"].sample("1/2")) == half
    # Those of a part of a sample are sampled once more, and not by what they were chosen by.
    of_half = table.sample("1/2").partition("k", keys=["a", "b"], budgets=vm.zcdp(1))
    assert units(of_half["a"]) == half
    again = units(of_half["a"].sample("1/2"))
    assert again < half and near(again, 1 / 4) and again == units(table.sample("1/2").sample("1/2"))
    deeper = of_half["a"].sample("1/2").partition("k", keys=["a"], budgets=vm.zcdp("1/10"))["a"].sample("1/2")
    assert units(deeper) < again and near(units(deeper), 1 / 8)


def test_who_asks_makes_no_difference(tmp_path: Any) -> None:
    with vm.ledger.open(tmp_path / "budget.db") as book:
        table = opened(ledger=book, dataset="visits", by="ann", budget=vm.zcdp(10))
        half = units(table.sample("1/2"))
        assert units(table.asked_by("bob").sample("1/2")) == half
        answer = table.sample("1/2").agg(n=vm.count()).release(spend=vm.zcdp(1), key="k")
        spent = table.spent
        # Opened again, other units are kept: a question under its key is given again as it was answered.
        again = opened(ledger=book, dataset="visits", by="ann", budget=vm.zcdp(10))
        assert units(again.sample("1/2")) != half
        assert again.sample("1/2").agg(n=vm.count()).release(spend=vm.zcdp(1), key="k").to_dicts() == answer.to_dicts()
        assert again.spent == spent


def test_a_table_that_is_opened_again_keeps_other_units() -> None:
    kept = [frozenset(units(opened().sample("1/2"))) for _ in range(4)]
    assert len(set(kept)) == 4
    # Two that are drawn apart share a quarter of all units, and not more.
    assert near(set(kept[0] & kept[1]), 1 / 4)


def test_rows_that_are_made_again_after_a_cache_was_full_are_of_the_same_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_RELATIONS", 2)
    table = opened()
    half = units(table.sample("1/2"))
    before = table.sample("1/2").relation
    for place in range(4):
        _ = table.filter(table["x"] > place).relation
    assert table.sample("1/2").relation is not before
    assert units(table.sample("1/2")) == half


def test_threads_that_ask_at_once_are_of_the_same_units() -> None:
    table = opened()
    with ThreadPoolExecutor(8) as pool:
        steps = list(pool.map(lambda _: table.sample("1/2").relation.steps, range(32)))
    assert len({id(one[-1]) for one in steps}) == 1


# -------------------------------------------------------------------------------------------------------- the secret


def secrets_of(table: Any) -> list[str]:
    """The secret, and all that is made of it for the first few samples."""
    sampling = table.session._sampling
    return [sampling._secret, *(sampling.salt(place) for place in range(4))]


def test_salts_are_of_one_secret_and_none_tells_another() -> None:
    sampling, other = Sampling(), Sampling()
    salts = [made.salt(place) for made in (sampling, other) for place in range(50)]
    assert len(set(salts)) == 100 and all(len(salt) == 32 and set(salt) <= set("0123456789abcdef") for salt in salts)
    assert sampling.salt(3) == sampling.salt(3)
    assert sampling._secret not in salts
    assert len(sampling._secret) >= 32
    # Not what a hash of public things would be.
    assert sampling.salt(0) != hashlib.sha256(b"0").hexdigest()[:32]


def test_the_secret_is_in_nothing_that_people_see_or_store() -> None:
    table = opened()
    half = table.sample("1/2").sample("1/3")
    question = half.agg(n=vm.count())
    spend = vm.zcdp(1)
    answer = question.release(spend=spend)
    seen: list[Any] = [
        table, half, half.source, half.relation, half.relation.steps, half.relation.space, half.schema, question,
        question.question, question.plan, question.measurement(spend=spend), question.preview(spend=spend), answer,
        answer.proof, answer.explain(), table.session, table.history, table.budgets, table.session._sampling,
    ]  # fmt: skip
    texts = [repr(one) for one in seen] + [str(one) for one in seen]
    texts += [json.dumps(question.to_json()), answer.certificate().text, half._repr_html_(), answer._repr_html_()]
    texts += [repr(question.plan.identity), repr(question.question.source.steps), repr(vars(table.session))]
    for secret in secrets_of(table):
        assert not any(secret in text for text in texts)
    assert pickle.loads(pickle.dumps(question.question)) == question.question
    assert not any(secret.encode() in pickle.dumps(question.question) for secret in secrets_of(table))


def test_the_secret_is_in_no_ledger(tmp_path: Any) -> None:
    path = tmp_path / "budget.db"
    with vm.ledger.open(path) as book:
        table = opened(ledger=book, dataset="visits", by="ann", budget=vm.zcdp(10))
        half = table.sample("1/2").sample("1/2")
        half.agg(n=vm.count()).release(spend=vm.zcdp(1), key="k")
        half.group_by("k", keys=["a"]).top(1).release(spend=vm.zcdp(1), key="top")
        half.partition("k", keys=["a"], budgets=vm.zcdp(1))["a"].sample("1/2").agg(n=vm.count()).release(
            spend=vm.zcdp("1/2"), key="part"
        )
        secrets = secrets_of(table)
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert stored and not any(secret.encode() in stored for secret in secrets)


def test_errors_say_nothing_of_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened()

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError(secrets_of(table)[1])

    monkeypatch.setattr("viameter.tables.collecting.run", fail)
    with pytest.raises(vm.errors.SealedError) as caught:
        table.sample("1/2").agg(n=vm.count()).release(spend=vm.zcdp(1))
    assert not any(secret in repr(caught.value) + str(caught.value) for secret in secrets_of(table))


@pytest.mark.parametrize(
    "leave", [copy.copy, copy.deepcopy, pickle.dumps, lambda one: one.__reduce__(), lambda one: one.__reduce_ex__(4)]
)
def test_the_secret_is_not_copied_or_stored(leave: Callable[[Any], Any]) -> None:
    with pytest.raises(ParameterError, match="is secret, and is not copied or stored"):
        leave(opened().session._sampling)


def test_the_secret_has_no_place_where_people_look() -> None:
    sampling = Sampling()
    assert repr(sampling) == str(sampling) == "<secret>" == f"{sampling}"
    with pytest.raises(TypeError):
        vars(sampling)
    with pytest.raises(TypeError):
        json.dumps(sampling)


# ----------------------------------------------------------------------------------------------------------- refusals


def test_what_is_no_fraction_is_refused_and_rows_without_names_have_no_sample() -> None:
    table = opened()
    for wrong in (0, -1, "3/2", 2):
        with pytest.raises(vm.errors.NumberError, match="is not between 0 and 1"):
            table.sample(wrong)
    others: list[Any] = [0.5, "half", None, [1]]
    for wrong in others:
        with pytest.raises(vm.errors.NumberError, match="fraction"):
            table.sample(wrong)
    with pytest.raises(ParameterError, match="hides single rows, which have no name to be sampled by"):
        vm.open(held(ROWS), unit=vm.per_row(), budget=vm.zcdp(1)).sample("1/2")
    assert table.history == ()


def test_no_amplification_is_claimed() -> None:
    table = opened()
    costs = [one.agg(n=vm.count()).preview(spend=vm.zcdp(1)).rows[0].noise for one in (table, table.sample("1/100"))]
    assert costs[0] == costs[1]
