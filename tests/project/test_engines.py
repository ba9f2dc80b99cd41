"""An engine is one class in one file: no other part of the library spells its name in code, or imports its modules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.reach import ROOT

from viameter.tables.engines import engines

LIBRARY = ROOT / "src/viameter"
FOLDER = LIBRARY / "tables/engines"
REGISTRY = FOLDER / "registry.py"
STORES = ("ledger/", "service/database.py", "service/state.py", "cli/ledger.py")
"""Where a ledger or a service keeps what is its own, which is no matter of engines."""
MODULES = {engine: type(engine).__module__.rpartition(".")[2] for engine in engines()}
NAMES = re.compile("|".join({re.escape(word) for engine in engines() for word in (engine.name, engine.title)}), re.I)
DRIVERS = {"duckdb", "psycopg", "pyspark"}


def spelled(text: str) -> Iterator[tuple[int, str]]:
    """The constants with the name of an engine, and the imports of its modules or its library; prose may name it."""
    tree = ast.parse(text)
    prose = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            if NAMES.search(node.value):
                yield node.lineno, node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            for path in (f"{module}.{alias.name}".lstrip(".") for alias in node.names):
                inner = path.removeprefix("viameter.tables.engines.")
                if path.partition(".")[0] in DRIVERS or (inner != path and is_of_an_engine(inner.partition(".")[0])):
                    yield node.lineno, path


def is_of_an_engine(stem: str, *modules: str) -> bool:
    """Whether a module of the folder is that of an engine, or is called like one."""
    return any(stem == each or stem.startswith(f"{each}_") for each in modules or MODULES.values())


def modules() -> list[Path]:
    return [file for file in sorted(LIBRARY.rglob("*.py")) if not str(file.relative_to(LIBRARY)).startswith(STORES)]


def test_an_engine_is_named_in_its_own_modules_alone() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text!r}"
        for file in modules()
        if file != REGISTRY and not (file.parent == FOLDER and is_of_an_engine(file.stem))
        for line, text in spelled(file.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("engine", engines(), ids=[engine.name for engine in engines()])
def test_modules_of_an_engine_do_not_name_another(engine: object) -> None:
    others = [other for other in engines() if other is not engine]
    words = re.compile("|".join(re.escape(word) for other in others for word in (other.name, other.title)), re.I)
    own = next(module for known, module in MODULES.items() if known is engine)
    for file in FOLDER.glob("*.py"):
        if is_of_an_engine(file.stem, own):
            assert [text for _, text in spelled(file.read_text()) if words.search(text)] == [], file.name


def test_what_names_an_engine_is_found() -> None:
    text = """'''On DuckDB.'''
x = rows.engine == "duckdb"
from psycopg import connect
from viameter.tables.engines import duckdb_files, readings
from viameter.tables.engines.spark import Spark
"""
    assert sorted(spelled(text)) == [
        (2, "duckdb"),
        (3, "psycopg.connect"),
        (4, "viameter.tables.engines.duckdb_files"),
        (5, "viameter.tables.engines.spark.Spark"),
    ]
