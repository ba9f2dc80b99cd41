"""Where the harness finds and puts things in the checkout."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CASES", "PAGES", "PEERS", "RESULTS", "ROOT", "benchmark_names"]

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "bench" / "cases"
PEERS = ROOT / "bench" / "peers"
RESULTS = ROOT / "bench" / "results"
PAGES = ROOT / "docs" / "bench"


def benchmark_names() -> list[str]:
    """Every benchmark that has a case file."""
    return sorted(path.stem for path in CASES.glob("*.py"))
