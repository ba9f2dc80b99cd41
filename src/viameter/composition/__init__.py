"""Composition: measurements as one, in a batch, by a plan, or one by one under an odometer or a filter.

- `batch`: all measurements fixed in advance. `adaptive`: losses fixed in advance, measurements chosen by answers.
- `odometer`, `filters`: everything chosen by answers; counted, or counted and capped.
- `losses`: claims composed without their mechanisms.
- `approximate`, `counting`: filters in approximate privacy, and how filters count. `anytime`: epsilon so far.
- `meter`: the queryable that both release. `queries`: what it is asked. `admission`: which measurements it takes.
- `tally`, `entries`: what was charged. `state`, `terms`: how that is written, so that another process can go on.
- `derivations`, `turns`: explanations of compositions; interactive mechanisms one after the other.
- `plots`: pictures of profiles and of spending.
- `accounting`: tight bounds for parameters that are fixed in advance; it is imported when it is used.
"""

from viameter.composition.adaptive import adaptive
from viameter.composition.anytime import anytime
from viameter.composition.batch import compose
from viameter.composition.filters import Filter
from viameter.composition.losses import compose_losses
from viameter.composition.meter import FilterMeter, Meter
from viameter.composition.odometer import Odometer
from viameter.composition.plots import plot_profiles, plot_spending
from viameter.composition.state import OdometerState

__all__ = [
    "Filter",
    "FilterMeter",
    "Meter",
    "Odometer",
    "OdometerState",
    "adaptive",
    "anytime",
    "compose",
    "compose_losses",
    "plot_profiles",
    "plot_spending",
]
