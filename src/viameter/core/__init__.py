"""The nouns: Domain, Metric, Measure, Space, Transformation, Measurement, Recipe, Queryable.

- `domain`, `metric`, `measure`: what spaces and losses are made of.
- `space`: a domain with a metric.
- `composability`: which rules compose losses, and where each is proved.
- `conversion`: theorems that lead from one measure to another.
- `bound`: a theorem with its parameters: the stability or privacy map of a computation.
- `certificate`: a claim and its derivation as a file.
- `computation`, `transformation`, `measurement`: functions with a bound, and how they are chained.
- `recipe`: computations that wait for their space.
- `queryable`: state machines that answer queries.
- `deadlines`: what takes too long is given up.
- `sealed`: nothing of the rows leaves through an error.
- `trusted`: parts that users define.
"""

from viameter.core.bound import Bound, by, trusted
from viameter.core.certificate import Certificate
from viameter.core.composability import Adaptivity, Composability, Rule
from viameter.core.computation import Computation
from viameter.core.conversion import Conversion, Converted, conversions_from, convert, suggest
from viameter.core.domain import Domain, NotAMember
from viameter.core.measure import Loss, Measure
from viameter.core.measurement import Measurement, PostProcessing, postprocess
from viameter.core.metric import Metric
from viameter.core.queryable import External, Guard, Internal, Query, Queryable, guarded_by
from viameter.core.recipe import Constructor, Recipe, constructor
from viameter.core.sealed import attempt
from viameter.core.space import Space
from viameter.core.transformation import Transformation
from viameter.core.trusted import require_trust

__all__ = [
    "Adaptivity",
    "Bound",
    "Certificate",
    "Composability",
    "Computation",
    "Constructor",
    "Conversion",
    "Converted",
    "Domain",
    "External",
    "Guard",
    "Internal",
    "Loss",
    "Measure",
    "Measurement",
    "Metric",
    "NotAMember",
    "PostProcessing",
    "Query",
    "Queryable",
    "Recipe",
    "Rule",
    "Space",
    "Transformation",
    "attempt",
    "by",
    "constructor",
    "conversions_from",
    "convert",
    "guarded_by",
    "postprocess",
    "require_trust",
    "suggest",
    "trusted",
]
