"""Forgeries of theorems on mechanisms: each says something that is false by the statement of the theorem."""

from tests.viameter_check.forgeries.forge import LESS
from tests.viameter_check.forgeries.transformations import (
    ADDED,
    INTS,
    L2,
    LINF,
    REPLACED,
    TABLE,
    UNITS_REPLACED,
    USERS,
    Forgery,
)

NOT_ONE = "scores of neighboring data do not all move in one direction (monotone=True)"
MAYBE = "it is not known whether scores move in one direction"


def monotone(name: str, measure: str, number: str, half: str) -> list[Forgery]:
    """That scores move in one direction is said by nobody, or in words that say something else."""
    return [
        ("nobody says that scores move in one direction", name, {"parameters.monotone": True, f"bound.{number}": half}),
        ("scores do not move in one direction", f"{name} monotone", {"assumes": [NOT_ONE]}),
        ("it is not known how scores move", f"{name} monotone", {"assumes": [MAYBE]}),
        ("scores move in any direction", f"{name} monotone", {"parameters.monotone": False}),
        ("rows are scores", name, {"input.domain": INTS, "input.metric": ADDED}),
        (f"it costs half in {measure}", name, {f"bound.{number}": half}),
    ]


FORGERIES: dict[str, list[Forgery]] = {
    "laplace-on-integers": [
        ("data are floats", "laplace", {"input.domain": "vectors(float, size=3)"}),
        ("numbers are close in L2", "laplace", {"input.metric": L2}),
        ("the loss is too small", "laplace", {"bound.epsilon": LESS}),
        ("no noise costs nothing", "laplace", {"parameters.scale": "0", "bound.epsilon": "0"}),
        ("rows are numbers", "laplace", {"input.domain": INTS, "input.metric": ADDED}),
        (
            "its range is bounded",
            "laplace",
            {"output.measure": "bounded-range", "bound": {"measure": "bounded-range", "eta": "1/3"}},
        ),
        ("less distance was given", "laplace", {"given": "2"}),
    ],
    "gaussian-on-integers": [
        ("data are floats", "gaussian", {"input.domain": "vectors(float, size=3)"}),
        ("numbers are close in Linf", "gaussian", {"input.metric": LINF}),
        ("the loss is too small", "gaussian", {"bound.rho": LESS}),
        ("it is pure", "gaussian", {"output.measure": "pure", "bound": {"measure": "pure", "epsilon": "1/3"}}),
        (
            "it is that of real Gaussians",
            "gaussian",
            {"output.measure": "gdp", "bound": {"measure": "gdp", "mu_squared": "1/9"}},
        ),
        ("twice the distance costs the same", "gaussian", {"given": "2"}),
    ],
    "smoothed-gaussian-on-integers": [
        ("data are floats", "smoothed", {"input.domain": "vectors(float, size=3)"}),
        ("numbers are close in Linf", "smoothed", {"input.metric": LINF}),
        ("the loss is too small", "smoothed", {"bound.mu_squared": LESS}),
        ("there are more integers than were said", "smoothed", {"input.domain": "vectors(int, size=4)"}),
        ("how many integers there are is not known", "smoothed", {"input.domain": "vectors(int)"}),
        ("nothing is smoothed, and nothing is lost by it", "smoothed", {"parameters.smoothing": "1/100"}),
        ("twice the distance costs the same", "smoothed", {"given": "2"}),
    ],
    "verified-program": [
        ("the loss is too small", "program", {"bound.epsilon": LESS}),
        ("twice the distance costs the same", "program", {"given": "4"}),
        ("a larger budget costs the same", "program", {"parameters.budgets": [["eps", "1"]]}),
        ("what the program requires does not hold", "program", {"parameters.public": [["n", "0"]]}),
        ("numbers are floats", "program", {"input.domain": "scalars(float)"}),
        ("there is no proof", "program", {"parameters.certificate": ""}),
    ],
    "laplace-on-a-grid": [
        ("one number is rounded", "laplace grid", {"parameters.size": "1", "bound.epsilon": "1/3"}),
        ("nothing is rounded", "laplace grid", {"bound.epsilon": "1/3"}),
        ("the step is no power of two", "laplace grid", {"parameters.step": "1/9", "bound.epsilon": "14/27"}),
        ("numbers are close in L2", "laplace grid", {"input.metric": L2}),
        ("the number of numbers is not public", "laplace grid", {"input.domain": "vectors(float)"}),
        ("one number is NaN", "laplace grid", {"input.domain": "vectors(float, nan=True, size=5)"}),
    ],
    "gaussian-on-a-grid": [
        ("one number is rounded", "gaussian grid", {"parameters.size": "1", "bound.rho": "1/18"}),
        ("nothing is rounded", "gaussian grid", {"bound.rho": "1/18"}),
        ("numbers are close in Linf", "gaussian grid", {"input.metric": LINF}),
        ("the step is no power of two", "gaussian grid", {"parameters.step": "1/9"}),
        ("the loss is too small", "gaussian grid", {"bound.rho": LESS}),
    ],
    "exponential-range": [
        *monotone("exponential", "range", "eta", "1/4"),
        (
            "the range is the pure loss",
            "exponential",
            {"output.measure": "pure", "bound": {"measure": "pure", "epsilon": "1/4"}},
        ),
    ],
    "noisy-max-exponential": [
        *monotone("noisy max", "pure", "epsilon", "1/4"),
        (
            "its range is bounded",
            "noisy max",
            {"output.measure": "bounded-range", "bound": {"measure": "bounded-range", "eta": "1/2"}},
        ),
    ],
    "noisy-max-laplace": [
        *monotone("noisy max laplace", "pure", "epsilon", "1/4"),
        ("scores are floats", "noisy max laplace", {"input.domain": "vectors(float, size=5)"}),
    ],
    "top-k-by-peeling": [
        *monotone("top", "pure", "epsilon", "3/4"),
        ("one pick is paid for", "top", {"bound.epsilon": "1/2"}),
        (
            "ranges add",
            "top",
            {
                "parameters.step": "exponential-range",
                "output.measure": "bounded-range",
                "bound": {"measure": "bounded-range", "eta": "3/2"},
            },
        ),
        (
            "exponential noise is concentrated",
            "top",
            {"output.measure": "zcdp", "bound": {"measure": "zcdp", "rho": "3/8"}},
        ),
    ],
    "randomized-response": [
        ("there are two answers", "response", {"parameters.answers": "2"}),
        ("the loss is too small", "response", {"bound.epsilon": LESS}),
        ("answers may be added", "responses", {"input.metric": ADDED}),
        ("answers may change place", "responses", {"input.metric": REPLACED}),
        ("the truth is told", "response", {"parameters.probability": "1"}),
        ("an answer is any text", "response", {"input.domain": "scalars(str)"}),
        ("a single answer is told less often than not", "response", {"parameters.probability": "1/100"}),
    ],
    "thresholded-keys": [
        ("rows are replaced", "keys", {"input.metric": REPLACED}),
        ("delta is too small", "keys", {"bound.delta": LESS}),
        ("no new key is shown", "keys", {"bound.delta": "0"}),
        ("users have one row each", "keys", {"input.domain": TABLE, "input.metric": USERS}),
        ("two rows cost as one", "keys", {"given": "2"}),
        ("the threshold is lower", "keys", {"parameters.threshold": "3"}),
    ],
    "thresholded-keys-of-units": [
        ("units have other rows", "found", {"input.metric": UNITS_REPLACED}),
        ("units come or go", "found replaced", {"parameters.replaced": False, "bound.epsilon": "1/20"}),
        ("units come or go, says the metric", "found replaced", {"parameters.replaced": False}),
        ("delta is too small", "found", {"bound.delta": LESS}),
        ("a unit counts more in one key than in all", "found", {"parameters.each": "4"}),
        ("a unit counts in more keys", "found", {"parameters.total": "30"}),
        ("rows are units", "found", {"input.domain": "vectors(str)", "input.metric": ADDED}),
        ("delta is left out", "found", {"output.measure": "pure", "bound": {"measure": "pure", "epsilon": "1/10"}}),
    ],
    "gaussian-thresholded-keys-of-units": [
        ("units have other rows", "found gaussian", {"input.metric": UNITS_REPLACED}),
        ("units come or go, says the metric", "found gaussian replaced", {"parameters.replaced": False}),
        ("rho is too small", "found gaussian", {"bound.rho": LESS}),
        ("delta is too small", "found gaussian", {"bound.delta": LESS}),
        (
            "it is approximate",
            "found gaussian",
            {"output.measure": "approx", "bound": {"measure": "approx", "epsilon": "1/10", "delta": "1/1000000"}},
        ),
        ("rows are units", "found gaussian", {"input.domain": "vectors(str)", "input.metric": ADDED}),
    ],
    "quantile-picks-of-units": [
        ("units have other rows", "picked", {"input.metric": UNITS_REPLACED}),
        ("units are added, and rows leave one group for another", "picked replaced", {"parameters.replaced": False}),
        ("there is one group", "picked replaced", {"parameters.keys": "1", "bound.epsilon": "1/20"}),
        ("rows of a unit are not limited", "picked", {"parameters.rows": "inf"}),
        ("scores move half as far", "picked", {"bound.epsilon": "1/20"}),
        ("a smaller quantile is as near", "picked", {"parameters.numerator": "0"}),
        ("it costs no more for two units", "picked zcdp", {"given": "2"}),
        ("rho is too small", "picked zcdp", {"bound.rho": LESS}),
        ("picks by exponential noise have a range", "picked zcdp", {"parameters.step": "noisy-max-exponential"}),
    ],
    "top-keys-of-added-units": [
        ("units have other rows", "ranked", {"input.metric": UNITS_REPLACED}),
        ("one pick is paid for", "ranked", {"bound.epsilon": "1/20"}),
        ("rows of a unit are not limited", "ranked", {"parameters.rows": "inf"}),
        (
            "ranges add",
            "ranked",
            {
                "parameters.step": "exponential-range",
                "output.measure": "bounded-range",
                "bound": {"measure": "bounded-range", "eta": "1/10"},
            },
        ),
        ("a loss of ranges is pure", "ranked zcdp", {"parameters.step": "noisy-max-exponential"}),
        ("rows are units", "ranked", {"input.domain": "vectors(str)", "input.metric": ADDED}),
    ],
    "sparse-vector": [
        ("data are further apart", "sparse", {"given": "3"}),
        ("one yes is paid for", "sparse", {"bound.epsilon": "3/2"}),
        ("the threshold is free", "sparse", {"bound.epsilon": "9/4"}),
        ("queries differ by more", "sparse", {"parameters.sensitivity": "9"}),
        ("values cost nothing", "sparse", {"parameters.limit": "0", "bound.epsilon": "0"}),
        ("a measure of its own", "sparse", {"output.measure": "zcdp", "bound": {"measure": "zcdp", "rho": "1/2"}}),
    ],
    "recorded-loss": [
        ("beyond what was recorded", "resumed", {"given": "6"}),
        ("the loss of fewer steps", "resumed", {"given": "2"}),
        ("nobody vouches for the record", "resumed", {"assumes": []}),
        ("it is derived", "resumed", {"kind": "derived", "numbers": "exact"}),
        ("less was recorded", "resumed", {"bound.rho": LESS}),
        (
            "another measure was recorded",
            "resumed",
            {"bound": {"measure": "pure", "epsilon": "1/100"}, "output.measure": "pure"},
        ),
    ],
}
"""By slug: what is false, the genuine certificate, and what is changed in the first node of that theorem."""
