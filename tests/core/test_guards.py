"""Guards: a parent that lets only its newest child speak, and everything that children could do to get around it.

The sequential parent here is the smallest one: each external query spawns a child from what the query makes, under a
guard that asks the parent for permission and holds the parent while the child answers.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from tests.cases import for_each
from tests.threads import PATIENCE, in_threads

import viameter as vm
from viameter.core import External, Guard, Internal, Query, Queryable, guarded_by
from viameter.errors import PermissionGone, QueryableBusy, UnknownQuery

Make = Callable[[], Any]


@dataclass(frozen=True)
class AskPermission:
    """May the child of this number speak?"""

    child: int


def sequential(name: str = "parent") -> Queryable:
    """A parent whose external queries make children; only the newest may answer."""
    newest = 0

    def transition(me: Queryable, query: Query) -> Any:
        nonlocal newest
        if isinstance(query, Internal):
            if query.query != AskPermission(newest):
                raise PermissionGone(f"{me!r} has moved on to another child")
            return None
        newest += 1
        mine = AskPermission(newest)
        with guarded_by(lambda: me.holding(mine)) as keep:
            return keep(query.query())

    return Queryable(transition, name=name)


def echo() -> Queryable:
    """Answers every query by what it says."""
    return Queryable(lambda _, query: query.query, name="echo")


def maker() -> Queryable:
    """Answers every query by making what it says."""
    return Queryable(lambda _, query: query.query(), name="maker")


def elsewhere(make: Make) -> Any:
    """Make it in another thread, which does not know under which guards this one is."""
    made: list[Any] = []
    in_threads(lambda: made.append(make()))
    return made[0]


def assert_gone(child: Queryable) -> None:
    with pytest.raises(PermissionGone):
        child("hello")
    with pytest.raises(PermissionGone):
        child.ask("hello")
    with pytest.raises(PermissionGone), child.holding("hello"):
        raise AssertionError("not reached")


def test_only_the_newest_child_answers() -> None:
    parent = sequential()
    first = parent(echo)
    assert first("hello") == "hello" and first.ask("hello") == "hello"
    second = parent(echo)
    assert second("hello") == "hello"
    assert_gone(first)
    third = parent(echo)
    assert third("hello") == "hello"
    assert_gone(first)
    assert_gone(second)


def test_a_refused_child_has_not_changed_its_state() -> None:
    asked: list[Any] = []
    parent = sequential()
    first = parent(lambda: Queryable(lambda _, query: asked.append(query.query)))
    parent(echo)
    assert_gone(first)
    assert asked == []


def test_a_parent_that_fails_to_spawn_has_moved_on_and_stays_usable() -> None:
    parent = sequential()
    first = parent(echo)
    with pytest.raises(ZeroDivisionError):
        parent(lambda: 1 / 0)
    assert_gone(first)
    assert parent(echo)("hello") == "hello"
    assert echo()("made outside") == "made outside"


def test_queryables_made_outside_of_parents_are_under_no_guard() -> None:
    parent = sequential()
    free = echo()
    parent(echo)
    parent(echo)
    assert free("hello") == "hello" and echo()("hello") == "hello"


def test_grandchildren_are_under_the_guards_of_their_grandparents() -> None:
    parent = sequential()
    child = parent(maker)
    grandchild = child(maker)
    great_grandchild = grandchild(echo)
    assert great_grandchild("hello") == "hello"
    parent(echo)
    for descendant in (child, grandchild, great_grandchild):
        assert_gone(descendant)


def test_a_child_that_was_made_in_another_thread_is_guarded() -> None:
    parent = sequential()
    child = parent(lambda: elsewhere(echo))
    assert child("hello") == "hello"
    parent(echo)
    assert_gone(child)


def test_a_child_that_was_made_before_is_guarded() -> None:
    parent, before = sequential(), echo()
    child = parent(lambda: before)
    assert child("hello") == "hello" and child is not before
    parent(echo)
    assert_gone(child)


def test_grandchildren_of_a_child_that_was_made_in_another_thread_are_guarded() -> None:
    parent = sequential()
    child = parent(lambda: elsewhere(maker))
    grandchild = child(maker)
    great_grandchild = grandchild(echo)
    assert great_grandchild("hello") == "hello"
    parent(echo)
    for descendant in (child, grandchild, great_grandchild):
        assert_gone(descendant)


MADE_BEFORE = echo()


@pytest.mark.parametrize("how", [elsewhere, lambda _: MADE_BEFORE], ids=["in another thread", "before"])
def test_a_grandchild_that_its_parent_made_elsewhere_is_guarded(how: Callable[[Make], Any]) -> None:
    # Once: `keep` is applied to what a *parent* spawns, not to what a guarded child answers. The grandchild goes on
    # answering when the grandparent has moved on: interleaved children where sequential ones were promised.
    parent = sequential()
    child = parent(maker)
    grandchild = child(lambda: how(echo))
    assert grandchild("hello") == "hello"
    parent(echo)
    assert_gone(grandchild)


def test_a_queryable_made_by_an_internal_answer_is_guarded() -> None:
    # Once: the guards of a queryable are set for what it makes while it answers external queries only.
    parent = sequential()
    child = parent(maker)
    grandchild = child.ask(echo)
    with child.holding(echo) as held:
        assert held("hello") == "hello"
    parent(echo)
    assert_gone(grandchild)
    assert_gone(held)


class Pair(NamedTuple):
    """A tuple with names."""

    left: Any
    right: Any


@for_each(
    ("wrap", "unwrap"),
    [
        (lambda q: [q], lambda made: made[0]),
        (lambda q: (1, q), lambda made: made[1]),
        (lambda q: {"child": q}, lambda made: made["child"]),
        (lambda q: [{"children": (0, [q])}], lambda made: made[0]["children"][1][0]),
    ],
)
@for_each("how", [lambda make: make(), elsewhere])
def test_children_inside_of_lists_tuples_and_dicts_are_guarded(
    wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any], how: Callable[[Make], Any]
) -> None:
    parent = sequential()
    released = parent(lambda: wrap(how(echo)))
    assert type(released) is type(wrap(None))
    child = unwrap(released)
    assert child("hello") == "hello"
    parent(echo)
    assert_gone(child)


@pytest.mark.parametrize(
    ("wrap", "unwrap"),
    [(lambda q: Pair(1, q), lambda made: made.right), (lambda q: {q}, lambda made: next(iter(made)))],
    ids=["named tuple", "set"],
)
def test_children_made_elsewhere_inside_of_other_containers_are_guarded(
    wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any]
) -> None:
    # Once: only plain lists, plain tuples and plain dicts are looked into; a child in anything else is free.
    parent = sequential()
    child = unwrap(parent(lambda: wrap(elsewhere(echo))))
    parent(echo)
    assert_gone(child)


def test_other_releases_come_out_as_they_are() -> None:
    for release in (1, "text", None, {1, 2}, Pair(1, 2), [1, (2, {"a": 3})]):
        made = sequential()(lambda release=release: release)
        assert made is release


def test_what_is_guarded_already_is_not_wrapped_again() -> None:
    made: list[Queryable] = []

    def make() -> Queryable:
        made.append(echo())
        return made[0]

    assert sequential()(make) is made[0]


def test_the_parent_cannot_move_on_while_its_child_answers() -> None:
    parent = sequential()
    answering, log = threading.Event(), []

    def slow(_: Queryable, query: Query) -> str:
        answering.set()
        time.sleep(0.1)
        log.append("the first child has answered")
        return "slow"

    child = parent(lambda: Queryable(slow))

    def move_on() -> None:
        assert answering.wait(PATIENCE)
        parent(lambda: log.append("the parent has moved on"))

    in_threads(lambda: child("go"), move_on)
    assert log == ["the first child has answered", "the parent has moved on"]
    assert_gone(child)


def test_a_child_does_not_answer_while_its_parent_moves_on() -> None:
    parent = sequential()
    child = parent(echo)
    moving, outcome = threading.Event(), []

    def slow_spawn() -> Queryable:
        moving.set()
        time.sleep(0.1)
        return echo()

    def ask() -> None:
        assert moving.wait(PATIENCE)
        with pytest.raises(PermissionGone):
            child("hello")
        outcome.append("refused")

    in_threads(lambda: parent(slow_spawn), ask)
    assert outcome == ["refused"]


def test_a_grandparent_cannot_move_on_while_a_grandchild_answers() -> None:
    grandparent = sequential("grandparent")
    parent = grandparent(sequential)
    answering, log = threading.Event(), []

    def slow(_: Queryable, query: Query) -> None:
        answering.set()
        time.sleep(0.1)
        log.append("answered")

    grandchild = parent(lambda: Queryable(slow))

    def move_on() -> None:
        assert answering.wait(PATIENCE)
        grandparent(lambda: log.append("moved on"))

    in_threads(lambda: grandchild("go"), move_on)
    assert log == ["answered", "moved on"]


def test_a_child_cannot_move_its_own_parent_on_in_the_middle_of_its_answer() -> None:
    # Once: the parent is held by the thread of the child, and lets that thread in: it moves on, and then the child,
    # whose permission is gone, still answers.
    parent = sequential()

    def ask_parent(_: Queryable, query: Query) -> str:
        parent(echo)
        return "an answer after the parent has moved on"

    child = parent(lambda: Queryable(ask_parent))
    with pytest.raises(QueryableBusy):
        child("go")


def test_sequential_parents_nest_three_deep() -> None:
    top = sequential("top")
    middle = top(lambda: sequential("middle"))
    low = middle(lambda: sequential("low"))
    leaf = low(echo)
    assert leaf("hello") == "hello"

    other_leaf = low(echo)
    assert_gone(leaf)
    assert other_leaf("hello") == "hello"

    other_low = middle(lambda: sequential("low"))
    assert_gone(other_leaf)
    with pytest.raises(PermissionGone):
        low(echo)
    leaf = other_low(echo)
    assert leaf("hello") == "hello"

    other_middle = top(lambda: sequential("middle"))
    assert_gone(leaf)
    for gone in (middle, low, other_low):
        with pytest.raises(PermissionGone):
            gone(echo)
    assert other_middle(lambda: sequential("low"))(echo)("hello") == "hello"


def logged(name: str, log: list[str]) -> Guard:
    """A guard that writes down when it is entered and left."""

    @contextmanager
    def guard() -> Iterator[None]:
        log.append(f"{name} in")
        yield
        log.append(f"{name} out")

    return guard


def test_guards_are_entered_from_the_outermost_inwards_and_left_in_reverse() -> None:
    log: list[str] = []
    with guarded_by(logged("outer", log)), guarded_by(logged("inner", log)):
        child = Queryable(lambda *_: log.append("answer"))
    child("go")
    assert log == ["outer in", "inner in", "answer", "inner out", "outer out"]
    log.clear()
    with guarded_by(logged("outermost", log)) as keep:
        kept = keep(child)
    kept("go")
    assert log == ["outermost in", "outer in", "inner in", "answer", "inner out", "outer out", "outermost out"]


def test_a_guard_that_is_added_to_one_that_was_there_before_is_entered_after_it() -> None:
    # Once: the guards that are missing are put first. What was made under the outer guard, and is kept under both,
    # enters the inner one first; what was made under both enters the outer one first. Two threads then deadlock.
    log: list[str] = []
    outer, inner = logged("outer", log), logged("inner", log)
    with guarded_by(outer):
        made = maker()
        with guarded_by(inner) as keep:
            kept, made_now = keep(made), made(echo)
    for queryable, query in ((kept, lambda: "answer"), (made_now, "answer")):
        log.clear()
        assert queryable(query) == "answer"
        assert log == ["outer in", "inner in", "inner out", "outer out"]


def test_guards_are_left_when_an_answer_fails() -> None:
    log: list[str] = []

    @contextmanager
    def guard() -> Iterator[None]:
        log.append("in")
        try:
            yield
        finally:
            log.append("out")

    with guarded_by(guard):
        child = Queryable(lambda me, query: (_ for _ in ()).throw(UnknownQuery(me, query.query)))
    with pytest.raises(UnknownQuery):
        child("go")
    assert log == ["in", "out"]


def test_a_guard_is_not_entered_while_a_queryable_waits_for_its_own_lock() -> None:
    """The own lock comes last: a child that is held by one thread lets another wait at the guard, not behind it."""
    parent = sequential()
    child = parent(echo)
    order: list[str] = []
    held = threading.Event()

    def hold_child() -> None:
        with child.holding("hello"):
            held.set()
            time.sleep(0.05)
            order.append("child left")

    def ask_parent() -> None:
        assert held.wait(PATIENCE)
        parent(echo)
        order.append("parent moved")

    in_threads(hold_child, ask_parent)
    assert order == ["child left", "parent moved"]


def test_a_parent_may_ask_its_child_while_others_ask_it_too() -> None:
    """Everybody locks from the root towards the leaves: a child that locked itself first would wait for ever."""
    children: list[Queryable] = []
    answering = threading.Event()

    def transition(me: Queryable, query: Query) -> Any:
        if query == External("spawn"):
            with guarded_by(lambda: me.holding("may I?")):
                children.append(echo())
        elif query == External("peek"):
            answering.set()
            time.sleep(0.1)  # lets the other thread come to the child
            return children[0]("hello")
        return None

    parent = Queryable(transition)
    parent("spawn")

    def ask_child() -> None:
        assert answering.wait(PATIENCE)
        assert children[0]("hello") == "hello"

    in_threads(lambda: parent("peek"), ask_child)


def test_no_guard_is_a_guard_that_adds_nothing() -> None:
    with guarded_by(None) as keep:
        made = echo()
        assert keep(made) is made
    with guarded_by(nullcontext), guarded_by(None) as keep:
        before = elsewhere(echo)
        assert keep(before) is not before


def test_parents_and_children_hammered_by_eight_threads_do_not_deadlock() -> None:
    top = sequential("top")
    middles: list[Queryable] = [top(lambda: sequential("middle"))]
    lows: list[Queryable] = [middles[0](maker)]
    leaves: list[Queryable] = [lows[0](echo)]
    answered, refused = [0] * 8, [0] * 8
    start = threading.Barrier(8)

    def hammer(me: int) -> None:
        start.wait(PATIENCE)
        for turn in range(40):
            step = (me * 7 + turn * 3) % 10
            try:
                if step == 0:
                    middles.append(top(lambda: sequential("middle")))
                elif step <= 2:
                    lows.append(middles[-1](maker if turn % 2 else lambda: elsewhere(maker)))
                elif step <= 5:
                    leaves.append(lows[-1](echo))
                elif step == 6:
                    assert leaves[len(leaves) // 2]("hello") == "hello"
                else:
                    assert leaves[-1]("hello") == "hello"
                answered[me] += 1
            except PermissionGone:
                refused[me] += 1

    in_threads(*(lambda me=me: hammer(me) for me in range(8)))
    assert sum(answered) + sum(refused) == 8 * 40
    newest = top(lambda: sequential("middle"))(maker)(echo)
    assert newest("hello") == "hello"
    assert_gone(leaves[0])


def test_a_child_that_is_answered_was_the_newest_at_the_time() -> None:
    """Every answer is logged inside of the child, every move inside of the parent: the log never interleaves."""
    parent = sequential()
    log: list[tuple[str, int]] = []
    numbers = iter(range(1, 10**6))

    def child_of(number: int) -> Queryable:
        def transition(_: Queryable, query: Query) -> None:
            log.append(("start", number))
            time.sleep(0)
            log.append(("end", number))

        return Queryable(transition)

    def spawn() -> Queryable:
        number = next(numbers)
        log.append(("spawn", number))
        return child_of(number)

    children = [parent(spawn)]

    def move() -> None:
        for _ in range(40):
            children.append(parent(spawn))

    def ask() -> None:
        for turn in range(80):
            with suppress(PermissionGone):
                children[-1 - turn % 2 if len(children) > 1 else -1]("go")

    in_threads(move, move, ask, ask, ask, ask)
    newest = 0
    for place, (event, number) in enumerate(log):
        if event == "spawn":
            newest = number
        else:
            assert number == newest
        if event == "start":
            assert log[place + 1] == ("end", number)


ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())


@for_each("how", [lambda make: make(), elsewhere])
@for_each("processed", [False, True])
def test_a_measurement_invoked_under_a_guard_releases_guarded_queryables(
    how: Callable[[Make], Any], processed: bool
) -> None:
    spawn = vm.measurement(
        ROWS, function=lambda _: [how(maker)], measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="t"
    )
    if processed:
        spawn = spawn >> vm.postprocess(lambda release: {"child": how(maker)})
    allowed = True

    @contextmanager
    def guard() -> Iterator[None]:
        if not allowed:
            raise PermissionGone("gone")
        yield

    released = spawn.invoke([1, 2], guard=guard)
    child = released["child"] if processed else released[0]
    grandchild = child(echo)
    assert grandchild("hello") == "hello"
    allowed = False
    assert_gone(child)
    assert_gone(grandchild)


def test_a_measurement_run_by_a_parent_is_under_the_parents_guard_without_being_told() -> None:
    spawn = vm.measurement(
        ROWS, function=lambda _: elsewhere(echo), measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="t"
    )
    parent = sequential()
    child = parent(lambda: spawn([1, 2]))
    assert child("hello") == "hello"
    parent(echo)
    assert_gone(child)


def test_holding_a_child_that_is_kept_holds_what_is_inside() -> None:
    # Once: a kept queryable passes the query on and lets go of the inner one at once, so that a guard made from the
    # kept one does not stop the inner one's children from answering.
    inner = sequential("inner")
    with guarded_by(nullcontext) as keep:
        outer = keep(inner)
    child = outer(echo)
    held, log = threading.Event(), []

    def hold() -> None:
        with outer.holding(AskPermission(1)):
            held.set()
            time.sleep(0.1)
            log.append("left")

    def ask() -> None:
        assert held.wait(PATIENCE)
        child("hello")
        log.append("answered")

    in_threads(hold, ask)
    assert log == ["left", "answered"]
