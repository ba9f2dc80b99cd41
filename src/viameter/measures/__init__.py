"""Measures and their losses: pure, approximate, concentrated, Renyi, Gaussian, bounded range, profiles.

- `amounts`: losses that are one or two exact numbers, compared and added number by number.
- `curves`: losses that are a bound at each of several points: Renyi orders, the epsilons of a profile.
- `composition`: how losses of each measure compose, and where each rule is proved.
- `conversions`: from one measure to another, a theorem each.
- `groups`: from the loss of one step to that of several.
- `trusted`: measures that users define.
- `records`: losses as JSON, and back.
"""

from viameter.measures import (  # noqa: F401  # they declare the rules and the conversions of every measure
    composition,
    conversions,
)
from viameter.measures.amounts import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    BoundedRange,
    GaussianDP,
    PureDP,
    approx,
    approx_zcdp,
    bounded_range,
    gdp,
    pure,
    zcdp,
)
from viameter.measures.curves import Profile, RenyiDP, profile, renyi
from viameter.measures.groups import group_derivation, group_loss
from viameter.measures.records import loss_from_json
from viameter.measures.trusted import measure

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "BoundedRange",
    "GaussianDP",
    "Profile",
    "PureDP",
    "RenyiDP",
    "approx",
    "approx_zcdp",
    "bounded_range",
    "gdp",
    "group_derivation",
    "group_loss",
    "loss_from_json",
    "measure",
    "profile",
    "pure",
    "renyi",
    "zcdp",
]
