"""The text of tables on an engine and of the metric that counts units: what the library writes, and nothing else."""

import itertools
from typing import Any

from tests.cases import for_each

import viameter as vm
from viameter.errors import ViameterError
from viameter.tables.database import DatabaseOnEngine
from viameter.tables.expressions import Kind, Schema
from viameter.tables.expressions.types import BOOLEAN, DATE, INTEGER, REAL, TEXT, TIMESTAMP, integer
from viameter.tables.spaces import TablesOnEngine, UnitDistance
from viameter.tables.units import per, per_entity, per_event, per_row
from viameter_check.places import Place, read_domain
from viameter_check.units import REPLACED, Units, is_table, read_units, tables_of

TABLE = TablesOnEngine(Schema({"u": TEXT, "x": integer(-128, 127), "y": REAL}))
NAMES = ["u", "it's", 'a "b"', 'it\'s "so"', "a\\b", "a\nb", "ü(", "x: TEXT, y", "", ")", "})", "\ud800"]


@for_each("name", [name for name in NAMES if name])
def test_units_are_read_as_the_library_writes_them(name: str) -> None:
    linked = per_entity(name, key="id", links={}, rows=3)
    for unit, found in (
        (per_row(), Units("unbounded", "", replaces=False)),
        (per_row(replace=True), Units("bounded", "", replaces=True)),
        (per(name), Units("user", name, replaces=False)),
        (per(name, rows=3, replace=True), Units("user", name, replaces=True)),
        (per_event(name), Units("event", name, replaces=True)),
        (per_event(name, window=7), Units("w-event", name, replaces=True, window=7)),
        (linked, Units("entity", f"{name}.id", replaces=False)),
    ):
        assert read_units(repr(UnitDistance.of(unit))) == found


def test_every_unit_of_the_library_is_known_and_replaces_as_it_says() -> None:
    people, events = (per("u"), per("u", replace=True)), (per_event("t"), per_event("t", window=2))
    seen: dict[str, set[bool]] = {}
    for unit in (per_row(), per_row(replace=True), *people, *events, per_entity("t", key="id", links={})):
        seen.setdefault(unit.granularity.slug, set()).add(unit.replaces)
    assert seen == {kind: set(known) for kind, known in REPLACED.items()}


@for_each(
    "text",
    [
        "",
        "UnitDistance()",
        "UnitDistance('')",
        "UnitDistance('mine')",
        "UnitDistance('user')",  # by whom?
        "UnitDistance('user', by='')",
        "UnitDistance('user', by=u)",
        "UnitDistance('user', by='u'",
        "UnitDistance('user', by='u') ",
        "UnitDistance('user', by='u')\n",
        "UnitDistance('user', by='u\\')",
        "UnitDistance('user', by='\n')",
        "UnitDistance('user', by='\\x')",
        "UnitDistance('user', by='u', replaces=False)",
        "UnitDistance('user', by='u', replaces=true)",
        "UnitDistance('user', replaces=True, by='u')",
        "UnitDistance('user', by='u', window=7)",
        "UnitDistance('user', by='u', by='v')",
        "UnitDistance(\"user\", by='u')",
        "UnitDistance('unbounded', by='u')",
        "UnitDistance('unbounded', by='')",
        "UnitDistance('unbounded', replaces=True)",
        "UnitDistance('bounded')",
        "UnitDistance('event', by='t')",
        "UnitDistance('event', by='t', replaces=True, window=1)",
        "UnitDistance('event', by='t', replaces=True, window=2)",
        "UnitDistance('w-event', by='t', replaces=True)",
        "UnitDistance('w-event', by='t', replaces=True, window=1)",
        "UnitDistance('w-event', by='t', replaces=True, window=0)",
        "UnitDistance('w-event', by='t', replaces=True, window=07)",
        "UnitDistance('w-event', by='t', replaces=True, window=-7)",
        "UnitDistance('w-event', by='t', replaces=True, window=\u0667)",
        "UnitDistance('w-event', by='t', replaces=True, window=" + "9" * 5000 + ")",
        "UnitDistance('w-event', by='t', window=7)",
        "UnitDistance('w-event', replaces=True, window=7)",
        "UnitDistance('entity', by='t', replaces=True)",
        "unitDistance('unbounded')",
        "UnitDistance('unbounded')UnitDistance('unbounded')",
    ],
)
def test_what_the_library_does_not_write_counts_no_units(text: str) -> None:
    assert read_units(text) is None


@for_each("name", NAMES)
@for_each("type_", [TEXT, INTEGER, REAL, BOOLEAN, DATE, TIMESTAMP, integer(-5, 300)])
def test_tables_are_read_as_the_library_writes_them(name: str, type_: Any) -> None:
    for schema in ({name: type_}, {"first": TEXT, name: type_}, {name: type_, "last": INTEGER}):
        assert is_table(repr(TablesOnEngine(Schema(schema)))), schema
    assert {kind.value for kind in Kind} == {"INTEGER", "REAL", "BOOLEAN", "TEXT", "DATE", "TIMESTAMP"}


@for_each("name", NAMES)
def test_databases_are_read_as_the_library_writes_them(name: str) -> None:
    other = TablesOnEngine(Schema({}))
    for tables in (((name, TABLE),), ((name, TABLE), ("t", other)), (("t", other), (name, TABLE), ("s", TABLE))):
        assert tables_of(repr(DatabaseOnEngine(tables)))
    assert not tables_of(repr(DatabaseOnEngine(((name, TABLE), (name, other)))))  # one name twice


@for_each(
    "text",
    [
        "",
        "engine_table",
        "engine_table()",
        "engine_table(Schema)",
        "engine_table(Schema()",
        "engine_table(Schema('u'))",
        "engine_table(Schema('u': ))",
        "engine_table(Schema('u': WORDS))",
        "engine_table(Schema('u': TEXT, ))",
        "engine_table(Schema('u': TEXT; 'x': REAL;))",
        "engine_table(Schema('u': TEXT)",
        "engine_table(Schema('u': TEXT)))",
        "engine_table(Schema('u': TEXT)) ",
        "engine_table(Schema('u': TEXT))engine_table(Schema('u': TEXT))",
        "engine_table(Schema('x': INTEGER 1..))",
        "engine_table(Schema('x': INTEGER 1..x))",
        "engine_table(Schema('x': REAL 1..2))",
        " engine_table(Schema())",
        "tables({'u': str})",
    ],
)
def test_what_the_library_does_not_write_is_no_table(text: str) -> None:
    assert not is_table(text)
    assert not tables_of(f"engine_database({{'t': {text}}})")
    assert read_domain(text).shape not in ("engine table", "engine database")


@for_each(
    "text",
    [
        "engine_database()",
        "engine_database({})",
        "engine_database({t: engine_table(Schema())})",
        "engine_database({'t': engine_table(Schema())",
        "engine_database({'t': engine_table(Schema())}",
        "engine_database({'t': engine_table(Schema()), })",
        "engine_database({'t': engine_table(Schema())})})",
        "engine_database({'t': engine_table(Schema())'s': engine_table(Schema())})",
        "engine_database({'t': engine_table(Schema()) 's': engine_table(Schema())})",
        "engine_database({'t': engine_table(Schema()); 's': engine_table(Schema())})",
        "engine_database({'t'engine_table(Schema())})",
        "engine_database({'t': Schema()})",
    ],
)
def test_what_the_library_does_not_write_is_no_database(text: str) -> None:
    assert not tables_of(text) and not is_table(text)
    assert read_domain(text).shape == "unknown"


def test_long_texts_take_no_time() -> None:
    many = ", ".join(f"'{n}': TEXT" for n in range(20_000))
    assert is_table(f"engine_table(Schema({many}))") and not is_table(f"engine_table(Schema({many}, ))")
    tables = ", ".join(f"'{n}': engine_table(Schema('a': TEXT))" for n in range(2_000))
    assert tables_of(f"engine_database({{{tables}}})") and not tables_of(f"engine_database({{{tables}, }})")
    assert read_units("UnitDistance('user', by='" + "\\" * 100_001 + "')") is None


def test_a_metric_that_the_library_refuses_for_a_domain_does_not_fit_it() -> None:
    kinds: tuple[dict[str, Any], ...] = ({}, {"nan": True}, {"bounds": (0, 1)}, {"bounds": (0, 1), "nan": True})
    domains: list[Any] = [vm.vectors(int), vm.vectors(str), vm.vectors(int, size=3), vm.scalars(int), vm.scalars(str)]
    domains += [make(float, **kind) for make in (vm.vectors, vm.scalars) for kind in kinds]
    metrics = [make() for make in (vm.L1Distance, vm.L2Distance, vm.LInfDistance, vm.AbsoluteDistance)]
    fit = []
    for domain, metric in itertools.product(domains, metrics):
        try:
            vm.Space(domain, metric)
        except ViameterError:
            assert not Place(repr(domain), repr(metric)).is_fitting, (domain, metric)
        else:
            fit.append((domain, metric))
    assert 8 <= len(fit) < len(domains) * len(metrics)
    assert any(Place(repr(domain), repr(metric)).is_fitting for domain, metric in fit)


def test_a_metric_of_units_measures_tables_on_an_engine_and_counts() -> None:
    user, table = "UnitDistance('user', by='u')", repr(TABLE)
    database = repr(DatabaseOnEngine((("t", TABLE),)))
    for domain in (table, database):
        place = Place(domain, user)
        assert place.is_fitting and place.is_of_the_library and place.counts and place.is_space
        assert not place.counts_users and not place.replaces and place.steps_per_change is None
        for metric in ("SymmetricDistance()", "L1Distance()", "AbsoluteDistance()", "SymmetricIdDistance(id='u')"):
            assert not Place(domain, metric).is_fitting
        assert not Place(domain, "UnitDistance('mine')").is_of_the_library
    for domain in ("vectors(int)", "tables({'u': str})", "scalars(int)", table.replace("REAL", "WORDS")):
        assert not Place(domain, user).is_fitting
