"""verified-program against walks through all inputs of a small box, and against exact laws of small programs."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.running.programs import RESPONSE, proved

import viameter as vm
from viameter.arith import INFINITY
from viameter.core import Loss
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs, related
from viameter.logic.front.decorator import program_from_source
from viameter.logic.lang.core import Input, Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.running import verified_program
from viameter.logic.running.theorem import steps_between

Point = tuple[int, ...]
PARAMETERS: dict[str, Any] = {"certificate": "{}", "mechanisms": (), "budgets": (), "public": (), "lengths": ()}


def walks(points: Iterable[Point], is_step: Callable[[Point, Point], bool]) -> dict[tuple[Point, Point], float]:
    """How many steps lead from each point to each other one, by breadth-first search."""
    nodes = list(points)
    near = {a: [b for b in nodes if a != b and is_step(a, b)] for a in nodes}
    found: dict[tuple[Point, Point], float] = {(a, b): math.inf for a in nodes for b in nodes}
    for start in nodes:
        found[start, start] = 0
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for there in near[here]:
                if found[start, there] == math.inf:
                    found[start, there] = found[start, here] + 1
                    queue.append(there)
    return found


def differences(a: Point, b: Point) -> list[int]:
    return [y - x for x, y in zip(a, b, strict=True)]


def largest(a: Point, b: Point) -> float:
    return max(map(abs, differences(a, b)))


def total(a: Point, b: Point) -> float:
    return sum(map(abs, differences(a, b)))


def euclidean(a: Point, b: Point) -> float:
    return math.sqrt(sum(d * d for d in differences(a, b))) + 1e-12


def changed(a: Point, b: Point) -> float:
    return sum(d != 0 for d in differences(a, b))


def is_one_way(a: Point, b: Point) -> bool:
    return not min(differences(a, b)) < 0 < max(differences(a, b))


def one_way(a: Point, b: Point) -> float:
    return largest(a, b) if is_one_way(a, b) else math.inf


SUM = """
def noisy_sum(q: list[vm.Between(0, 5)], eps: vm.Eps) -> int:
    s = 0
    for i in range(len(q)):
        s = s + q[i]
    return s + vm.lap(1 / eps)
"""
NUMBER = "def noisy(x: vm.Between(0, 12), eps: vm.Eps) -> int: return x + vm.lap(1 / eps)"
TRUTH = "def noisy(x: bool, eps: vm.Eps) -> int: return vm.lap(1 / eps)"

BOX = list(product(range(6), repeat=2))
LINE: list[Point] = [(x,) for x in range(13)]

CASES: list[
    tuple[str, str, Adjacency, Any, list[Point], Callable[[Point, Point], bool], Callable[[Point, Point], float], bool]
] = [
    *(
        (
            f"all by {b} in {metric!r}",
            SUM,
            all_differ("q", by=b),
            metric,
            BOX,
            lambda x, y, b=b: largest(x, y) <= b,
            norm,
            tight,
        )
        for b in (1, 2, 3)
        for metric, norm, tight in (
            (vm.LInfDistance(), largest, True),
            (vm.L1Distance(), total, False),
            (vm.L2Distance(), euclidean, False),
        )
    ),
    *(
        (
            f"one by {b}",
            SUM,
            one_differs("q", by=b),
            vm.L1Distance(),
            BOX,
            lambda x, y, b=b: total(x, y) == largest(x, y) <= b,
            total,
            b == 1,
        )
        for b in (1, 2, 3)
    ),
    *(
        (
            f"all up or down by {b}",
            SUM,
            all_differ("q", by=b, monotone=True),
            None,
            BOX,
            lambda x, y, b=b: one_way(x, y) <= b,
            one_way,
            True,
        )
        for b in (1, 2)
    ),
    *(
        (
            f"all up or down by {b}, both",
            SUM,
            all_differ("q", by=b, monotone=True),
            vm.LInfDistance(),
            BOX,
            lambda x, y, b=b: one_way(x, y) <= b,
            largest,
            True,
        )
        for b in (1, 2)
    ),
    (
        "one up or down",
        SUM,
        one_differs("q", by=2, monotone=True),
        vm.L1Distance(),
        BOX,
        lambda x, y: total(x, y) == largest(x, y) <= 2,
        total,
        False,
    ),
    (
        "one replaced",
        SUM,
        one_differs("q", by=None),
        vm.HammingDistance(),
        BOX,
        lambda x, y: changed(x, y) <= 1,
        changed,
        True,
    ),
    *(
        (
            f"a number by {b}",
            NUMBER,
            all_differ("x", by=b),
            vm.AbsoluteDistance(),
            LINE,
            lambda x, y, b=b: largest(x, y) <= b,
            largest,
            True,
        )
        for b in (1, 3)
    ),
    (
        "a number replaced",
        NUMBER,
        all_differ("x", by=None),
        vm.DiscreteDistance(),
        LINE,
        lambda x, y: True,
        lambda x, y: float(x != y),
        True,
    ),
]


@for_each(("name", "text", "adjacent", "metric", "points", "is_step", "distance", "tight"), CASES)
def test_verified_program_ensures_as_many_steps_as_lead_there(
    name: str,
    text: str,
    adjacent: Adjacency,
    metric: Any,
    points: list[Point],
    is_step: Any,
    distance: Any,
    tight: bool,
) -> None:
    made = program_from_source(text, adjacent=adjacent)
    usual = proved(made.core, adjacent, eps=1)
    space = usual.input_space if metric is None else vm.Space(usual.input_space.domain, metric)
    found = proved(made.core, adjacent, eps=1, space=space)
    worst: dict[float, float] = {}
    for (a, b), steps in walks(points, is_step).items():
        apart = distance(a, b)
        worst[apart] = max(worst.get(apart, 0), steps)
    for apart, steps in worst.items():
        claimed = found.map(Fraction(apart) if apart != math.inf else "inf").epsilon
        assert steps <= claimed, (apart, steps)
        assert not tight or steps == claimed or apart == math.inf


ROWS = [rows for size in range(4) for rows in product((0, 1), repeat=size)]


def without_one(rows: Point) -> set[Point]:
    return set(combinations(rows, len(rows) - 1)) if rows else set()


def test_verified_program_ensures_as_many_insertions_and_deletions_as_lead_there() -> None:
    text = "def noisy(q: list[vm.Between(0, 1)], eps: vm.Eps) -> int: return sum(q) + vm.lap(1 / eps)"
    made = program_from_source(text, adjacent=added_or_removed("q"))
    found = proved(made.core, made.adjacent, eps=1)
    assert found.input_space == vm.Space(vm.vectors(int, bounds=(0, 1)), vm.InsertDeleteDistance())
    ways = walks(ROWS, lambda a, b: a in without_one(b) or b in without_one(a))
    for (a, b), steps in ways.items():
        assert found.map(found.input_space.distance(list(a), list(b))) == vm.pure(int(steps))


@for_each("loss", [vm.pure("1/3"), vm.zcdp("1/3"), vm.approx("1/3", "1/1000")])
def test_verified_program_ensures_the_group_loss_of_its_measure(loss: Loss) -> None:
    def at(d_in: Any, most: Any = INFINITY) -> Any:
        return verified_program(d_in, **PARAMETERS, loss=loss, by=Fraction(2), spacing=Fraction(1), moves=1, most=most)

    assert at(Fraction(0)) == at(Fraction(9, 10)) == loss.measure.zero
    assert at(Fraction(1)) == at(Fraction(2)) == at(Fraction(29, 10)) == loss
    for distance, steps in ((3, 2), (4, 2), (5, 3), (40, 20)):
        found = at(Fraction(distance))
        if loss.measure is vm.PureDP:
            assert found == vm.pure(Fraction(steps, 3))
        elif loss.measure is vm.ZCDP:
            assert found == vm.zcdp(Fraction(steps**2, 3))
        else:
            delta = min(sum(Fraction(1, 1000) * Fraction(math.exp(k / 3)) for k in range(steps)), Fraction(1))
            assert found.epsilon == Fraction(steps, 3)
            assert abs(found.delta - delta) <= delta / 10**12
        assert at(Fraction(distance), most=Fraction(1)) == loss.measure.infinite
    assert at(INFINITY) == loss.measure.infinite


def test_verified_program_ensures_steps_on_a_grid_in_units_of_the_data() -> None:
    hundredth = Fraction(1, 100)
    for distance, steps in (("0", 0), ("0.009", 0), ("0.01", 1), ("0.5", 1), ("0.509", 1), ("0.51", 2), ("1.01", 3)):
        assert steps_between(Fraction(distance), by=Fraction(1, 2), spacing=hundredth, moves=1) == steps
        assert steps_between(Fraction(distance), by=Fraction(1, 2), spacing=hundredth, moves=2) == 2 * steps


def test_verified_program_ensures_a_loss_that_exact_laws_stay_below() -> None:
    """Randomized response for each of three truth values, enumerated: likelihood ratios at each Hamming distance."""
    text = """
def responses(q: list[vm.Between(0, 1)]) -> list[int]:
    out = []
    for i in range(len(q)):
        c = vm.flip("3/4")
        out.append(q[i] if c else 1 - q[i])
    return out
"""
    adjacent = one_differs("q", by=None)
    made = program_from_source(text, adjacent=adjacent)
    found = proved(made.core, adjacent, "ln(3)", length=3)
    assert found.input_space.metric == vm.HammingDistance()
    three, quarter = Fraction(3, 4), Fraction(1, 4)

    def chance(truth: Point, told: Point) -> Fraction:
        return math.prod((three if a == b else quarter for a, b in zip(truth, told, strict=True)), start=Fraction(1))

    everything = list(product((0, 1), repeat=3))
    for a, b in product(everything, repeat=2):
        ratio = max(chance(a, told) / chance(b, told) for told in everything)
        epsilon = found.map(int(changed(a, b))).epsilon
        assert ratio <= Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))
        assert epsilon <= Fraction(math.log(ratio)) + Fraction(1, 10**12)


def test_verified_program_requires_that_steps_stay_among_inputs_that_the_program_takes() -> None:
    """Even numbers: no steps of 1 lead from one to another, and the claim for 2 must be none."""
    core = read_program(
        "program even\ninput x: int\nbudget eps\nrequires x % 2 == 0\nbegin\ny :=$ lap(1/eps, x)\nend\nreturn y"
    )
    found = proved(core, all_differ("x", by=1), eps=1)
    assert found.map(0) == vm.pure(0)
    assert found.map(1) == vm.pure(1)
    assert found.map(2) == vm.PureDP.infinite
    assert found.input_space.domain.contains(4)
    assert not found.input_space.domain.contains(3)


LISTS: list[tuple[str, Adjacency, bool]] = [
    ("each q: q[any.k] % 2 == 0", all_differ("q"), False),
    ("each q: q[any.k] % 2 == 0", one_differs("q", by=None), True),
    ("each q: q[any.k] <= q[0]", one_differs("q", by=None), False),
    ("each q: q[any.k] <= q[0]", all_differ("q"), False),
    ("each q: q[any.k] <= t", all_differ("q"), True),
    ("each q: q[any.k] <= t * len(q)", all_differ("q"), True),
    ("each q: q[any.k] <= p[any.k]", all_differ("q"), True),
    ("each q: abs(q[any.k]) < t", all_differ("q"), True),
    ("each q: q[any.k] == t or q[any.k] == 3", all_differ("q"), False),
    ("each q: q[any.k] == t or q[any.k] == 3", one_differs("q", by=None), True),
    ("each q: q[any.k] != t", all_differ("q"), False),
    ("each q: not q[any.k] <= t", all_differ("q"), True),
    ("requires q[0] <= q[1]", one_differs("q", by=None), False),
    ("requires q[0] <= q[1]", all_differ("q"), False),
    ("requires len(q) <= t", all_differ("q"), True),
    ("requires len(q) <= t", one_differs("q", by=None), True),
]


@for_each(("fact", "adjacent", "several"), LISTS)
def test_verified_program_requires_ends_for_moves_and_conditions_on_each_element_for_replacements(
    fact: str, adjacent: Adjacency, several: bool
) -> None:
    core = read_program(
        f"program p\ninput q: list\ninput t: int\ninput p: list\nbudget eps\n{fact}\nbegin\ny :=$ lap(1/eps)\nend\n"
        "return y"
    )
    found = proved(core, adjacent, eps=1)
    assert found.map(1) == vm.pure(1)
    assert found.map(2) == (vm.pure(2) if several else vm.PureDP.infinite)


def test_verified_program_requires_a_relation_that_has_the_steps_that_its_name_says() -> None:
    """An adjacency whose relation is smaller than its name says is measured by the relation itself."""
    core = read_program("program p\ninput x: int\nbudget eps\nbegin\ny :=$ lap(1/eps, x)\nend\nreturn y")

    class Less(type(all_differ("x"))):  # type: ignore[misc]  # a class of an object
        def directions(self, program: Program) -> Any:
            return all_differ("x", by=1).directions(program)

    found = proved(core, Less("x", Fraction(5), False, False), eps=1)
    assert "ProgramAdjacency" in repr(found.input_space.metric)
    assert (found.map(1), found.map(5)) == (vm.pure(1), vm.PureDP.infinite)


def test_verified_program_requires_both_directions() -> None:
    core = read_program("program p\ninput x: int\nbudget eps\nbegin\ny :=$ lap(1/eps, x)\nend\nreturn y")

    class Up(type(all_differ("x"))):  # type: ignore[misc]  # a class of an object
        def directions(self, program: Program) -> Any:
            return all_differ("x", by=1, monotone=True).directions(program)[:1]

    found = proved(core, Up("x", Fraction(1), True, False), eps=1)
    metric = found.input_space.metric
    assert metric != vm.AbsoluteDistance()
    assert metric.distance(3, 4) == INFINITY


@for_each(
    ("text", "pairs"),
    [
        ("abs(x<1> - x<2>) <= 2", {(0, 0): 0, (0, 2): 1, (2, 0): 1, (0, 3): INFINITY}),
        ("x<1> <= x<2> and x<2> <= x<1> + 1", {(3, 4): 1, (4, 3): 1, (4, 6): INFINITY}),
        ("x<1> + x<2> == n", {(3, 4): 1, (4, 3): 1, (5, 5): 0, (4, 4): 0, (2, 4): INFINITY}),
    ],
)
def test_any_other_relation_is_known_for_one_step_only(text: str, pairs: dict[tuple[int, int], Any]) -> None:
    core = read_program("program p\ninput x: int\ninput n: int\nbudget eps\nbegin\ny :=$ lap(1/eps, x)\nend\nreturn y")
    found = proved(core, related(text), eps=1, n=7)
    assert found.input_space.domain == vm.scalars(int)
    assert [found.map(d) for d in (0, 1, 2, "inf")] == [vm.pure(0), vm.pure(1), vm.PureDP.infinite, vm.PureDP.infinite]
    for (a, b), apart in pairs.items():
        assert found.input_space.distance(a, b) == apart
    both = proved(core, related(text), eps=1)
    assert both.input_space.distance({"x": 3, "n": 7}, {"x": 4, "n": 8}) == INFINITY
    assert both.input_space.distance({"x": 3, "n": 7}, {"x": 4, "n": 7}) == pairs.get((3, 4), 1)


def test_every_adjacency_may_be_measured_by_itself() -> None:
    made = program_from_source(SUM, adjacent=one_differs("q", by=5))
    usual = proved(made.core, made.adjacent, eps=1)
    assert usual.map(5) == vm.pure(5)
    relation = vm.Space(vm.vectors(int, bounds=(0, 5)), related_metric(made))
    found = proved(made.core, made.adjacent, eps=1, space=relation)
    assert (found.map(1), found.map(2)) == (vm.pure(1), vm.PureDP.infinite)
    assert relation.distance([0, 3], [5, 3]) == 1
    assert relation.distance([0, 3], [1, 4]) == INFINITY
    assert relation.distance([0, 3], [0, 3, 4]) == INFINITY
    assert relation.distance([], []) == 0


def related_metric(made: Any) -> Any:
    from viameter.logic.running import ProgramAdjacency

    return ProgramAdjacency(made.adjacent.directions(made.core), (("q", "list"),))


def test_truth_values_are_one_step_apart() -> None:
    for adjacent in (all_differ("b"), all_differ("b", by=None), all_differ("b", by=1, monotone=True)):
        found = proved(RESPONSE, adjacent, "ln(3)")
        assert found.input_space == vm.Space(vm.finite([True, False]), vm.DiscreteDistance())
        assert float(found.map(1).epsilon) == pytest.approx(math.log(3))
        assert math.exp(found.map(1).epsilon) >= 3 * (1 - 1e-15)
        assert found(True) in (True, False)


def test_inputs_on_a_grid_of_whole_numbers_move_by_multiples_of_it() -> None:
    core = Program(
        "p",
        (Input("x", "int", Fraction(5)),),
        (),
        (),
        read_program("program p\nbegin\ny := 0\nend\nreturn y").body,
        read_program("program p\nbegin\ny := 0\nend\nreturn y").output,
    )
    found = measurement_of(core, all_differ("x", by=10))
    assert [found.map(d).epsilon for d in (0, 4, 5, 10, 14, 15, 20, 21)] == [0, 0, 1, 1, 1, 2, 2, 2]


def measurement_of(core: Program, adjacent: Adjacency) -> Any:
    return proved(core, adjacent, "1")
