"""Forgeries of theorems on distances: each says something that is false by the statement of the theorem."""

from tests.viameter_check.forgeries.forge import GONE, LESS, Edits

ADDED, ORDERED = "SymmetricDistance()", "InsertDeleteDistance()"
REPLACED, PLACED = "ChangeOneDistance()", "HammingDistance()"
USERS, USERS_REPLACED = "SymmetricIdDistance(id='who')", "ChangeOneIdDistance(id='who')"
L1, L2, LINF = "L1Distance()", "L2Distance()", "LInfDistance()"
INTS, BITS = "vectors(int)", "vectors(int, bounds=(0, 1))"
SIZED_BITS = "vectors(int, bounds=(0, 1), size=7)"
TABLE = "tables({'who': scalars(str), 'age': scalars(int), \"it's\": scalars(float)})"
ENGINE = "engine_table(Schema('u': TEXT, 'k': TEXT, 'x': INTEGER, 'day': INTEGER))"
UNITS, UNITS_REPLACED = "UnitDistance('user', by='u')", "UnitDistance('user', by='u', replaces=True)"

Forgery = tuple[str, str, Edits]
FORGERIES: dict[str, list[Forgery]] = {
    "rows-one-by-one": [
        ("rows appear out of nothing", "clamp sized", {"output.domain": "vectors(int, bounds=(0, 9), size=70)"}),
        ("an unknown number of rows becomes public", "clamp", {"output.domain": "vectors(int, bounds=(0, 9), size=7)"}),
        ("rows that were added count as replaced", "clamp", {"output.metric": REPLACED}),
        ("the order of rows is kept where it is not looked at", "clamp", {"output.metric": ORDERED}),
        ("rows come closer", "clamp", {"bound": "1/2"}),
        (
            "the column that names users is another table's",
            "select of users",
            {"output.domain": "tables({'age': scalars(int), 'who': scalars(int)})"},
        ),
        (
            "the column that names users is cut short",
            "select of users",
            {"output.domain": "tables({'age': scalars(int), 'who': categories(['a', 'b'])})"},
        ),
        ("users are those of another column", "select of users", {"output.metric": "SymmetricIdDistance(id='age')"}),
        ("no column names users any more", "select of users", {"output.domain": "tables({'age': scalars(int)})"}),
        ("rows of users become rows", "select of users", {"output.metric": ADDED}),
        ("users are in a vector", "select of users", {"output.domain": INTS}),
        ("bounds are not those of the clamp", "clamp", {"parameters.row": ["clamp", "0", "90"]}),
        ("a clamp of nothing", "clamp", {"parameters.row": ["clamp", "9", "0"]}),
        ("text is clamped", "clamp", {"input.domain": "vectors(str)"}),
        ("another column is taken", "column", {"parameters.row": ["column", "who"]}),
        ("no column is taken", "column", {"parameters.row": ["column", "nobody"]}),
        (
            "a function that is not described gives users another type",
            "select of users",
            {"parameters.row": GONE, "output.domain": "tables({'age': scalars(int), 'who': scalars(int)})"},
        ),
        (
            "a function of somebody's own drops users",
            "select of users",
            {"parameters.row": ["own"], "output.domain": "tables({'age': scalars(int)})"},
        ),
        (
            "a function that is not described makes the size public",
            "clamp",
            {"parameters.row": GONE, "output.domain": "vectors(int, bounds=(0, 9), size=7)"},
        ),
        (
            "a function of somebody's own makes rows",
            "clamp sized",
            {"parameters.row": ["own"], "output.domain": "vectors(int, bounds=(0, 9), size=70)"},
        ),
        (
            "a function that is not described keeps the order",
            "clamp",
            {"parameters.row": GONE, "output.metric": ORDERED},
        ),
        (
            "a function that is not described gives a number",
            "clamp",
            {"parameters.row": GONE, "output.domain": "scalars(int)"},
        ),
        (
            "users are told by a name that stands in text",
            "select of users",
            {
                "parameters.row": GONE,
                "output.domain": "tables({'age': categories([\"'who': scalars(str)\"])})",
            },
        ),
    ],
    "clamp-numbers": [
        ("NaN is clamped", "clamp numbers", {"input.domain": "vectors(float, nan=True, size=3)"}),
        ("numbers come closer", "clamp numbers", {"bound": "1/2"}),
        ("another norm is bounded", "clamp numbers", {"output.metric": L1}),
        ("floats become integers", "clamp numbers", {"output.domain": "vectors(int, bounds=(0, 1), size=3)"}),
        ("coordinates vanish", "clamp numbers", {"output.domain": "vectors(float, bounds=(0.0, 0.5), size=1)"}),
    ],
    "count-of-rows": [
        ("the number of rows is not public", "count", {"parameters.size_is_public": True, "bound": "0"}),
        ("rows of a user count as one", "count", {"input.domain": TABLE, "input.metric": USERS}),
        ("a count is at most 1", "count", {"output.domain": "scalars(int, bounds=(0, 1))"}),
        ("numbers are counted", "count", {"input.metric": L1}),
        ("two rows move a count by one", "count", {"given": "2"}),
    ],
    "sum-of-added-rows": [
        ("rows are unbounded", "sum", {"input.domain": INTS}),
        ("the bounds are not those of rows", "sum", {"parameters.upper": "1", "parameters.lower": "0", "bound": "1"}),
        ("rows are replaced", "sum", {"input.metric": REPLACED}),
        ("the sum is bounded by a row", "sum", {"output.domain": "scalars(int, bounds=(-5, 240))"}),
        ("floats are added up", "sum", {"input.domain": "vectors(float, bounds=(-5.0, 240.0))"}),
        (
            "users have one row each",
            "sum",
            {"input.domain": "tables({'who': scalars(int, bounds=(-5, 240))})", "input.metric": USERS},
        ),
    ],
    "sum-of-replaced-rows": [
        ("the number of rows is not public", "sum sized", {"input.domain": "vectors(int, bounds=(-5, 240))"}),
        (
            "a replacement counts as two steps",
            "sum replaced",
            {"parameters.steps_per_change": "2", "bound": "0"},
        ),
        ("the bounds are not those of rows", "sum replaced", {"input.domain": INTS}),
        ("the larger end bounds the width", "sum replaced", {"bound": "240"}),
        ("the sum is bounded by a row", "sum replaced", {"output.domain": "scalars(int, bounds=(-5, 240))"}),
    ],
    "sum-of-floats": [
        ("the number of rows is not public", "sum floats", {"input.domain": "vectors(float, bounds=(-0.5, 100.0))"}),
        ("there are fewer rows", "sum floats", {"parameters.size": "1", "bound": f"{201 * 2**45 + 1}/{2**46}"}),
        ("roundings are forgotten", "sum floats", {"bound": "201/2"}),
        ("one row is NaN", "sum floats", {"input.domain": "vectors(float, nan=True, size=7)"}),
        ("the sum is an integer", "sum floats", {"output.domain": "scalars(int)"}),
        ("a replacement counts as two steps", "sum floats", {"parameters.steps_per_change": "2"}),
    ],
    "mean-of-replaced-rows": [
        ("there are more rows", "mean", {"parameters.size": "700", "bound": "1"}),
        ("the number of rows is not public", "mean", {"input.domain": "vectors(int, bounds=(-5, 240))"}),
        ("roundings are forgotten", "mean", {"bound": "35"}),
        ("a mean is an integer", "mean", {"output.domain": "scalars(int)"}),
        ("rows are wider than the bounds", "mean", {"input.domain": "vectors(int, bounds=(-500, 240), size=7)"}),
    ],
    "histogram-of-added-rows": [
        ("rows are replaced", "histogram", {"input.metric": REPLACED}),
        ("users have one row each", "histogram", {"input.domain": TABLE, "input.metric": USERS}),
        ("a bin holds one row", "histogram", {"output.domain": "vectors(int, bounds=(0, 1), size=2)"}),
        ("two rows move it by one", "histogram", {"given": "2"}),
        ("counts are text", "histogram", {"output.domain": "vectors(str, size=2)"}),
    ],
    "histogram-of-replaced-rows": [
        ("one bin moves", "histogram replaced", {"bound": "1"}),
        ("another norm is bounded", "histogram replaced", {"parameters.norm": "Linf", "bound": "1"}),
        ("the number of rows is not public", "histogram sized", {"input.domain": "vectors(int, bounds=(-5, 240))"}),
        (
            "a replacement counts as two steps",
            "histogram replaced",
            {"parameters.steps_per_change": "2", "bound": "0"},
        ),
        ("a bin holds one row", "histogram replaced", {"output.domain": "vectors(int, bounds=(0, 1), size=2)"}),
    ],
    "filter-of-added-rows": [
        ("text becomes bounded integers", "filter", {"input.domain": "vectors(str)", "output.domain": BITS}),
        ("all that is kept is small", "filter", {"output.domain": BITS}),
        ("what is kept has a public size", "filter", {"output.domain": "vectors(int, bounds=(-5, 240), size=7)"}),
        (
            "the size stays as it was",
            "filter",
            {
                "input.domain": "vectors(int, bounds=(-5, 240), size=7)",
                "output.domain": "vectors(int, bounds=(-5, 240), size=7)",
            },
        ),
        ("rows are replaced", "filter", {"input.metric": REPLACED, "output.metric": REPLACED}),
        ("the order of rows is kept where it is not looked at", "filter", {"output.metric": ORDERED}),
        (
            "users are of another table",
            "filter of users",
            {"output.domain": "tables({'who': scalars(int), 'age': scalars(int)})"},
        ),
        ("a user has one row", "filter of users", {"output.metric": ADDED}),
    ],
    "filter-of-replaced-rows": [
        ("what is kept has still the same size", "filter replaced", {"output.metric": REPLACED, "bound": "1"}),
        ("one replacement is one step", "filter replaced", {"bound": "1"}),
        (
            "what is kept has a public size",
            "filter replaced",
            {"output.domain": "vectors(int, bounds=(-5, 240), size=7)"},
        ),
        ("all that is kept is small", "filter replaced", {"output.domain": BITS}),
        ("text becomes bounded integers", "filter replaced", {"input.domain": "vectors(str, size=7)"}),
        ("order is kept where it is not looked at", "filter replaced", {"output.metric": ORDERED}),
        (
            "users are of another table",
            "filter of replaced users",
            {"output.domain": "tables({'who': scalars(int), 'age': scalars(int)})"},
        ),
        (
            "users are those of another column",
            "filter of replaced users",
            {"output.metric": "SymmetricIdDistance(id='age')"},
        ),
    ],
    "resize-of-added-rows": [
        ("unbounded rows become bounded", "resize", {"input.domain": INTS}),
        ("rows of text become integers", "resize", {"input.domain": "vectors(str)"}),
        ("a row moves one row", "resize", {"bound": "1"}),
        ("the order is that of the dataset", "resize", {"output.metric": ORDERED}),
        ("rows are replaced", "resize", {"input.metric": REPLACED, "output.metric": ADDED, "bound": "1"}),
        ("users are resized", "resize", {"input.metric": USERS, "output.metric": USERS}),
    ],
    "resize-of-replaced-rows": [
        ("unbounded rows become bounded", "resize replaced", {"input.domain": INTS}),
        ("rows are added", "resize replaced", {"input.metric": ADDED}),
        ("rows keep their place", "resize replaced", {"output.metric": PLACED}),
        (
            "rows are wider than what is kept",
            "resize replaced",
            {"output.domain": "vectors(int, bounds=(0, 1), size=3)"},
        ),
    ],
    "limit-of-added-users": [
        ("a user brings fewer rows", "limit", {"bound": "1"}),
        ("users are replaced", "limit", {"input.metric": USERS_REPLACED}),
        (
            "unbounded columns become bounded",
            "limit",
            {"output.domain": TABLE.replace("'age': scalars(int)", "'age': scalars(int, bounds=(0, 1))")},
        ),
        ("another table comes out", "limit", {"output.domain": "tables({'other': scalars(int, bounds=(0, 1))})"}),
        ("rows are replaced one for one", "limit", {"output.metric": REPLACED}),
        ("no column names users", "limit", {"input.metric": "SymmetricIdDistance(id='nobody')"}),
        ("rows are users", "limit", {"input.metric": ADDED}),
    ],
    "limit-of-replaced-users": [
        ("rows are replaced at half the price", "limit replaced", {"bound": "5"}),
        (
            "unbounded columns become bounded",
            "limit replaced",
            {"output.domain": TABLE.replace("'age': scalars(int)", "'age': scalars(int, bounds=(0, 1))")},
        ),
        ("a user keeps some rows more", "limit replaced", {"parameters.per_id": "50"}),
        ("the order of rows is kept where it is not looked at", "limit replaced", {"output.metric": ORDERED}),
    ],
    "quantile-scores": [
        ("a row moves scores by 1", "quantile", {"bound": "1"}),
        ("a row is replaced", "quantile", {"input.metric": REPLACED}),
        ("the number of rows is not public", "quantile", {"parameters.steps_per_change": "2", "bound": "0"}),
        ("scores together move as one does", "quantile", {"output.metric": L1}),
        ("users have one row each", "quantile", {"input.domain": TABLE, "input.metric": USERS}),
        ("scores are never far from 0", "quantile", {"output.domain": "vectors(int, bounds=(0, 1), size=3)"}),
        (
            "another quantile was asked for",
            "quantile replaced",
            {"parameters.denominator": "2", "parameters.numerator": "1"},
        ),
    ],
    "added-from-replaced": [
        ("to replace is one step", "replaced to added", {"bound": "1"}),
        ("norms are rows", "replaced to added", {"input.metric": L2, "output.metric": L1}),
        ("other rows come out", "replaced to added", {"output.domain": SIZED_BITS}),
        ("the order of rows is kept where it is not looked at", "replaced to added", {"output.metric": ORDERED}),
        (
            "users are those of another column",
            "users replaced to added",
            {"output.metric": "SymmetricIdDistance(id='age')"},
        ),
        ("users are rows", "users replaced to added", {"output.metric": ADDED}),
    ],
    "coarser-metric": [
        ("the finer metric is the coarser one", "ordered to added", {"input.metric": ADDED, "output.metric": ORDERED}),
        ("the larger norm is the smaller one", "L1 to L2", {"input.metric": L2, "output.metric": L1}),
        ("other rows come out", "ordered to added", {"output.domain": SIZED_BITS}),
        ("to replace is to add", "ordered to added", {"input.metric": REPLACED}),
        ("users are rows", "ordered to added", {"input.metric": USERS, "output.metric": ADDED}),
        ("numbers lose their bounds' width", "L1 to L2", {"output.domain": SIZED_BITS}),
    ],
    "replaced-from-added": [
        (
            "the number of rows is not public",
            "added to replaced",
            {"input.domain": "vectors(int, bounds=(-5, 240))", "output.domain": "vectors(int, bounds=(-5, 240))"},
        ),
        ("replacements are halves", "added to replaced", {"bound": "1/2"}),
        ("rows keep their place", "added to replaced", {"output.metric": PLACED}),
        ("other rows come out", "added to replaced", {"output.domain": SIZED_BITS}),
        ("four steps are one replacement", "added to replaced", {"given": "4"}),
    ],
    "norm-of-a-sized-vector": [
        ("there are fewer coordinates", "L2 to L1", {"parameters.size": "4", "bound": "2"}),
        (
            "the number of coordinates is not public",
            "L2 to L1",
            {"input.domain": "vectors(int, bounds=(-5, 240))", "output.domain": "vectors(int, bounds=(-5, 240))"},
        ),
        ("a root is taken of n", "Linf to L1", {"parameters.root": "2", "bound": "3"}),
        ("the root is rounded down", "L2 to L1", {"bound": LESS}),
        ("other numbers come out", "L2 to L1", {"output.domain": SIZED_BITS}),
    ],
    "rounding-to-a-grid": [
        ("the step is no power of two", "rounding", {"parameters.step": "1/3", "bound": "20"}),
        ("one number is rounded", "rounding", {"parameters.size": "1", "bound": "20"}),
        ("another norm is bounded", "rounding", {"parameters.norm": "2", "bound": "45/2"}),
        ("floats stay floats", "rounding", {"output.domain": "vectors(float, size=5)"}),
        ("fewer numbers come out", "rounding", {"output.domain": "vectors(int, size=1)"}),
        ("numbers are small", "rounding", {"output.domain": "vectors(int, bounds=(0, 1), size=5)"}),
    ],
    "units-one-by-one": [
        ("units with other rows come or go", "units replaced", {"output.metric": UNITS}),
        ("units are those of another column", "units", {"output.metric": "UnitDistance('user', by='k')"}),
        ("units are rows", "units", {"output.metric": ADDED}),
        ("units come closer", "units", {"bound": "0"}),
        ("units are in a vector", "units", {"output.domain": INTS}),
        (
            "a window of times is one time",
            "units replaced",
            {
                "input.metric": "UnitDistance('w-event', by='day', replaces=True, window=7)",
                "output.metric": "UnitDistance('event', by='day', replaces=True)",
            },
        ),
    ],
    "contributions-of-added-units": [
        ("units have other rows", "units", {"input.metric": UNITS_REPLACED}),
        ("one row of a unit counts", "units", {"bound": "10"}),
        ("the vector is bounded by a row", "units", {"output.domain": "vectors(int, bounds=(-3, 10), size=2)"}),
        ("two units bring as much as one", "units", {"given": "2"}),
        ("the upper end is the larger one", "units", {"parameters.lower": "-30"}),
        ("rows of a unit are not limited", "units", {"parameters.rows": "inf"}),
        ("units are rows", "units", {"input.domain": INTS, "input.metric": ADDED}),
    ],
    "contributions-of-replaced-units": [
        ("units come or go", "units replaced", {"bound": "223606797749979/10000000000000"}),
        ("the root is rounded down", "units replaced", {"bound": LESS}),
        ("another norm is bounded", "units replaced", {"output.metric": L1}),
        ("rows are not limited", "units replaced", {"parameters.rows": "inf", "parameters.per_group": "inf"}),
        (
            "the vector is bounded by a row",
            "units replaced",
            {"output.domain": "vectors(int, bounds=(-3, 10), size=2)"},
        ),
    ],
    "trusted-map": [
        ("nobody vouches for it", "own map", {"assumes": []}),
        ("it is derived", "own map", {"kind": "derived", "numbers": "exact"}),
        ("a distance is negative", "own map", {"bound": "-1"}),
        ("a loss is of another measure", "vouched", {"bound": {"measure": "zcdp", "rho": "1"}}),
        ("numbers are exact", "own map", {"numbers": "exact"}),
    ],
}
"""By slug: what is false, the genuine certificate, and what is changed in the first node of that theorem."""
