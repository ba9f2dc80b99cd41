"""A process that ends while a query runs for which nobody waits any more ends as any other does."""

import subprocess
import sys

PROGRAM = """
import atexit, threading, time

asking = []

@atexit.register  # before the library's own, so it runs after it: who asked has an answer, and holds nothing any more
def wait_for_who_asked():
    for thread in asking:
        thread.join()

from viameter.tables.engines import open_source, run
from viameter.tables.engines.errors import EngineError

numbers = open_source({"n": list(range(200_000))})
other = numbers.expression.view()
pairs = numbers.expression.cross_join(other)
slow = pairs.aggregate(n=(pairs.n * pairs.n_right % 7).sum())

def ask():
    try:
        run(numbers, slow)
    except EngineError:
        pass

for _ in range(3):  # one of them runs, and two are queued
    asking.append(threading.Thread(target=ask, daemon=True))
    asking[-1].start()
time.sleep(1)
assert any(thread.name == "viameter query" for thread in threading.enumerate())
print("ends", flush=True)
"""


def test_a_process_ends_cleanly_while_a_query_that_was_given_up_runs() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ends\n", "")
