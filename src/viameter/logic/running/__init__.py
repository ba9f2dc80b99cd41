"""Running: proved programs as measurements of the library, with the exact samplers.

- `values`, `compiling`, `interpreter`: what expressions and programs do.
- `noise`, `ratios`: what draws.
- `arguments`, `facts`, `data`, `domains`: what a program takes.
- `distances`, `ways`, `slots`, `spaces`: how far apart two inputs are, and how many steps of adjacency that is.
- `verdicts`, `claims`, `theorem`, `measurement`: what is proved, and the measurement that it makes.
"""

from viameter.logic.running.distances import InputDistance, MonotoneDistance, ProgramAdjacency
from viameter.logic.running.domains import ProgramDomain
from viameter.logic.running.interpreter import run
from viameter.logic.running.measurement import ProgramMeasurement, measurement
from viameter.logic.running.theorem import verified_program

__all__ = [
    "InputDistance",
    "MonotoneDistance",
    "ProgramAdjacency",
    "ProgramDomain",
    "ProgramMeasurement",
    "measurement",
    "run",
    "verified_program",
]
