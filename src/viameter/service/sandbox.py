"""A process of its own for what strangers sent: so much time and memory, no files, nothing of this one's environment.

`python -m viameter.service.sandbox SECONDS MEMORY MODULE ...` runs a module under such limits.
"""

from __future__ import annotations

import contextlib
import os
import resource
import runpy
import signal
import subprocess
import sys

PASSED_ON = ("PATH", "LD_LIBRARY_PATH")
"""What the process sees of this one's environment: where programs and libraries are."""
OWN = {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""What else it sees: threads, which it does not need, would each take their share of its memory."""
PYTHON = (sys.executable, "-I", "-B", "-X", "utf8", "-m")
"""Python without the user's own modules and settings."""


def run_alone(command: list[str], request: bytes, seconds: float) -> tuple[bytes, bool]:
    """What a process says until it ends or is ended; and whether its time was over."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | OWN
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=os.sep,
        start_new_session=True,
    )  # fmt: skip
    timed_out = False
    with process:
        try:
            said, _ = process.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            _kill(process)
            said, _ = process.communicate()
        finally:
            _kill(process)
    return said, timed_out or process.returncode == -signal.SIGXCPU


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it may have started; its number is still its own, since it was not waited for."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def limit_this_process(seconds: int, memory: int) -> None:
    """Take away what is not needed; none of this can be undone by this process."""
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CPU, seconds, seconds + 1),  # a signal that says so, and then one that kills
        (resource.RLIMIT_AS, memory, memory),
    ):
        before = resource.getrlimit(what)[1]
        most = hard if before == resource.RLIM_INFINITY else min(hard, before)
        resource.setrlimit(what, (min(soft, most), most))


def main() -> None:
    """Run a module under limits."""
    limit_this_process(int(sys.argv[1]), int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
