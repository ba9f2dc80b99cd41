"""`import viameter` is light, and its surface is what it says."""

import subprocess
import sys

import pytest

import viameter as vm


def test_importing_viameter_imports_only_its_own_dependencies() -> None:
    """And so no library of an extra, which are the heavy ones."""
    code = "import sys, numpy; before = set(sys.modules); import viameter; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    packages = {name.partition(".")[0] for name in loaded.split()} - set(sys.stdlib_module_names)
    assert packages <= {"viameter", "gmpy2", "numpy"}


def test_everything_exported_exists_and_nothing_public_is_forgotten() -> None:
    assert all(hasattr(vm, name) for name in vm.__all__)
    rooms = {"arith", "cli", "composition", "core", "errors", "measures", "mechanisms", "spaces", "theorem"}
    rooms |= {"ledger", "logic", "neighborhood", "query", "service", "session", "transforms", "viz"}
    public = {name for name in vars(vm) if not name.startswith("_")} - rooms
    when_used = {"Accountant", "accounting", "neighborhood", "ledger", "logic", "query", "service", "session"}
    when_used |= vm._OF_PROGRAMS | vm._OF_TABLES
    assert public == set(vm.__all__) - {"__version__"} - when_used
    assert set(vm.__all__) <= set(dir(vm))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = vm.nonsense


def test_accounting_neighborhoods_and_logic_are_imported_when_they_are_used() -> None:
    program = """
import sys, viameter as vm
assert not any(name.startswith("viameter.composition.accounting") for name in sys.modules)
assert not any(name.startswith("viameter.neighborhood") for name in sys.modules)
assert vm.Accountant is vm.accounting.Accountant
assert vm.neighborhood.bounded().slug == "bounded"
assert not any(name.startswith("viameter.logic") for name in sys.modules)
assert vm.verify is vm.logic.verify
assert not {"scipy", "z3", "cvc5"} & set(sys.modules)
assert not any(name.startswith("viameter.tables") for name in sys.modules)
import viameter.tables
assert vm.open is vm.tables.open and vm.per is vm.tables.per
assert repr(vm.tables({"age": int})) == "tables({'age': scalars(int)})"
assert not {"ibis", "duckdb", "pandas", "pyarrow"} & set(sys.modules)
assert vm.ledger.in_memory().head.seq == 1
assert not {"sqlalchemy", "alembic", "rich"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_rooms_that_were_renamed_still_import_under_their_old_names() -> None:
    program = """
import viameter as vm, viameter.tables
import viameter.query.expressions.nodes as old, viameter.tables.expressions.nodes as new
from viameter.query.engines import EngineError
assert old is new and new.__spec__.name == "viameter.tables.expressions.nodes"
assert EngineError is viameter.tables.engines.EngineError
assert vm.session.open is vm.open and vm.query.per is vm.per
try:
    vm.query.nonsense
except AttributeError:
    print("no nonsense")
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", program], check=True, capture_output=True, text=True)
    assert "viameter.query is called viameter.tables now: viameter.tables.per" in done.stderr
    assert done.stdout == "no nonsense\n"


def test_classes_of_the_client_that_were_renamed_are_those_of_tables() -> None:
    from viameter.service import client
    from viameter.tables import Answer, Query

    with pytest.warns(DeprecationWarning, match="RemoteAnswer is viameter.tables.Answer now"):
        assert client.RemoteAnswer is Answer
    with pytest.warns(DeprecationWarning, match="RemoteRanking is viameter.tables.Query now"):
        assert client.RemoteRanking is Query
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = client.nonsense
