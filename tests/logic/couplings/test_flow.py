"""Greatest flows: against the least cut over all sets, and that they are flows."""

from itertools import chain, combinations
from random import Random

from viameter.logic.couplings.flow import greatest_flow


def test_random_flows_are_flows_as_large_as_the_least_cut_which_is_the_set_told() -> None:
    random = Random(31)
    for _ in range(300):
        rows, columns = random.randint(1, 7), random.randint(1, 7)
        supply = [random.randint(0, 9) for _ in range(rows)]
        demand = [random.randint(0, 9) for _ in range(columns)]
        density = random.random()
        partners = [[j for j in range(columns) if random.random() < density] for _ in range(rows)]
        flow, kept = greatest_flow(supply, demand, partners)
        assert all(amount > 0 and j in partners[i] for (i, j), amount in flow.items())
        assert all(sum(x for (i, _), x in flow.items() if i == row) <= supply[row] for row in range(rows))
        assert all(sum(x for (_, j), x in flow.items() if j == column) <= demand[column] for column in range(columns))

        def cut(
            chosen: frozenset[int],
            supply: list[int] = supply,
            demand: list[int] = demand,
            partners: list[list[int]] = partners,
        ) -> int:
            reached = {j for i in chosen for j in partners[i]}
            return sum(x for i, x in enumerate(supply) if i not in chosen) + sum(demand[j] for j in reached)

        sets = chain.from_iterable(combinations(range(rows), size) for size in range(rows + 1))
        assert sum(flow.values()) == cut(kept) == min(cut(frozenset(chosen)) for chosen in sets)


def test_nothing_to_send_and_nobody_to_take_it() -> None:
    assert greatest_flow([0], [0], [[0]]) == ({}, frozenset())
    assert greatest_flow([3], [0], [[0]]) == ({}, frozenset({0}))
    assert greatest_flow([3], [5], [[]]) == ({}, frozenset({0}))
