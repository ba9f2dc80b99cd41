"""Sampling: the only room that draws randomness. Exact: given ideal bits, draws have precisely the stated law.

- `entropy`: where bits come from.
- `noise`: discrete Laplace and Gaussian noise, geometric, Bernoulli, uniform: what others call.
- `families`, `alias`, `engine`: how noise is drawn by the million.
- `bernoulli`: single exact draws.
- `selection`: one of many candidates, by score.
"""

from viameter.sampling.entropy import SYSTEM, Entropy, SystemEntropy, Tape, TapeExhausted
from viameter.sampling.noise import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    uniform_below,
)
from viameter.sampling.selection import exponential, noisy_max_laplace, permute_and_flip, top_k

__all__ = [
    "SYSTEM",
    "Entropy",
    "SystemEntropy",
    "Tape",
    "TapeExhausted",
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "geometric",
    "noisy_max_laplace",
    "permute_and_flip",
    "top_k",
    "uniform_below",
]
