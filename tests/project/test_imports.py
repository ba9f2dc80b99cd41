"""`import viameter` is light, and its surface is what it says."""

import subprocess
import sys

import viameter as vm

HEAVY = ("scipy", "z3", "cvc5", "ibis", "duckdb", "pyspark", "sqlalchemy", "fastapi", "matplotlib", "pandas")


def test_importing_viameter_imports_no_heavy_library() -> None:
    code = f"import sys, viameter; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []


def test_importing_viameter_imports_only_its_own_dependencies() -> None:
    code = "import sys, numpy; before = set(sys.modules); import viameter; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    packages = {name.partition(".")[0] for name in loaded.split()} - set(sys.stdlib_module_names)
    assert packages <= {"viameter", "gmpy2", "numpy"}


def test_everything_exported_exists_and_nothing_public_is_forgotten() -> None:
    assert all(hasattr(vm, name) for name in vm.__all__)
    rooms = {"arith", "cli", "composition", "core", "errors", "measures", "mechanisms", "spaces", "theorem"}
    rooms |= {"transforms", "viz"}
    public = {name for name in vars(vm) if not name.startswith("_")} - rooms
    assert public == set(vm.__all__) - {"__version__"}
