"""Above-threshold: transcripts by enumeration, what is asked of queries, and the queryable itself."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.mechanisms.oracles import (
    INFINITY,
    INTEGER,
    PRECISION,
    VISITS,
    Law,
    Script,
    close,
    integers,
    laplace_pmf,
    laplace_tail,
    loose,
    max_divergence,
    pure_loss,
    real,
    slugs,
)

import viameter as vm
from viameter.core import by
from viameter.errors import (
    DomainMismatch,
    MetricMismatch,
    NoTheorem,
    NotInDomain,
    NumberError,
    ParameterError,
    QueryableEnded,
    QueryableError,
    SealedError,
    UnknownQuery,
    ViameterError,
)
from viameter.mechanisms import sparse
from viameter.mechanisms.sparse import sparse_vector_loss
from viameter.sampling import noise as sampled
from viameter.sampling.entropy import Stream, SystemEntropy
from viameter.sampling.families import Laplace
from viameter.transforms.views import coarser_metric

SPACE = integers(4, vm.LInfDistance())
Answers = tuple[bool, ...]


def place(index: int, space: vm.Space = SPACE, stability: Callable[[Any], Any] = lambda d: d) -> vm.Transformation:
    """The query for one of the numbers."""
    return vm.transformation(
        space, function=lambda rows: int(rows[index]), output=INTEGER, stability=stability, trust="it is one of them"
    )


def constant(value: int) -> vm.Transformation:
    return vm.transformation(
        SPACE, function=lambda _: value, output=INTEGER, stability=lambda _: 0, trust="it does not look at the data"
    )


QUERIES = [place(index) for index in range(4)]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    told = Script()
    monkeypatch.setattr(sparse, "discrete_laplace", told)
    return told


# --- transcripts -----------------------------------------------------------------------------------------------------


def transcripts(length: int, limit: int) -> list[Answers]:
    """All answers to so many queries, up to the one that ends them."""
    found = []
    for answers in itertools.product((False, True), repeat=length):
        kept: list[bool] = []
        for answer in answers:
            kept.append(answer)
            if sum(kept) == limit:
                break
        found.append(tuple(kept))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=64)
def threshold_pmf(scale: Fraction) -> Any:
    """The pmf of the threshold's noise, up to where it is below 10^-45."""
    with gmpy2.context(precision=PRECISION):
        reach = math.ceil(105 * scale)
        return np.array([laplace_pmf(z, scale) for z in range(-reach, reach + 1)], dtype=object)


@lru_cache(maxsize=512)
def yes_chances(offset: int, own: Fraction, scale: Fraction) -> Any:
    """P(value + noise >= threshold + z) for each z, for a value that is so far above the threshold."""
    with gmpy2.context(precision=PRECISION):
        reach = len(threshold_pmf(own)) // 2
        return np.array([laplace_tail(z - offset, scale) for z in range(-reach, reach + 1)], dtype=object)


def chance_of(answers: Answers, offsets: Sequence[int], own: Fraction, scale: Fraction) -> Any:
    total = threshold_pmf(own)
    for answer, offset in zip(answers, offsets, strict=False):
        yes = yes_chances(offset, own, scale)
        total = total * (yes if answer else 1 - yes)
    return total.sum()


def law_of(offsets: tuple[int, ...], limit: int, own: Fraction, scale: Fraction) -> Law:
    """The law of transcripts for values that are so far above the threshold."""
    return {answers: chance_of(answers, offsets, own, scale) for answers in transcripts(len(offsets), limit)}


def within(true: Any, bound: Any) -> bool:
    """At most, but for what was cut off of the threshold's noise."""
    return bool(true <= real(bound) * (1 + real("1e-25")))


@pytest.mark.parametrize(
    ("own", "scale"), [(Fraction(1), Fraction(2)), (Fraction(2), Fraction(1)), (Fraction(1, 2), Fraction(3))], ids=str
)
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("change", [1, 2])
def test_sparse_vector_ensures_its_loss_on_all_transcripts(
    change: int, limit: int, own: Fraction, scale: Fraction
) -> None:
    made = vm.sparse_vector(
        SPACE, threshold=5, scale=scale, threshold_scale=own, limit=limit, d_in=change, sensitivity=change
    )
    bound = made.map(change).epsilon
    assert bound == change / own + 2 * limit * change / scale
    rng = random.Random(f"{change}{limit}{own}{scale}")
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for offsets in itertools.product((-2, 0, 1), repeat=2):
        for move in itertools.product((-change, 0, change), repeat=2):
            cases.append((offsets, tuple(a + b for a, b in zip(offsets, move, strict=True))))
    for length in (3, 4):
        for _ in range(8):
            offsets = tuple(rng.randint(-3, 3) for _ in range(length))
            cases.append((offsets, tuple(offset + rng.randint(-change, change) for offset in offsets)))
        # What costs most: all that is answered no rises, and what is answered yes falls.
        cases.append(((2,) * (length - 1) + (-4,), (2 + change,) * (length - 1) + (-4 - change,)))
    for mine, theirs in cases:
        left, right = law_of(mine, limit, own, scale), law_of(theirs, limit, own, scale)
        assert within(pure_loss(left, right), bound), (mine, theirs)
        assert close(sum(left.values()), 1)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_sparse_vector_ensures_no_more_than_is_needed(limit: int) -> None:
    # Many queries far above the threshold that are answered no, and then those far below that are answered yes.
    own, scale = Fraction(3, 2), Fraction(2)
    bound = sparse_vector_loss(
        Fraction(1), at=Fraction(1), sensitivity=Fraction(1), threshold_scale=own, scale=scale, limit=limit
    ).epsilon
    answers = (False,) * 25 + (True,) * limit
    mine = chance_of(answers, (20,) * 25 + (-60,) * limit, own, scale)
    theirs = chance_of(answers, (21,) * 25 + (-61,) * limit, own, scale)
    true = gmpy2.log(mine / theirs)
    assert within(true, bound)
    assert true > real(bound) * (1 - real("1e-3"))


def test_sparse_vector_ensures_a_loss_up_to_the_fixed_distance_and_none_beyond() -> None:
    made = vm.sparse_vector(SPACE, threshold=0, scale=8, d_in=3, sensitivity=3)
    assert made.map(0) == vm.pure(0)
    assert made.map("1/100") == made.map(1) == made.map(3) == vm.pure(3 * Fraction(1, 4) + 2 * 3 * Fraction(1, 8))
    for beyond in ("301/100", 4, 10**9, INFINITY):
        assert made.map(beyond) == vm.pure(INFINITY)
    # The noise of the threshold is half that of queries unless it is given.
    assert vm.sparse_vector(SPACE, threshold=0, scale=8, threshold_scale=4).map(1) == vm.pure("1/2")
    assert vm.sparse_vector(SPACE, threshold=0, scale=8).map(1) == vm.pure("1/2")
    assert vm.sparse_vector(SPACE, threshold=0, scale=8, threshold_scale="1/2").map(1) == vm.pure("9/4")
    assert vm.sparse_vector(SPACE, threshold=0, scale=8, limit=7).map(1) == vm.pure(2)


def test_sparse_vector_ensures_a_sensitivity_rounded_down_to_a_whole_number() -> None:
    made = vm.sparse_vector(SPACE, threshold=0, scale=8, d_in="3/2", sensitivity="3/2")
    assert made.map("3/2") == made.map(1) == vm.pure("1/2")
    assert vm.sparse_vector(SPACE, threshold=0, scale=8, d_in="9/10", sensitivity="9/10").map("9/10") == vm.pure(0)
    assert vm.sparse_vector(SPACE, threshold=0, scale=8, d_in=1, sensitivity="29/10").map(1) == vm.pure(1)
    # Integers that are at most 3/2 apart are at most 1 apart.
    assert made([0, 0, 0, 0])(QUERIES[0]) in (False, True)
    assert QUERIES[0].map("3/2") == Fraction(3, 2)


def test_sparse_vector_ensures_0_at_distance_0_only_for_queries_that_do_not_change_there() -> None:
    # The first row, which the order of rows decides; that it moves by at most 1 is true of every two datasets.
    bit = vm.Space(vm.scalars(int, bounds=(0, 1)), vm.AbsoluteDistance())
    first = vm.transformation(
        vm.Space(vm.vectors(int, bounds=(0, 1), size=2), vm.SymmetricDistance()),
        function=lambda rows: int(rows[0]),
        output=bit,
        stability=lambda _: 1,
        trust="bits are at most 1 apart",
    )
    made = vm.sparse_vector(first.input_space, threshold=1, scale=2)
    assert made.input_space.distance([0, 1], [1, 0]) == 0
    true = pure_loss(law_of((-1,), 1, Fraction(1), Fraction(2)), law_of((0,), 1, Fraction(1), Fraction(2)))
    assert true > real("1/4")
    # Once: such a query is answered, and made.map(0) is pure(0)
    above = made([0, 1])
    try:
        above(first)
    except NoTheorem:
        return
    assert within(true, made.map(0).epsilon)


def test_sparse_vector_ensures_the_transcripts_that_the_oracle_counts(script: Script) -> None:
    limit, threshold = 1, 7
    made = vm.sparse_vector(SPACE, threshold=threshold, scale=3, threshold_scale=2, limit=limit)
    values = [6, 8, 7, 5]
    for own, *others in itertools.product(range(-2, 3), repeat=4):
        script.tell(own, *others)
        above = made(values)
        answers = []
        for query in QUERIES[:3]:
            answers.append(above(query))
            if answers[-1]:
                break
        expected = []
        for value, z in zip(values, others, strict=False):
            expected.append(value + z >= threshold + own)
            if expected[-1]:
                break
        assert answers == expected
        assert all(type(answer) is bool for answer in answers)
    assert script.asked[0] == (None, 2)
    assert set(script.asked) == {(None, Fraction(2)), (None, Fraction(3))}


def test_each_query_has_its_own_noise_and_the_threshold_one_for_all(script: Script) -> None:
    made = vm.sparse_vector(SPACE, threshold=10, scale=3, threshold_scale=2, limit=4)
    script.tell(1, 0, 0, 1, 2)
    above = made([10, 11, 10, 9])
    assert script.asked == [(None, 2)]
    assert [above(query) for query in QUERIES] == [False, True, True, True]
    assert script.asked == [(None, 2)] + [(None, 3)] * 4
    # Another release has another threshold.
    script.tell(-5)
    made([0, 0, 0, 0])
    assert script.asked[-1] == (None, 2)


def test_a_tie_with_the_threshold_is_a_yes(script: Script) -> None:
    script.tell(0, 0, 0)
    above = vm.sparse_vector(SPACE, threshold=3, scale=1)([2, 3, 4, 0])
    assert (above(QUERIES[0]), above(QUERIES[1])) == (False, True)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_it_ends_after_so_many_answers_yes_and_runs_nothing_more(limit: int, script: Script) -> None:
    script.tell(0, *[0] * 20)
    ran: list[int] = []
    probe = watched(ran)
    above = vm.sparse_vector(SPACE, threshold=3, scale=1, limit=limit)([2, 3, 4, 0])
    for _ in range(limit):
        assert above(QUERIES[0]) is False
        assert above(QUERIES[2]) is True
    for query in (QUERIES[0], QUERIES[2], probe):
        with pytest.raises(QueryableEnded, match=f"said yes {limit} times"):
            above(query)
    assert not ran
    assert len(script.asked) == 1 + 2 * limit


# --- what is asked of queries ----------------------------------------------------------------------------------------


def watched(ran: list[int], **changes: Any) -> vm.Transformation:
    """A query that notes that it was run."""
    given: dict[str, Any] = {"space": SPACE, "output": INTEGER, "stability": lambda d: d, "trust": "a test"} | changes
    space = given.pop("space")

    def function(_: Any) -> int:
        ran.append(1)
        return 0

    return vm.transformation(space, function=function, **given)


def test_sparse_vector_requires_queries_whose_map_says_at_most_the_sensitivity() -> None:
    ran: list[int] = []
    for d_in, sensitivity, stability, accepted in (
        (1, 1, lambda d: d, True),
        (1, 1, lambda d: 2 * d, False),
        (2, 1, lambda d: d, False),
        (2, 2, lambda d: d, True),
        (1, 1, lambda d: Fraction(1001, 1000) * d, False),
        (1, "3/2", lambda d: Fraction(3, 2) * d, True),
        (1, "3/2", lambda d: Fraction(8, 5) * d, False),
        (1, 1, lambda d: INFINITY if d else 0, False),
        (1, 0, lambda d: d, False),
        (1, 0, lambda d: 0, True),
    ):
        ran.clear()
        above = vm.sparse_vector(SPACE, threshold=100, scale=1, d_in=d_in, sensitivity=sensitivity)([0] * 4)
        query = watched(ran, stability=stability)
        if accepted:
            assert above(query) is False
            assert ran
        else:
            with pytest.raises(NoTheorem, match="was made for"):
                above(query)
            assert not ran


def test_sparse_vector_requires_queries_on_its_own_domain_and_metric() -> None:
    ran: list[int] = []
    above = vm.sparse_vector(SPACE, threshold=100, scale=1)([0] * 4)
    for space in (integers(3, vm.LInfDistance()), integers(None, vm.LInfDistance())):
        with pytest.raises(DomainMismatch):
            above(watched(ran, space=space))
    for metric in (vm.L1Distance(), vm.L2Distance(), vm.SymmetricDistance(), vm.DiscreteDistance()):
        with pytest.raises(MetricMismatch):
            above(watched(ran, space=integers(4, metric)))
    assert not ran


def test_sparse_vector_requires_queries_that_give_an_integer() -> None:
    ran: list[int] = []
    above = vm.sparse_vector(SPACE, threshold=100, scale=1)([0] * 4)
    for output in (
        vm.Space(vm.scalars(float), vm.AbsoluteDistance()),
        vm.Space(vm.scalars(int), vm.DiscreteDistance()),
        integers(1, vm.L1Distance()),
        vm.Space(vm.categories([0, 1]), vm.DiscreteDistance()),
        vm.Space(vm.scalars(str), vm.DiscreteDistance()),
    ):
        with pytest.raises(NoTheorem, match="give an integer"):
            above(watched(ran, output=output, stability=lambda d: 0))
    assert not ran
    # Reals that move by less than the noise's step would cost no shift of whole numbers: half a step tips a tie.
    assert laplace_tail(0, Fraction(1)) > laplace_tail(1, Fraction(1))


def test_sparse_vector_requires_queries_and_takes_nothing_else() -> None:
    above = vm.sparse_vector(VISITS, threshold=100, scale=1)([1, 2])
    for query in (5, None, "count", vm.count(), VISITS >> vm.count() >> vm.laplace(scale=1), lambda rows: 1, VISITS):
        with pytest.raises(UnknownQuery):
            above(query)
    with pytest.raises(UnknownQuery):
        above.ask(VISITS >> vm.count())
    # A refused query counts for nothing.
    assert above(VISITS >> vm.count()) in (False, True)


def test_sparse_vector_requires_that_noisy_values_are_not_released(script: Script) -> None:
    script.tell(4711, 815)
    above = vm.sparse_vector(SPACE, threshold=3, scale=1)([123456789, 0, 0, 0])
    assert above(QUERIES[1]) is False
    assert repr(above) == str(above) == "<sparse vector>"
    for attribute in dir(above):
        if not attribute.startswith("_"):
            assert "4711" not in repr(getattr(above, attribute))
    assert not hasattr(above, "__dict__")


def test_sparse_vector_requires_noise_that_does_not_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold at one end of 64 bits and the count at the other: noise has to reach from one to the other.

    Noise that stops at 2^63 - 1 never says yes for the least count, and does for the next: an infinite loss, although
    only on what happens once in e^6000 releases.
    """
    scale = Fraction(8)
    engine = sampled.laplace_engine(scale)
    assert engine.family.shift == 0
    tail = 2 * engine.family.rows << engine.table.fraction_bits

    class Words(Stream):
        """A word that draws 0 for the threshold, and one that draws from the tail for the query; then zeros."""

        def __init__(self) -> None:
            self.told = [0, tail]

        def bits(self, count: int) -> int:
            return self.told.pop(0) if self.told and count >= 32 else 0

        def take(self, count: int) -> bytes:
            return self.bits(8 * count).to_bytes(count, "big")

    stream = Words()
    monkeypatch.setattr(SystemEntropy, "stream", lambda *_: stream)
    monkeypatch.setattr(Laplace, "tail", lambda *_: 2**70)
    # Once: noise of 2^70 is taken for 2^63 - 1, which is not enough
    above = vm.sparse_vector(SPACE, threshold=2**63 - 1, scale=scale, threshold_scale=scale)([-(2**63), 0, 0, 0])
    assert above(QUERIES[0]) is True
    assert not stream.told


# --- thresholds and parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [2**63 - 1, np.int64(2**63 - 1)], ids=["int", "int64"])
def test_a_threshold_at_the_end_of_64_bits_does_not_wrap(threshold: Any, script: Script) -> None:
    # Once: a NumPy integer is kept as one, wraps around with the noise, and then everything is above it
    for own in (1, 5, 1000):
        script.tell(own, 0)
        above = vm.sparse_vector(SPACE, threshold=threshold, scale=8)([0, 0, 0, 0])
        assert above(QUERIES[0]) is False
    for own in (-1, -(2**63) + 1):
        script.tell(own, 0, 0)
        above = vm.sparse_vector(SPACE, threshold=-(2**63), scale=8)([-(2**63) + 1, 0, 0, 0])
        assert above(QUERIES[0]) is True


def test_counts_at_the_ends_of_64_bits_do_not_wrap(script: Script) -> None:
    for value, z, expected in ((2**63 - 1, 2**63 - 1, True), (-(2**63), -(2**63) + 1, False), (2**63 - 1, 1, True)):
        script.tell(0, z)
        above = vm.sparse_vector(SPACE, threshold=5, scale=8)([value, 0, 0, 0])
        assert above(QUERIES[0]) is expected


@pytest.mark.parametrize(("value", "noise", "expected"), [(2**63 - 1, 5, True), (-(2**63), -5, False)])
def test_counts_that_a_handmade_query_gives_as_numpy_integers_do_not_wrap(
    value: int, noise: int, expected: bool, script: Script
) -> None:
    # Once: the sum wraps around, and whether it warns depends on rows (an error here); int(value) would not
    largest = vm.Transformation(
        input_space=SPACE, output_space=INTEGER, function=lambda rows: rows[0], bound=by(coarser_metric)
    )
    script.tell(0, noise)
    assert vm.sparse_vector(SPACE, threshold=0, scale=8)([value, 0, 0, 0])(largest) is expected


def test_what_is_done_to_the_data_after_they_were_handed_over_changes_no_answer(script: Script) -> None:
    script.tell(0, 0, 0)
    given = np.array([1, 2, 3, 4])
    above = vm.sparse_vector(SPACE, threshold=5, scale=1)(given)
    given[:] = 100
    assert (above(QUERIES[0]), above(QUERIES[3])) == (False, False)


def test_parameters_that_make_no_sense_are_refused() -> None:
    for limit in (0, -1, True, 1.0, "1", None, np.int64(2)):
        with pytest.raises(ParameterError, match="limit"):
            loose.sparse_vector(SPACE, threshold=1, scale=1, limit=limit)
    for threshold in (1.5, "1", None, True, 2**63, Fraction(3)):
        with pytest.raises(ParameterError):
            loose.sparse_vector(SPACE, threshold=threshold, scale=1)
    for scale in (0, -1, 0.5, "inf", None, 2**53):
        with pytest.raises(NumberError):
            loose.sparse_vector(SPACE, threshold=1, scale=scale)
        with pytest.raises(NumberError):
            loose.sparse_vector(SPACE, threshold=1, scale=1, threshold_scale=scale if scale is not None else "none")
    for number in (-1, 0.5, "x", None):
        with pytest.raises(NumberError):
            loose.sparse_vector(SPACE, threshold=1, scale=1, sensitivity=number)
        with pytest.raises(NumberError):
            loose.sparse_vector(SPACE, threshold=1, scale=1, d_in=number)


@pytest.mark.parametrize("infinite", [INFINITY, "inf"], ids=repr)
def test_an_infinite_sensitivity_is_refused_with_an_error_of_the_library(infinite: Any) -> None:
    # Once: OverflowError of Fraction(inf)
    with pytest.raises(ViameterError):
        vm.sparse_vector(SPACE, threshold=1, scale=1, sensitivity=infinite)


def test_a_distance_that_the_metric_does_not_have_is_refused_when_the_measurement_is_made() -> None:
    # Once: 3/2 rows are taken here, and every query is refused later
    with pytest.raises(NumberError, match="whole"):
        vm.sparse_vector(VISITS, threshold=1, scale=1, d_in="3/2")


# --- the queryable ---------------------------------------------------------------------------------------------------


def test_a_query_whose_function_raises_is_sealed(script: Script) -> None:
    canary = "canary-4711"

    def fails(rows: Any) -> int:
        raise ValueError(f"{canary} {rows}")

    broken = vm.transformation(SPACE, function=fails, output=INTEGER, stability=lambda d: d, trust="a test")
    beyond = vm.transformation(SPACE, function=lambda _: 2**70, output=INTEGER, stability=lambda d: d, trust="a test")
    strange = vm.transformation(SPACE, function=lambda _: canary, output=INTEGER, stability=lambda d: d, trust="a test")
    for query in (broken, beyond, strange):
        script.tell(0, 0, 0)
        above = vm.sparse_vector(SPACE, threshold=5, scale=1)([1, 2, 3, 4])
        assert above(QUERIES[0]) is False
        with pytest.raises(SealedError) as caught:
            above(query)
        assert str(caught.value) == SealedError.TEXT
        assert caught.value.__cause__ is None and caught.value.__context__ is None
        # That it failed tells something of the data, which no loss counts: it is the last thing that it tells.
        for again in (query, QUERIES[0]):
            with pytest.raises(QueryableEnded, match="has failed on the data"):
                above(again)


def test_it_answers_under_the_guard_that_it_was_invoked_with(script: Script) -> None:
    entered: list[str] = []
    allowed = [True]

    @contextmanager
    def guard() -> Iterator[None]:
        if not allowed[0]:
            raise QueryableError("not now")
        entered.append("in")
        yield
        entered.append("out")

    script.tell(0, 0, 0, 0)
    above = vm.sparse_vector(SPACE, threshold=5, scale=1).invoke([1, 2, 3, 4], guard=guard)
    assert entered == []
    assert above(QUERIES[0]) is False
    assert entered == ["in", "out"]
    allowed[0] = False
    with pytest.raises(QueryableError, match="not now"):
        above(QUERIES[0])
    assert len(script.asked) == 2
    allowed[0] = True
    assert above(QUERIES[1]) is False


def test_it_is_not_copied_and_data_outside_of_the_domain_are_not_shown() -> None:
    import copy
    import pickle

    made = vm.sparse_vector(SPACE, threshold=5, scale=1)
    above = made([1, 2, 3, 4])
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(QueryableError):
            attempt(above)
    with pytest.raises(NotInDomain) as caught:
        made([918273645])
    assert "918273645" not in str(caught.value)


def test_queries_may_be_chains_of_transformations() -> None:
    made = vm.sparse_vector(VISITS, threshold=500, scale="1/4", limit=2)
    above = made([1] * 1000 + [2])
    assert above(VISITS >> vm.filter(vm.is_in([2])) >> vm.count()) is False
    assert above(VISITS >> vm.filter(vm.is_in([1])) >> vm.count()) is True
    with pytest.raises(NoTheorem):
        above(VISITS >> vm.clamp(bounds=(0, 2)) >> vm.sum())
    assert above(VISITS >> vm.clamp(bounds=(0, 1)) >> vm.sum()) is True
    with pytest.raises(QueryableEnded):
        above(VISITS >> vm.count())


def test_the_explanation_names_the_theorem() -> None:
    made = vm.sparse_vector(SPACE, threshold=5, scale=1)
    assert slugs(made) == ["sparse-vector"]
    assert made.measure == vm.PureDP
    assert max_divergence({0: real(1)}, {0: real(1)}) == 0
    assert constant(3).map(1) == 0
