"""Approximate couplings of finite distributions, exactly: the least delta, the least epsilon, and a check of witnesses.

Given mu1 on A, mu2 on B, a relation R between A and B, epsilon >= 0 and delta, an **R-(epsilon, delta)-coupling** is a
pair of joint distributions mu_L and mu_R on A x B with

    1. pi_1(mu_L) = mu1 and pi_2(mu_R) = mu2,
    2. the supports of mu_L and mu_R within R,
    3. Delta_epsilon(mu_L, mu_R) = max over E of mu_L(E) - e**epsilon mu_R(E)  <=  delta.

With `star=True` it is a **star-lifting** (Barthe, Espitau, Hsu, Sato and Strub 2017): mu_L may also put mass on (a, *),
and mu_R on (*, b), for a star that is no value; what is on A x B is within R as before. `least.py` proves that both
have the same least delta, max over S of mu1(S) - e**epsilon mu2(R(S)), except that without the star there is no
coupling at all, with no delta, where a value of positive probability has no partner. So it is the star-lifting that
is equivalent to the condition of Strassen's theorem: mu1(S) <= e**epsilon mu2(R(S)) + delta for all S.

A and B are the keys of the two mappings: give a value probability 0 to have it as a possible partner. As in the
definition, all this goes one way, from mu1 to mu2; what is to hold both ways is asked twice.

>>> from operator import eq
>>> mu1 = {"00": "0.25", "01": "0.25", "10": "0.25", "11": "0.25"}
>>> mu2 = {"00": "0.20", "01": "0.25", "10": "0.25", "11": "0.30"}
>>> print(least_delta(mu1, mu2, relation=eq, epsilon="0.3"))
coupling: factor = 43/32, epsilon = 3/10, delta = 0
mu_L  00    01    10    11
00    0.25
01          0.25
10                0.25
11                      0.25
mu_R  00    01    10    11
00    0.20
01          0.25
10                0.25
11                      0.30
>>> least = least_epsilon(mu1, mu2, relation=eq, delta=0)
>>> least.factor, round(float(least.epsilon), 4)
(Fraction(5, 4), 0.2231)
"""

from viameter.logic.couplings.checking import Fault, check_coupling
from viameter.logic.couplings.coupling import Coupling
from viameter.logic.couplings.least import LeastEpsilon, least_delta, least_epsilon
from viameter.logic.couplings.reading import STAR

__all__ = ["STAR", "Coupling", "Fault", "LeastEpsilon", "check_coupling", "least_delta", "least_epsilon"]
