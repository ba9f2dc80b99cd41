"""Makes the package `bench` importable: it is part of the checkout and not of the installed library."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
