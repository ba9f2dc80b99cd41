"""What all mechanisms have in common: recipes, explanations, equality, silence about data; and the names of tests."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import INTEGER, REAL, VISITS, WORDS, integers, reals, slugs

import viameter as vm
import viameter.mechanisms.accuracy
import viameter.mechanisms.smoothed
import viameter.mechanisms.sparse
import viameter.mechanisms.threshold  # with the lines above, registers every theorem of mechanisms
from viameter.errors import NotInDomain, ParameterError
from viameter.sampling.entropy import SystemEntropy
from viameter.theorem import all_theorems

THREE = integers(3, vm.LInfDistance())
ANSWER = vm.Space(vm.categories(["a", "b"]), vm.DiscreteDistance())
ANSWERS = vm.Space(vm.vectors(vm.categories(["a", "b"])), vm.HammingDistance())

# A recipe, a space for it, data, and the theorem.
Case = tuple[Callable[[], Any], vm.Space, Any, str]
CASES: dict[str, Case] = {
    "laplace": (lambda: vm.laplace(scale=10), INTEGER, 5, "laplace-on-integers"),
    "laplace of vectors": (lambda: vm.laplace(scale=10), integers(2, vm.L1Distance()), [1, 2], "laplace-on-integers"),
    "geometric": (lambda: vm.geometric(scale=10), INTEGER, 5, "laplace-on-integers"),
    "gaussian": (lambda: vm.gaussian(scale=10), INTEGER, 5, "gaussian-on-integers"),
    "laplace on a grid": (lambda: vm.laplace(scale=10, grid="1/4"), REAL, 0.3, "laplace-on-a-grid"),
    "gaussian on a grid": (
        lambda: vm.gaussian(scale=10, grid="1/4"),
        reals(2, vm.L2Distance()),
        [0.3, -1.0],
        "gaussian-on-a-grid",
    ),
    "exponential": (lambda: vm.exponential(scale=4), THREE, [1, 2, 3], "exponential-range"),
    "exponential, pure": (
        lambda: vm.exponential(scale=4, measure=vm.PureDP),
        THREE,
        [1, 2, 3],
        "bounded-range-is-pure",
    ),
    "exponential, zcdp": (lambda: vm.exponential(scale=4, measure=vm.ZCDP), THREE, [1, 2, 3], "bounded-range-to-zcdp"),
    "noisy max": (lambda: vm.noisy_max(scale=4), THREE, [1, 2, 3], "noisy-max-exponential"),
    "noisy max, laplace": (lambda: vm.noisy_max(scale=4, noise="laplace"), THREE, [1, 2, 3], "noisy-max-laplace"),
    "noisy max, gumbel": (lambda: vm.noisy_max(scale=4, noise="gumbel"), THREE, [1, 2, 3], "bounded-range-is-pure"),
    "top k": (lambda: vm.top_k(k=2, scale=4), THREE, [1, 2, 3], "top-k-by-peeling"),
    "quantile scores": (
        lambda: vm.quantile_scores(alpha="1/2", candidates=[1, 2, 3]),
        VISITS,
        [1, 2],
        "quantile-scores",
    ),
    "private quantile": (
        lambda: vm.private_quantile(alpha="1/2", candidates=[1, 2, 3], scale=2),
        VISITS,
        [1, 2],
        "exponential-range",
    ),
    "randomized response": (lambda: vm.randomized_response(probability="3/4"), ANSWER, "a", "randomized-response"),
    "randomized responses": (
        lambda: vm.randomized_response(probability="3/4"),
        ANSWERS,
        ["a", "b"],
        "randomized-response",
    ),
    "thresholded counts": (
        lambda: vm.thresholded_counts(scale=1, threshold=30),
        WORDS,
        ["a", "b"],
        "thresholded-keys",
    ),
    "sparse vector": (lambda: vm.sparse_vector(threshold=5, scale=8), VISITS, [1, 2], "sparse-vector"),
}
EVERY = for_each("name", list(CASES))


@EVERY
def test_every_explanation_names_the_theorem_and_the_bound(name: str) -> None:
    recipe, space, _, slug = CASES[name]
    made = space >> recipe()
    for d_in in (0, 1, 2):
        assert slug in slugs(made, d_in)
        text = str(made.explain(d_in))
        assert f"[{slug}, " in text
        assert repr(made.map(d_in)) in text or str(made.map(d_in)) in text
        assert made.explain(d_in).assumptions == ()


@EVERY
def test_recipes_are_completed_by_a_space_and_by_a_transformation(name: str) -> None:
    recipe, space, data, _ = CASES[name]
    assert isinstance(recipe(), vm.Recipe)
    made = space >> recipe()
    assert made.input_space == space
    released = made(data)
    assert released is not None
    if name in ("laplace", "geometric", "gaussian"):
        counted = VISITS >> vm.count() >> recipe()
        assert counted.map(1) == made.map(1)
        assert counted.map(0) == made.measure.zero
        recipes = vm.count() >> recipe()
        assert (VISITS >> recipes).map(1) == made.map(1)
    with pytest.raises(ParameterError):
        made.steps[-1].identity[0].constructor(unknown=1)


@EVERY
def test_what_is_made_in_the_same_way_is_equal(name: str) -> None:
    # Once: private quantile: the function that looks the candidate up is another one each time
    recipe, space, _, _ = CASES[name]
    assert recipe() == recipe()
    assert hash(recipe()) == hash(recipe())
    left, right = space >> recipe(), space >> recipe()
    assert left == right
    assert hash(left) == hash(right)
    assert left != vm.laplace(INTEGER, scale=77)


def test_what_is_made_in_another_way_is_not_equal() -> None:
    made = [
        vm.laplace(INTEGER, scale=10),
        vm.laplace(INTEGER, scale=11),
        vm.gaussian(INTEGER, scale=10),
        vm.geometric(INTEGER, scale=10),
        vm.exponential(THREE, scale=10),
        vm.exponential(THREE, scale=10, monotone=True),
        vm.exponential(THREE, scale=10, measure=vm.PureDP),
        vm.noisy_max(THREE, scale=10),
        vm.noisy_max(THREE, scale=10, noise="laplace"),
    ]
    assert len(set(made)) == len(made)
    assert vm.exponential(THREE, scale=10, monotone=False) == vm.exponential(THREE, scale=10)


def test_noise_is_drawn_by_the_sampler_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    laplace, gaussian = vm.sampling.discrete_laplace, vm.sampling.discrete_gaussian
    words = vm.thresholded_counts(WORDS, scale=10, threshold=1)
    first = vm.transformation(
        THREE, function=lambda rows: int(rows[0]), output=INTEGER, stability=lambda d: d, trust="it is one of them"
    )
    drawn = []
    for seed in range(40):
        tape = vm.sampling.Tape.seeded(seed)
        monkeypatch.setattr(SystemEntropy, "stream", lambda *_, seed=seed: vm.sampling.Tape.seeded(seed).stream(0))
        one, other = laplace(scale=10, entropy=tape), gaussian(scale=10, entropy=vm.sampling.Tape.seeded(seed))
        drawn.append((one, other))
        assert vm.laplace(INTEGER, scale=10)(0) == vm.geometric(INTEGER, scale=10)(0) == one
        assert vm.gaussian(INTEGER, scale=10)(0) == other
        assert vm.laplace(REAL, scale=5, grid="1/2")(0.0) == one / 2
        assert vm.gaussian(REAL, scale=5, grid="1/2")(0.0) == other / 2
        several = laplace(3, 10, entropy=vm.sampling.Tape.seeded(seed))
        spread = gaussian(3, 10, entropy=vm.sampling.Tape.seeded(seed))
        assert vm.laplace(integers(3, vm.L1Distance()), scale=10)([0, 0, 0]).tolist() == several.tolist()
        assert vm.gaussian(integers(3, vm.L2Distance()), scale=10)([0, 0, 0]).tolist() == spread.tolist()
        assert words(["a"] * 1000) == {"a": 1000 + int(laplace(1, 10, entropy=vm.sampling.Tape.seeded(seed))[0])}
        # Every draw starts the tape again, so that threshold and query have noise of the same bits.
        near = vm.sparse_vector(THREE, threshold=0, scale=10, threshold_scale=20)([seed % 30 - 15, 0, 0])
        assert near(first) == (seed % 30 - 15 + one >= laplace(scale=20, entropy=vm.sampling.Tape.seeded(seed)))
    assert [one for one, _ in drawn] != [other for _, other in drawn]


CANARY = 918273645


@EVERY
def test_nothing_that_is_raised_or_shown_has_the_data_in_it(name: str) -> None:
    recipe, space, data, _ = CASES[name]
    made = space >> recipe()
    wrong: list[Any] = [{"canary": CANARY}, [{"canary": CANARY}], [f"canary {CANARY}", CANARY], object(), None, ...]
    for given in wrong:
        with pytest.raises(NotInDomain) as caught:
            made(given)
        assert str(CANARY) not in str(caught.value) + repr(caught.value.args)
        assert caught.value.__cause__ is None and caught.value.__context__ is None
    made(data)
    for shown in (repr(made), str(made.explain(1)), repr(made.map(1))):
        assert str(CANARY) not in shown


@EVERY
def test_data_in_the_domain_never_lead_to_an_error(name: str) -> None:
    recipe, space, data, _ = CASES[name]
    made = space >> recipe()
    extremes: list[Any] = [data]
    if space in (INTEGER,):
        extremes += [2**63 - 1, -(2**63), 0, CANARY]
    elif space is REAL:
        extremes += [float("inf"), float("-inf"), 5e-324, -0.0, 1.7e308]
    elif space is THREE:
        extremes += [[2**63 - 1] * 3, [-(2**63)] * 3, [2**63 - 1, -(2**63), 0]]
    elif space in (VISITS,):
        extremes += [[], [CANARY] * 3, [2**63 - 1, -(2**63)], list(range(1000))]
    elif space is WORDS:
        extremes += [[], ["\ud800", "", "\0"], [str(CANARY)] * 100]
    for given in extremes:
        for _ in range(5):
            made(given)


# --- the names of tests ----------------------------------------------------------------------------------------------


@functools.cache
def names_of_tests() -> set[str]:
    """The names of all test functions beside this one, read and not imported."""
    return {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.split())) if part]


@for_each("slug", [known.slug for known in all_theorems() if ".mechanisms." in known.where])
def test_every_theorem_here_has_a_test_of_what_it_ensures_and_one_for_each_sentence_that_it_requires(slug: str) -> None:
    names = names_of_tests()
    prefix = f"test_{slug.replace('-', '_')}_"
    assert any(name.startswith(f"{prefix}ensures_") for name in names)
    (known,) = (each for each in all_theorems() if each.slug == slug)
    required = [name for name in names if name.startswith(f"{prefix}requires_")]
    assert len(required) >= len(sentences(known.statement.requires))


def test_the_mechanisms_have_fourteen_theorems_and_two_that_follow() -> None:
    assert len([known for known in all_theorems() if ".mechanisms." in known.where]) == 14
    followed = [known for known in all_theorems() if known.slug in ("bounded-range-is-pure", "bounded-range-to-zcdp")]
    assert [known.where.rpartition(".")[0] for known in followed] == ["viameter.measures.conversions.response"] * 2
