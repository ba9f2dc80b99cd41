"""`python -m viameter_check FILE`: check a certificate; exit with 0 if it holds, 1 if it fails, 2 if it is no JSON."""

from __future__ import annotations

import sys

from viameter_check.command import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
