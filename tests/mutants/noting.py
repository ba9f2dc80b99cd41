"""A plugin of pytest that notes what becomes of tests, in the file that `VIAMETER_NOTED` names, and leaves some out.

Its lines are `failed` or `ended` and a test, and `collected` and how many are to be run. Of what pytest was asked for,
the tests of `VIAMETER_LEFT_OUT` are left out. Those of `VIAMETER_ONLY`, if there are any, are the only ones, and each
has a process of its own, so that none passes because of what others did before.
"""

import os
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

LEFT_OUT, ONLY = (set(filter(None, os.environ[name].split("\n"))) for name in ("VIAMETER_LEFT_OUT", "VIAMETER_ONLY"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose tests by their whole names: `--deselect` takes all that begin alike."""
    items[:] = [item for item in items if item.nodeid not in LEFT_OUT and (not ONLY or item.nodeid in ONLY)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note how many tests are to be run."""
    _note("collected", str(len(session.items)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Run a test in a process of its own, if it is to be alone."""
    if not ONLY:
        return None
    child = os.fork()
    if not child:
        try:
            runtestprotocol(item, nextitem=None)
        except BaseException:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        _note("ended", item.nodeid)
    return True


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Note a test that came to its end."""
    _note("ended", nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed, or that could not be set up or torn down."""
    if report.failed:
        _note("failed", report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be read."""
    if report.failed:
        _note("failed", report.nodeid)


def _note(what: str, of: str) -> None:
    with Path(os.environ["VIAMETER_NOTED"]).open("a") as file:
        file.write(f"{what} {of}\n")
