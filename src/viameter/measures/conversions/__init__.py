"""Conversions between measures, a theorem each; importing this registers them all.

- `response`: from pure, approximate and bounded-range losses.
- `single_ranges`: from bounded range to approximate losses, exactly.
- `quadratic`: from approximate losses, by half the square of epsilon.
- `concentrated`: from zCDP and approximate zCDP.
- `renyi`, `gaussian`, `profiles`: from those.
- `directed`: the MPFR numbers that they compute with.
"""

from viameter.measures.conversions import concentrated, gaussian, profiles, quadratic, renyi, response, single_ranges

__all__ = ["concentrated", "gaussian", "profiles", "quadratic", "renyi", "response", "single_ranges"]
