"""Set-up: locked dependencies, system packages, two commands."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted([*ROOT.glob("requirements/*.lock"), *ROOT.glob("bench/peers/*.lock")])


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_file_has_hashes_and_names_no_host_or_path(lock: Path) -> None:
    entries = lock.read_text().replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==[^ ]+ ", entry), entry
        assert "--hash=sha256:" in entry, entry
        assert not re.search(r"//|file:|@ |index-url|find-links|(^|\s)/", entry), entry


def test_the_demo_runs_with_the_versions_that_were_tested() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text()
        return {line.partition(" ")[0] for line in text.splitlines() if "==" in line}

    assert pins("run.lock") < pins("dev.lock")


def run_system_packages(tmp_path: Path, *, installs: bool, root: bool, ci: bool) -> subprocess.CompletedProcess[str]:
    """Run the script where nothing but the shell is on PATH, with an apt-get that installs or does not."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "printf", "id", "env", "touch", "chmod"):
        (tools / name).symlink_to(Path("/usr/bin", name) if Path("/usr/bin", name).exists() else Path("/bin", name))
    (tools / "id").unlink()
    _script(tools / "id", f"echo {0 if root else 1000}")
    log = tmp_path / "apt.log"
    made = f'touch "{tools}/browser"; chmod +x "{tools}/browser"' if installs else "exit 100"
    _script(tools / "apt-get", f'echo "$@" >> "{log}"\n[ "$1" = update ] || {{ {made}; }}')
    table = tmp_path / "system.txt"
    table.write_text("# a comment\nbash bash\nbrowser chromium\n")
    environment = {"PATH": str(tools)} | ({"CI": "true"} if ci else {})
    script = str(ROOT / "scripts/system-packages")
    return subprocess.run(
        ["/bin/bash", script, str(table)], capture_output=True, text=True, env=environment, check=False
    )


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


def test_a_missing_system_package_is_installed_where_that_is_allowed(tmp_path: Path) -> None:
    done = run_system_packages(tmp_path, installs=True, root=True, ci=True)
    assert done.returncode == 0, done.stderr
    assert "chromium" in (tmp_path / "apt.log").read_text()
    assert "bash" not in (tmp_path / "apt.log").read_text()


def test_a_missing_system_package_is_named_in_one_line_where_it_cannot_be_installed(tmp_path: Path) -> None:
    done = run_system_packages(tmp_path, installs=True, root=False, ci=False)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "viameter: some tests need system packages that are missing; install them with: apt-get install chromium "
    ]
    assert not (tmp_path / "apt.log").exists()


def test_a_missing_system_package_fails_where_ci_is_set(tmp_path: Path) -> None:
    assert run_system_packages(tmp_path, installs=False, root=True, ci=True).returncode == 1


def test_ci_runs_make_test_and_nothing_cleverer() -> None:
    commands = [line for line in (ROOT / ".ci/run").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in commands if not line.startswith(("set ", "cd ", "unset "))] == ["make test"]


def test_ci_runs_all_tests_whatever_the_environment_says(tmp_path: Path) -> None:
    narrowed = {"ROOM": "viz", "OPTIONS": "-k nothing", "PYTEST_ADDOPTS": "-k nothing", "VIAMETER_ENGINES": "duckdb"}
    narrowed |= {"MAKEFLAGS": "n", "PYTHONPATH": "/elsewhere", "VIAMETER_EXAMPLES": "mutants"}
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$@ {" ".join(f"${name}" for name in narrowed)}"\n')
    make.chmod(0o755)
    environment = {**os.environ, **narrowed, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", ".ci/run"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["test"]


def test_every_script_parses() -> None:
    for script in sorted((ROOT / "scripts").iterdir()):
        if "bash" in script.read_text().splitlines()[0]:
            subprocess.run(["bash", "-n", str(script)], check=True)
        assert os.access(script, os.X_OK), script
