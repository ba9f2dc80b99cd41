"""viameter_check: re-derives every number of a certificate, sharing no code with the library that wrote it.

It needs Python's standard library and nothing else, and is meant to be read in an hour.

- `checker`: the whole check, node by node.
- `document`: strict JSON, and what a certificate must have.
- `rules`: what each theorem says, one small file a family.
- `places`, `units`: domains and metrics, read from their text.
- `losses`: losses, and when one is at most another.
- `intervals`: exp, log, square root and tanh with proven error bounds, on integers.
- `normal`: the delta of two Gaussians, from above.
- `amounts`: exact numbers, read from text and written for people.
- `report`: what was found. `command`: `python -m viameter_check FILE`.
"""

from viameter_check.checker import check
from viameter_check.report import Claim, Failure, Report
from viameter_check.rules import RULES
from viameter_check.version import VERSION

__all__ = ["RULES", "VERSION", "Claim", "Failure", "Report", "check"]
