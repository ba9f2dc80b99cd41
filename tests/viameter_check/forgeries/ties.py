"""More forgeries, made with the rules at hand: for ties that could be dropped without a forgery from statements."""

from fractions import Fraction

from tests.viameter_check.forgeries.forge import GONE
from tests.viameter_check.forgeries.losses import approx, approx_zcdp, gdp, pure, ranged, zcdp
from tests.viameter_check.forgeries.transformations import (
    ADDED,
    INTS,
    L1,
    L2,
    PLACED,
    TABLE,
    USERS,
    Forgery,
)

DISCRETE, OWN = "DiscreteDistance()", "Own"
DATABASE = "engine_database({'t': engine_table(Schema('u': TEXT))})"
OTHER_DATA = {"input": {"domain": "vectors(str)", "metric": ADDED}, "given": "1"}
OF_USERS = {"domain": TABLE, "metric": USERS}
HUGE = Fraction(float("1e308"))


def somebody(metric: str) -> dict[str, object]:
    """The edits by which a step is measured by a metric of somebody's own."""
    return {"input.metric": metric, "output.metric": metric, "assumes": ["it is a metric"]}


def nothing(zero: dict[str, str], name: str) -> Forgery:
    """Rows in another order are 0 apart, and not equal."""
    edits = {"input.metric": ADDED, "premises.0.input.metric": ADDED, "given": "0", "bound": zero}
    return ("another order costs nothing", name, edits)


FORGERIES: dict[str, list[Forgery]] = {
    "rows-one-by-one": [
        ("numbers are rows", "clamp", {"parameters.row": GONE, "input.metric": L1, "output.metric": L1}),
        ("a metric of somebody's own counts rows", "clamp", somebody(OWN)),
        (
            "integers are clamped to a half",
            "clamp",
            {"parameters.row": ["clamp", "0", "1/2"], "output.domain": "vectors(int, bounds=(0, 0))"},
        ),
        ("floats are clamped beyond all floats", "clamp grid", {"parameters.row": ["clamp", "0", "1" + "0" * 400]}),
        ("a grid of another step", "grid", {"parameters.row": ["to_grid", "1/10"]}),
        ("a grid of a step below 0", "grid", {"parameters.row": ["to_grid", "-1/100"]}),
        ("a grid of unbounded floats", "grid", {"input.domain": "vectors(float)"}),
        ("text is cast to a bounded number", "cast", {"output.domain": "vectors(int, bounds=(0, 9))"}),
        ("NaN stays", "impute", {"output.domain": "vectors(float, nan=True)"}),
        ("a function of one's own that nobody vouches for", "clamp", {"parameters.row": ["own"]}),
        ("a function of one's own has parameters", "clamp", {"parameters.row": ["own", "0", "9"], "assumes": ["so"]}),
        (
            "users get new names from a function that nobody vouches for",
            "select of users",
            {"parameters.row": ["own"], "input": OF_USERS, "output": OF_USERS},
        ),
        *(
            (
                f"the column that names users goes through {row[0]}",
                "select of users",
                {
                    "parameters.row": row,
                    "input": OF_USERS,
                    "output": OF_USERS,
                },
            )
            for row in (["clamp", "0", "9"], ["impute", "0"], ["cast", "str"], ["to_grid", "1"], ["column", "who"])
        ),
        ("the column that names users is left out", "select of users", {"parameters.row": ["select", "age"]}),
        *(
            ("what is imputed is out of bounds", sample, {"output.domain": "vectors(float, bounds=(0.0, 1.0))"})
            for sample in ("impute bounded", "impute below")
        ),
    ],
    "count-of-rows": [("a count is a category", "count", {"output.metric": DISCRETE})],
    "sum-of-added-rows": [("a sum is a category", "sum", {"output.metric": DISCRETE})],
    "sum-of-replaced-rows": [("a sum is a category", "sum replaced", {"output.metric": DISCRETE})],
    "sum-of-floats": [
        ("a sum in a metric of somebody's own", "sum floats", {"output.metric": OWN, "assumes": ["it is a metric"]}),
        (
            "bounds do not hold NaN",
            "sum floats",
            {"input.domain": "vectors(float, bounds=(-0.5, 100.0), nan=True, size=7)"},
        ),
        (
            "sums overflow",
            "sum floats",
            {
                "input.domain": "vectors(float, bounds=(-1e+308, 1e+308), size=7)",
                "parameters.lower": str(-HUGE),
                "parameters.upper": str(HUGE),
                "bound": str(3 * HUGE),
            },
        ),
    ],
    "mean-of-replaced-rows": [
        ("a mean in a metric of somebody's own", "mean", {"output.metric": OWN, "assumes": ["it is a metric"]}),
        (
            "the mean of nothing",
            "mean",
            {"input.domain": "vectors(int, bounds=(-5, 240), size=0)", "parameters.size": "0", "bound": "1000"},
        ),
    ],
    "histogram-of-added-rows": [("counts are a category", "histogram", {"output.metric": DISCRETE})],
    "quantile-scores": [("scores of text", "quantile", {"input.domain": "vectors(str)"})],
    "resize-of-added-rows": [
        (
            "users have one row each",
            "resize",
            {
                "input": {"domain": TABLE, "metric": USERS},
                "output": {"domain": TABLE.replace("})", "}, size=3)"), "metric": USERS},
            },
        )
    ],
    "resize-of-replaced-rows": [("rows are added", "resize replaced", {"input.metric": ADDED, "output.metric": ADDED})],
    "replaced-from-added": [("rows are replaced already", "added to replaced", {"input.metric": PLACED})],
    "rounding-to-a-grid": [
        (
            "the smaller norm bounds the larger",
            "rounding",
            {"input.metric": L2, "parameters.norm": "2", "bound": "45/2"},
        )
    ],
    "units-one-by-one": [("a metric of somebody's own counts units", "units", somebody(OWN))],
    "contributions-of-added-units": [("a database is a table", "units", {"input.domain": DATABASE})],
    "thresholded-keys-of-units": [("a database is a table", "found", {"input.domain": DATABASE})],
    "thresholded-keys": [("keys are floats", "keys", {"input.domain": "vectors(float)"})],
    "randomized-response": [
        (
            "there is one answer",
            "response",
            {"input.domain": "categories(['A'])", "parameters.answers": "1", "bound.epsilon": "0"},
        ),
        ("it is told more often than always", "response", {"parameters.probability": "2"}),
    ],
    "exponential-range": [("scores change by any amount", "exponential", {"input.metric": DISCRETE})],
    "noisy-max-exponential": [("scores change by any amount", "noisy max", {"input.metric": DISCRETE})],
    "noisy-max-laplace": [("scores change by any amount", "noisy max laplace", {"input.metric": DISCRETE})],
    "top-k-by-peeling": [("scores change by any amount", "top", {"input.metric": DISCRETE})],
    "approx-zcdp-to-approx": [
        (
            "delta is below its own",
            "approx-zcdp-to-approx",
            {"parameters.delta": "1/10000", "bound": approx("1000", "1/10000")},
        )
    ],
    "group-pure": [nothing(pure("0"), "group-pure")],
    "group-approx": [nothing(approx("0", "0"), "group-approx")],
    "group-zcdp": [nothing(zcdp("0"), "group-zcdp")],
    "group-gdp": [nothing(gdp("0"), "group-gdp")],
    "group-bounded-range": [nothing(ranged("0"), "group-bounded-range")],
    "pure-composition": [("the sum is of other data", "both pure", OTHER_DATA)],
    "zcdp-composition": [("the sum is of other data", "both zcdp", OTHER_DATA)],
    "bounded-range-composition": [
        ("the sum is of other data", "both ranges", OTHER_DATA),
        (
            "ranges add because somebody says so",
            "both ranges",
            {"theorem": "trusted-composition", "kind": "claim", "numbers": "assumed", "assumes": ["they add"]},
        ),
    ],
    **{
        f"{rule}-filter": [
            (
                "the budget is in another measure",
                f"{rule} filter",
                {
                    "parameters.budget": approx_zcdp("1", "1/1000000"),
                    "output.measure": "approx-zcdp",
                    "bound": approx_zcdp("1", "1/1000000"),
                },
            )
        ]
        for rule in ("concentrated", "advanced")
    },
    "privacy-filter": [("a measure is a metric", "filter of losses", {"input.metric": "pure"})],
    "adaptive-composition": [("a measure is a metric", "adaptive", {"input.metric": "zcdp"})],
    "clamp-numbers": [
        (
            "numbers lose their bounds' kind",
            "clamp numbers",
            {"output.domain": "vectors(float, bounds=(0, 1), size=3)"},
        ),
        ("a category is clamped", "clamp numbers", {"input.metric": DISCRETE, "output.metric": L2}),
        ("what is clamped may be NaN", "clamp numbers", {"output.domain": "vectors(float, nan=True, size=3)"}),
    ],
    "chain": [("a chain is of losses", "chain", {"input": {"measure": "pure"}, "given": pure("0")})],
    "coarser-metric": [("rows are unbounded", "ordered to added", {"input.domain": INTS})],
}
"""By slug: what is false, the genuine certificate, and what is changed in the first node of that theorem."""
