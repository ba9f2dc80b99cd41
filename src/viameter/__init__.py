"""viameter: compose differential privacy with proofs.

Every bound on privacy loss is a theorem that is stated, cited, tested and carried to the person who asks.
The rooms, from the ground up: `errors`, `theorem`, `arith`, `core`, `viz`, `measures` and `spaces`, `transforms`,
`sampling`, `mechanisms`, `composition`, `neighborhood`, `cli`.
"""

import typing as _typing

from viameter import sampling
from viameter._version import __version__
from viameter.arith import exactly
from viameter.composition import (
    Filter,
    FilterMeter,
    Meter,
    Odometer,
    OdometerState,
    adaptive,
    anytime,
    compose,
    compose_losses,
    plot_profiles,
    plot_spending,
)
from viameter.core import (
    Adaptivity,
    Composability,
    Domain,
    Loss,
    Measure,
    Measurement,
    Metric,
    Queryable,
    Recipe,
    Space,
    Transformation,
    postprocess,
)
from viameter.core.composability import ADAPTIVE, CONCURRENT, FULLY_ADAPTIVE, NON_ADAPTIVE, SEQUENTIAL
from viameter.core.trusted import domain, measurement, metric, transformation
from viameter.measures import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    BoundedRange,
    GaussianDP,
    Profile,
    PureDP,
    RenyiDP,
    approx,
    approx_zcdp,
    bounded_range,
    gdp,
    loss_from_json,
    measure,
    profile,
    pure,
    renyi,
    zcdp,
)
from viameter.mechanisms import (
    accuracy,
    calibrate,
    exponential,
    gaussian,
    geometric,
    laplace,
    least_threshold,
    noisy_max,
    private_quantile,
    quantile_scores,
    randomized_response,
    sparse_vector,
    thresholded_counts,
    top_k,
)
from viameter.spaces import (
    AbsoluteDistance,
    ChangeOneDistance,
    ChangeOneIdDistance,
    DiscreteDistance,
    HammingDistance,
    InsertDeleteDistance,
    L1Distance,
    L2Distance,
    LInfDistance,
    SymmetricDistance,
    SymmetricIdDistance,
    categories,
    finite,
    graphs,
    scalars,
    streams,
    tables,
    vectors,
)
from viameter.transforms import (
    between,
    cast,
    clamp,
    column,
    count,
    filter,
    histogram,
    impute,
    is_in,
    limit_rows,
    map_rows,
    mean,
    measured_by,
    resize,
    select,
    sum,
    to_grid,
)

if _typing.TYPE_CHECKING:
    from viameter import neighborhood
    from viameter.composition import accounting
    from viameter.composition.accounting import Accountant

__all__ = [
    "ADAPTIVE",
    "CONCURRENT",
    "FULLY_ADAPTIVE",
    "NON_ADAPTIVE",
    "SEQUENTIAL",
    "ZCDP",
    "AbsoluteDistance",
    "Accountant",
    "Adaptivity",
    "ApproxDP",
    "ApproxZCDP",
    "BoundedRange",
    "ChangeOneDistance",
    "ChangeOneIdDistance",
    "Composability",
    "DiscreteDistance",
    "Domain",
    "Filter",
    "FilterMeter",
    "GaussianDP",
    "HammingDistance",
    "InsertDeleteDistance",
    "L1Distance",
    "L2Distance",
    "LInfDistance",
    "Loss",
    "Measure",
    "Measurement",
    "Meter",
    "Metric",
    "Odometer",
    "OdometerState",
    "Profile",
    "PureDP",
    "Queryable",
    "Recipe",
    "RenyiDP",
    "Space",
    "SymmetricDistance",
    "SymmetricIdDistance",
    "Transformation",
    "__version__",
    "accounting",
    "accuracy",
    "adaptive",
    "anytime",
    "approx",
    "approx_zcdp",
    "between",
    "bounded_range",
    "calibrate",
    "cast",
    "categories",
    "clamp",
    "column",
    "compose",
    "compose_losses",
    "count",
    "domain",
    "exactly",
    "exponential",
    "filter",
    "finite",
    "gaussian",
    "gdp",
    "geometric",
    "graphs",
    "histogram",
    "impute",
    "is_in",
    "laplace",
    "least_threshold",
    "limit_rows",
    "loss_from_json",
    "map_rows",
    "mean",
    "measure",
    "measured_by",
    "measurement",
    "metric",
    "neighborhood",
    "noisy_max",
    "plot_profiles",
    "plot_spending",
    "postprocess",
    "private_quantile",
    "profile",
    "pure",
    "quantile_scores",
    "randomized_response",
    "renyi",
    "resize",
    "sampling",
    "scalars",
    "select",
    "sparse_vector",
    "streams",
    "sum",
    "tables",
    "thresholded_counts",
    "to_grid",
    "top_k",
    "transformation",
    "vectors",
    "zcdp",
]


def __getattr__(name: str) -> _typing.Any:
    """Import the larger parts when they are used: each takes as long to load as half of the rest."""
    if name == "neighborhood":
        import importlib

        return importlib.import_module("viameter.neighborhood")
    if name in ("accounting", "Accountant"):
        from viameter.composition import accounting

        return accounting if name == "accounting" else accounting.Accountant
    raise AttributeError(f"module 'viameter' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
