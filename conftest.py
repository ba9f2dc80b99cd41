"""Every example in docstrings, README and docs is run as a test; tests in another order, or until a deadline."""

import gc
import importlib.util
import json
import os
import random
import time
from collections.abc import Generator
from doctest import ELLIPSIS
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser
from sybil.sybil import SybilCollection

docstrings = Sybil(
    path="src",
    pattern="*.py",
    parsers=[DocTestParser(optionflags=ELLIPSIS)],
    document_types={".py": PythonDocStringDocument},
)
pages = [
    Sybil(path=path, pattern=pattern, parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)])
    for path, pattern in ((".", "README.md"), ("docs", "*.md"))
]
pytest_collect_file = SybilCollection([docstrings, *pages]).pytest()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that are passed on by `tests.tiers`."""
    parser.addoption("--shuffle", metavar="SEED", help="run files, and the tests of each, in another order")
    parser.addoption("--counts", metavar="FILE", help="where to write how many tests passed, failed, ...")
    parser.addoption("--until", type=float, metavar="TIME", help="start no test after this time (seconds since 1970)")


class Examples(pytest.Collector):
    """A source that was named is asked for its examples alone: as a module of tests it would be loaded twice."""

    def collect(self) -> list[pytest.Item]:
        """No tests."""
        return []


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Sources hold no tests but their examples."""
    is_source = module_path.is_relative_to(Path(__file__).parent / "src")
    return Examples.from_parent(parent, name=module_path.name) if is_source else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Refuse tests that no shard runs; shuffle files, and the tests of each: examples of a page stay in their order."""
    collected = list(items)  # before marks leave some out
    yield
    home = config.rootpath / "tests" / "tables"
    for item in collected:
        if item.get_closest_marker("spark") and not item.path.is_relative_to(home):
            raise pytest.UsageError(f"{item.nodeid}: tests with Spark are run in tests/tables alone")
    seed = config.getoption("shuffle")
    if seed is None:
        return
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(str(item.path), []).append(item)
    order = random.Random(seed)
    names = sorted(files)
    order.shuffle(names)
    items.clear()
    for name in names:
        if isinstance(files[name][0], pytest.Function):
            order.shuffle(files[name])
        items += files[name]


def pytest_collection_finish() -> None:
    """Thousands of tests, and what they import, stay to the end: no collector of garbage looks through them again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """As it was: extensions written in C++ name what is not let go when the process ends."""
    gc.unfreeze()


LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave out what is left when time is up; the summary says how many these are."""
    until = item.config.getoption("until")
    if until is None or time.time() < until:
        return None
    item.config.stash[LEFT_OUT] = item.config.stash.get(LEFT_OUT, 0) + 1
    return True


class Counting:
    """Counts tests that ended, and fails a session that ended well before all did: a test can call `pytest.exit`.

    What it counted is written down for `tests.tiers`, since whatever is printed may have been printed by a test.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.process, self.ended = config, os.getpid(), 0

    def pytest_runtest_logfinish(self) -> None:
        """Count a test that came to its end."""
        self.ended += 1

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Fail if tests were not run, and no failure says so."""
        left_out = self.config.stash.get(LEFT_OUT, 0)
        missing = session.testscollected - self.ended - left_out
        if session.exitstatus in (0, 5) and missing > 0 and not self.config.option.collectonly:
            print(f"\nthe session ended before {missing} of its tests did")
            session.exitstatus = 1
        yield
        reporter, file = self.config.pluginmanager.get_plugin("terminalreporter"), self.config.getoption("counts")
        if file is None or reporter is None or os.getpid() != self.process or session.exitstatus not in (0, 1, 5):
            return
        names = {"error": "errors"} | {name: name for name in ("failed", "passed", "skipped", "xfailed", "xpassed")}
        counts = {name: len(reporter.stats.get(category, ())) for category, name in names.items()}
        counts |= {"counted": 1, "collected": session.testscollected, "left out": left_out}
        Path(file).write_text(json.dumps(counts))


def pytest_configure(config: pytest.Config) -> None:
    """Count what ends; test these sources, and not those of a checkout that this one was copied from."""
    config.pluginmanager.register(Counting(config))
    own = config.rootpath / "src" / "viameter"
    found = importlib.util.find_spec("viameter") if own.exists() and "VIAMETER_NOTED" not in os.environ else None
    if found is not None and not Path(str(found.origin)).resolve().is_relative_to(own.resolve()):
        raise pytest.UsageError(f"viameter is imported from {found.origin}: make setup installs that of this checkout")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests were left out."""
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} left out for lack of time")
