"""Logic: programs that are proved private, or refuted, in a relational program logic (apRHL).

- `front`: from a typed Python function (or the slides' while language) to a program of the core language, `lang`;
  adjacency as a relation between two runs' inputs, `neighbors`.
- `kernel`: judgments, made only by rules whose side conditions are code; `solving`: obligations as questions to z3.
- `search`: shifts by trial, invariants by elimination; what it finds, the kernel checks.
- `exact`, `refute`: exact output distributions, and witnesses that a claim is wrong.
- `couplings`: approximate couplings of finite distributions.
- `running`: a proved program as a Measurement. `present`: proofs as text, HTML and LaTeX.
"""

from viameter.logic.certificate import ProgramCertificate
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs, related
from viameter.logic.front.decorator import ProgramFunction, program, program_from_core, program_from_source
from viameter.logic.front.errors import ProgramError
from viameter.logic.front.markers import (
    Between,
    Eps,
    Grid,
    choose,
    expo,
    flip,
    gauss,
    geom,
    invariant,
    lap,
    uniform,
)
from viameter.logic.verdict import Status, Verdict
from viameter.logic.verify import verify

__all__ = [
    "Between",
    "Eps",
    "Grid",
    "ProgramCertificate",
    "ProgramError",
    "ProgramFunction",
    "Status",
    "Verdict",
    "added_or_removed",
    "all_differ",
    "choose",
    "expo",
    "flip",
    "gauss",
    "geom",
    "invariant",
    "lap",
    "one_differs",
    "program",
    "program_from_core",
    "program_from_source",
    "related",
    "uniform",
    "verify",
]
