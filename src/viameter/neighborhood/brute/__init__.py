"""Brute force: every pair of neighbors of a small class, looked at; what it proves and what it only can refute.

- `relations`: the concrete relation of each granularity. `models`: small databases for each cut.
- `search`: the worst pair, the conditions C1 and C2, and a smallest counterexample.
"""

from viameter.neighborhood.brute.search import BruteForce, brute_force, small_space

__all__ = ["BruteForce", "brute_force", "small_space"]
