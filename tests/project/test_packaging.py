"""The wheel and the sdist are built and installed, and work away from the checkout."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    # The wheel is made from the sdist: what is forgotten in the one is missing in the other.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return target


def test_the_wheel_has_types_data_and_licence_and_no_tests(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "viameter/py.typed" in names and "viameter_check/py.typed" in names
    assert "viameter/cli/data/visits.csv" in names
    assert {"viameter/service/page/templates/base.html", "viameter/service/page/static/style.css"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "test" in name or "bench" in name]
    source = ROOT / "src"
    there = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert {name for name in there if "__pycache__" not in name} <= set(names)


def test_the_sdist_builds_from_what_it_has(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/viameter/py.typed", "deploy/nginx.conf"} <= names


@pytest.mark.parametrize("kind", ["*.whl", pytest.param("*.tar.gz", marks=pytest.mark.long)])
def test_what_was_built_installs_and_runs(built: Path, tmp_path: Path, kind: str) -> None:
    (package,) = built.glob(kind)
    environment = tmp_path / "env"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    # Dependencies are borrowed from the environment that runs the tests; viameter itself must come from the package.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    options = ["-qq", "--no-deps", "--no-index", "--no-compile", "--no-build-isolation"]
    borrow_build = {"PYTHONPATH": sysconfig.get_path("purelib"), "PATH": "/usr/bin:/bin"}
    subprocess.run([*pip, "install", *options, str(package)], check=True, cwd=tmp_path, env=borrow_build)
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    code = """
import viameter
from viameter.cli.demo import load_visits
print(viameter.__file__, viameter.__version__, len(load_visits()["wait"]))
"""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    where, version, visits = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=own
    ).stdout.split()
    assert Path(where).is_relative_to(environment)
    assert version == tomllib_version() and int(visits) > 1000
    command = [str(environment / "bin" / "viameter"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=own).stdout
    assert said == f"viameter, version {version}\n"


def tomllib_version() -> str:
    text = (ROOT / "src/viameter/_version.py").read_text()
    return text.partition('__version__ = "')[2].partition('"')[0]


def test_the_promised_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == {
        "plot",
        "neighborhood",
        "verify",
        "tables",
        "query",
        "ledger",
        "spark",
        "postgres",
        "service",
        "client",
        "all",
    }
    assert project["requires-python"] == ">=3.11"
