"""Spaces: the domains that data live in, and the metrics that say what one change is.

- `elements`: single integers, floats, strings, categories.
- `collections`: vectors, tables, finite sets.
- `relational`: graphs and streams of events.
- `metrics`: distances between datasets, numbers and vectors.
"""

from viameter.spaces.collections import (
    FiniteDomain,
    TableDomain,
    VectorDomain,
    finite,
    lend,
    own_copy,
    row_count,
    tables,
    vectors,
)
from viameter.spaces.elements import (
    GREATEST_INT,
    LEAST_INT,
    Array,
    CategoryDomain,
    FloatDomain,
    IntDomain,
    ScalarDomain,
    StringDomain,
    categories,
    float_bounds,
    read_list,
    scalars,
)
from viameter.spaces.metrics import (
    AbsoluteDistance,
    ChangeOneDistance,
    ChangeOneIdDistance,
    DatasetMetric,
    DiscreteDistance,
    HammingDistance,
    InsertDeleteDistance,
    L1Distance,
    L2Distance,
    LInfDistance,
    NormDistance,
    SymmetricDistance,
    SymmetricIdDistance,
    UserMetric,
)
from viameter.spaces.relational import Event, Graph, GraphDomain, StreamDomain, graphs, streams

__all__ = [
    "GREATEST_INT",
    "LEAST_INT",
    "AbsoluteDistance",
    "Array",
    "CategoryDomain",
    "ChangeOneDistance",
    "ChangeOneIdDistance",
    "DatasetMetric",
    "DiscreteDistance",
    "Event",
    "FiniteDomain",
    "FloatDomain",
    "Graph",
    "GraphDomain",
    "HammingDistance",
    "InsertDeleteDistance",
    "IntDomain",
    "L1Distance",
    "L2Distance",
    "LInfDistance",
    "NormDistance",
    "ScalarDomain",
    "StreamDomain",
    "StringDomain",
    "SymmetricDistance",
    "SymmetricIdDistance",
    "TableDomain",
    "UserMetric",
    "VectorDomain",
    "categories",
    "finite",
    "float_bounds",
    "graphs",
    "lend",
    "own_copy",
    "read_list",
    "row_count",
    "scalars",
    "streams",
    "tables",
    "vectors",
]
