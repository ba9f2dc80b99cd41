"""How long a program waits for `import viameter`, in a fresh process, next to its peers and to numpy alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from bench.model import Benchmark, Case, Variant


def fresh_process(statement: str) -> Callable[[], Callable[[], None]]:
    """Run the statement in a new interpreter of the worker's environment."""

    def prepare() -> Callable[[], None]:
        def run() -> None:
            finished = subprocess.run(
                [sys.executable, "-I", "-c", statement], check=False, stderr=subprocess.PIPE, text=True, timeout=60
            )
            if finished.returncode:
                last_line = finished.stderr.strip().rpartition("\n")[2]
                raise (ImportError if "ModuleNotFoundError" in last_line else RuntimeError)(last_line)

        return run

    return prepare


BENCHMARK = Benchmark(
    title="Import time",
    about=(
        "The time of `python -I -c 'import ...'`, from the start of the process to its end; OpenDP is "
        "imported as `opendp.prelude`, the way its users do. The last column subtracts the time of numpy, which "
        "viameter needs in any case."
    ),
    cases=[
        Case(
            name="import",
            variants=[
                Variant("viameter", fresh_process("import viameter")),
                Variant("numpy", fresh_process("import numpy")),
                Variant("nothing", fresh_process("pass")),
                Variant("OpenDP", fresh_process("import opendp.prelude"), environment="opendp"),
                Variant("mpmath", fresh_process("import mpmath"), environment="mpmath"),
            ],
            difference_to="numpy",
        )
    ],
)
