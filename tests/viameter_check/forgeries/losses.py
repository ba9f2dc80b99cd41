"""Forgeries of theorems on losses (conversions, group laws, compositions): each is false by the theorem's statement."""

from typing import Any

from tests.viameter_check.forgeries.forge import GONE, LESS
from tests.viameter_check.forgeries.transformations import ADDED, REPLACED, Forgery


def pure(epsilon: str) -> dict[str, Any]:
    return {"measure": "pure", "epsilon": epsilon}


def approx(epsilon: str, delta: str) -> dict[str, Any]:
    return {"measure": "approx", "epsilon": epsilon, "delta": delta}


def zcdp(rho: str) -> dict[str, Any]:
    return {"measure": "zcdp", "rho": rho}


def ranged(eta: str) -> dict[str, Any]:
    return {"measure": "bounded-range", "eta": eta}


def approx_zcdp(rho: str, delta: str) -> dict[str, Any]:
    return {"measure": "approx-zcdp", "rho": rho, "delta": delta}


def renyi(**orders: str) -> dict[str, Any]:
    return {"measure": "renyi", "orders": {name.lstrip("_"): value for name, value in orders.items()}}


def gdp(mu_squared: str) -> dict[str, Any]:
    return {"measure": "gdp", "mu_squared": mu_squared}


def vouched(loss: dict[str, Any]) -> dict[str, Any]:
    """The edits by which the loss below is another one, and so given."""
    kind = loss["measure"]
    return {
        "premises.0.bound": loss,
        "premises.0.output.measure": kind,
        "input.measure": kind,
        "given": loss,
    }


def conversion(slug: str, *numbers: str, wrong: dict[str, Any]) -> list[Forgery]:
    """A number that is too small, what is not below, another measure below, and data that are further apart."""
    return [
        *((f"{number} is too small", slug, {f"bound.{number}": LESS}) for number in numbers),
        ("another loss is below", slug, {"premises.0.bound": wrong, "premises.0.output.measure": wrong["measure"]}),
        ("another measure is converted", slug, vouched(wrong)),
        ("nothing is below", slug, {"premises": []}),
    ]


def smaller(slug: str, sample: str, *numbers: str) -> list[Forgery]:
    return [(f"{number} is too small", sample, {f"bound.{number}": LESS}) for number in numbers]


CONVERSIONS: dict[str, list[Forgery]] = {
    "pure-to-zcdp": conversion("pure-to-zcdp", "rho", wrong=approx("1/3", "1/10")),
    "pure-to-zcdp-quadratic": conversion("pure-to-zcdp-quadratic", "rho", wrong=approx("1/3", "1/10")),
    "pure-to-approx-zcdp": conversion("pure-to-approx-zcdp", "rho", wrong=approx("1/3", "1/10")),
    "pure-to-bounded-range": [
        *conversion("pure-to-bounded-range", "eta", wrong=zcdp("1/3")),
        ("a range is a pure loss", "pure-to-bounded-range", {"bound.eta": "1/3"}),
    ],
    "pure-is-renyi": [
        *conversion("pure-is-renyi", wrong=zcdp("1/3")),
        ("the loss is too small", "pure-is-renyi", {"bound": renyi(inf="1/4")}),
        ("another order has less", "pure-is-renyi", {"bound": renyi(_2="1/1000", inf="1/3")}),
    ],
    "pure-to-renyi": [
        *conversion("pure-to-renyi", "orders.2", "orders.64", wrong=approx("1/3", "1/10")),
        ("an order is 1", "pure-to-renyi", {"parameters.order": ["1"], "bound": renyi(_1="0")}),
        ("the bound of order 2 is that of 64", "pure-to-renyi", {"bound": renyi(_2="1/100", _64="1/100")}),
    ],
    "pure-is-approx": [
        *conversion("pure-is-approx", "epsilon", wrong=zcdp("1/3")),
        ("a delta is negative", "pure-is-approx", {"bound.delta": "-1/10"}),
    ],
    "pure-to-approx": [
        *conversion("pure-to-approx", "epsilon", wrong=zcdp("1/3")),
        ("a delta of 0 has less", "pure-to-approx", {"parameters.delta": "0", "bound.delta": "0"}),
        ("it holds at a smaller delta", "pure-to-approx", {"bound.delta": "1/1000000"}),
    ],
    "pure-to-approx-at-epsilon": [
        *conversion("pure-to-approx-at-epsilon", "delta", wrong=zcdp("1/3")),
        ("it holds at epsilon 0", "pure-to-approx-at-epsilon", {"bound.epsilon": "0", "parameters.epsilon": "0"}),
        ("epsilon is negative", "pure-to-approx-at-epsilon", {"bound.epsilon": "-1", "parameters.epsilon": "-1"}),
    ],
    "approx-is-pure": [
        *conversion("approx-is-pure", "epsilon", wrong=zcdp("1/3")),
        ("a delta is forgotten", "approx-is-pure", vouched(approx("1/3", "1/1000000"))),
    ],
    "approx-at-larger-delta": [
        *conversion("approx-at-larger-delta", "epsilon", wrong=zcdp("1/3")),
        (
            "delta is smaller than that of the loss",
            "approx-at-larger-delta",
            {"parameters.delta": "1/1000", "bound": approx("1", "1/1000")},
        ),
        ("it holds at a smaller delta", "approx-at-larger-delta", {"bound.delta": "1/20"}),
    ],
    "approx-at-other-epsilon": [
        *conversion("approx-at-other-epsilon", "delta", wrong=zcdp("1/3")),
        ("delta stays", "approx-at-other-epsilon", {"bound.delta": "1/100"}),
        ("epsilon is smaller", "approx-at-other-epsilon", {"bound.epsilon": "1/20"}),
    ],
    "approx-to-approx-zcdp": [
        *conversion("approx-to-approx-zcdp", "rho", "delta", wrong=zcdp("1/3")),
        (
            "delta is forgotten",
            "approx-to-approx-zcdp",
            {"output.measure": "zcdp", "bound": zcdp("1/2")},
        ),
    ],
    "approx-to-approx-zcdp-quadratic": [
        *conversion("approx-to-approx-zcdp-quadratic", "rho", "delta", wrong=zcdp("1/3")),
        ("delta is forgotten", "approx-to-approx-zcdp-quadratic", {"bound.delta": "0"}),
    ],
    "approx-zcdp-is-zcdp": [
        *conversion("approx-zcdp-is-zcdp", "rho", wrong=approx("1/3", "0")),
        ("delta is forgotten", "approx-zcdp-is-zcdp", vouched(approx_zcdp("1/3", "1/1000000"))),
    ],
    "approx-zcdp-to-approx": [
        *conversion("approx-zcdp-to-approx", "epsilon", wrong=zcdp("1/3")),
        (
            "its own delta is enough",
            "approx-zcdp-to-approx",
            {"parameters.delta": "1/1000", "bound.delta": "1/1000"},
        ),
        ("its own delta is forgotten", "approx-zcdp-to-approx", vouched(approx_zcdp("1/3", "1/101"))),
    ],
    "approx-zcdp-to-approx-at-epsilon": [
        *conversion("approx-zcdp-to-approx-at-epsilon", "delta", wrong=zcdp("1/3")),
        ("its own delta is forgotten", "approx-zcdp-to-approx-at-epsilon", vouched(approx_zcdp("1/3", "1/10"))),
    ],
    "bounded-range-is-pure": [
        *conversion("bounded-range-is-pure", "epsilon", wrong=zcdp("1/3")),
        ("half of the range is enough", "bounded-range-is-pure", {"bound.epsilon": "1/6"}),
    ],
    "bounded-range-to-approx": [
        *conversion("bounded-range-to-approx", "epsilon", wrong=zcdp("1/3")),
        ("it is pure at a smaller loss", "bounded-range-to-approx", {"parameters.delta": "0", "bound.delta": "0"}),
    ],
    "bounded-range-to-approx-at-epsilon": conversion("bounded-range-to-approx-at-epsilon", "delta", wrong=zcdp("1/3")),
    "bounded-range-to-zcdp": [
        *conversion("bounded-range-to-zcdp", "rho", wrong=pure("1/3")),
        ("a pure loss is a range", "bounded-range-to-zcdp", vouched(pure("1/3"))),
    ],
    "bounded-range-to-zcdp-sharp": conversion("bounded-range-to-zcdp-sharp", "rho", wrong=pure("1/3")),
    "gdp-to-zcdp": conversion("gdp-to-zcdp", "rho", wrong=zcdp("1/100")),
    "gdp-to-renyi": [
        *conversion("gdp-to-renyi", "orders.2", "orders.3", wrong=zcdp("1/9")),
        (
            "it is bounded at infinite order",
            "gdp-to-renyi",
            {"parameters.order": ["2", "inf"], "bound": renyi(_2="1/9", inf="1")},
        ),
    ],
    "gdp-to-approx": [
        *conversion("gdp-to-approx", "epsilon", wrong=zcdp("1/18")),
        ("it is pure", "gdp-to-approx", {"parameters.delta": "0", "bound.delta": "0"}),
    ],
    "gdp-to-approx-at-epsilon": [
        *conversion("gdp-to-approx-at-epsilon", "delta", wrong=zcdp("1/18")),
        ("it holds at epsilon 0", "gdp-to-approx-at-epsilon", {"parameters.epsilon": "0", "bound.epsilon": "0"}),
    ],
    "profile-to-approx": [
        *conversion("profile-to-approx", "epsilon", wrong=approx("3", "1/9")),
        ("the profile is larger at 1", "profile-to-approx", {"bound.epsilon": "1"}),
        (
            "the profile never comes down so far",
            "profile-to-approx",
            {"parameters.delta": "1/65", "bound.delta": "1/65"},
        ),
    ],
    "profile-to-approx-at-epsilon": [
        *conversion("profile-to-approx-at-epsilon", "delta", wrong=approx("3", "1/9")),
        ("the profile is larger before 3", "profile-to-approx-at-epsilon", {"bound.delta": "1/64"}),
        (
            "before 1 nothing is known",
            "profile-to-approx-at-epsilon",
            {"parameters.epsilon": "1/2", "bound.epsilon": "1/2"},
        ),
    ],
    "renyi-is-pure": [
        *conversion("renyi-is-pure", "epsilon", wrong=zcdp("1/3")),
        ("no infinite order is bounded", "renyi-is-pure", vouched(renyi(_2="1/9", _1000="1/3"))),
        ("order 2 bounds all", "renyi-is-pure", {"bound.epsilon": "1/9"}),
    ],
    "renyi-to-approx": [
        *conversion("renyi-to-approx", "epsilon", wrong=zcdp("1/3")),
        ("it is pure", "renyi-to-approx", {"parameters.delta": "0", "bound.delta": "0"}),
        ("an order that is not below", "renyi-to-approx", {"given": renyi(_2="1/9", _8="1/3", _100="1/3")}),
    ],
    "renyi-to-approx-at-epsilon": [
        *conversion("renyi-to-approx-at-epsilon", "delta", wrong=zcdp("1/3")),
        ("it holds at epsilon 0", "renyi-to-approx-at-epsilon", {"parameters.epsilon": "0", "bound.epsilon": "0"}),
    ],
    "zcdp-is-approx-zcdp": [
        *conversion("zcdp-is-approx-zcdp", "rho", wrong=approx_zcdp("1/3", "1/9")),
        ("a delta is negative", "zcdp-is-approx-zcdp", {"bound.delta": "-1"}),
    ],
    "zcdp-to-renyi": [
        *conversion("zcdp-to-renyi", "orders.2", "orders.9", wrong=approx_zcdp("1/3", "1/9")),
        (
            "it is bounded at infinite order",
            "zcdp-to-renyi",
            {"parameters.order": ["2", "inf"], "bound": renyi(_2="2/3", inf="100")},
        ),
    ],
    "zcdp-to-approx": [
        *conversion("zcdp-to-approx", "epsilon", wrong=approx_zcdp("1/3", "1/9")),
        ("it is pure", "zcdp-to-approx", {"parameters.delta": "0", "bound.delta": "0"}),
        ("it holds at a smaller delta", "zcdp-to-approx", {"bound.delta": "1/1000000"}),
    ],
    "zcdp-to-approx-at-epsilon": [
        *conversion("zcdp-to-approx-at-epsilon", "delta", wrong=approx_zcdp("1/3", "1/9")),
        ("it holds at epsilon 0", "zcdp-to-approx-at-epsilon", {"parameters.epsilon": "0", "bound.epsilon": "0"}),
    ],
    "same-measure": [
        ("less than itself", "same", {"bound.epsilon": LESS}),
        ("itself in another measure", "same", {"output.measure": "zcdp", "bound": zcdp("1/10")}),
        ("nothing is below", "same", {"premises": []}),
        ("its range", "same", {"output.measure": "bounded-range", "bound": ranged("1/10")}),
    ],
    "post-processing": [
        ("the loss is less", "post", {"bound.rho": LESS}),
        ("it is in another measure", "post", {"output.measure": "pure", "bound": pure("1/2")}),
        ("nothing is below", "post", {"premises": []}),
        ("another loss is below", "post", {"premises.0.bound": zcdp("1")}),
    ],
}


def group(slug: str, *numbers: str, one: dict[str, Any]) -> list[Forgery]:
    """The loss of one step for three, a number that is too small, steps that are none, and no step below."""
    return [
        *((f"{number} is too small", slug, {f"bound.{number}": LESS}) for number in numbers),
        ("three steps cost as one", slug, {"bound": one}),
        ("four steps cost as three", slug, {"given": "4"}),
        ("below is no step", slug, {"premises.0.given": "0"}),
        ("below is another metric", slug, {"premises.0.input.metric": ADDED, "input.metric": "L2Distance()"}),
        ("below are other data", slug, {"premises.0.input.domain": "vectors(str)"}),
        ("below is another loss", slug, {"premises.0.bound": {**one, **_more(one)}}),
        ("distances count no steps", slug, {"premises.0.input.metric": "L2Distance()", "input.metric": "L2Distance()"}),
    ]


def _more(loss: dict[str, Any]) -> dict[str, Any]:
    """The same loss, ten times as large."""
    if loss["measure"] == "renyi":
        return {"orders": dict.fromkeys(loss["orders"], "30")}
    return {name: "9/10" if name == "delta" else "30" for name in loss if name != "measure"}


GROUPS: dict[str, list[Forgery]] = {
    "group-pure": group("group-pure", "epsilon", one=pure("1/10")),
    "group-approx": [
        *group("group-approx", "epsilon", "delta", one=approx("1/10", "1/1000000000")),
        ("deltas add", "group-approx", {"bound.delta": "3/1000000000"}),
    ],
    "group-zcdp": [
        *group("group-zcdp", "rho", one=zcdp("1/7")),
        ("losses add", "group-zcdp", {"bound.rho": "3/7"}),
    ],
    "group-gdp": [
        *group("group-gdp", "mu_squared", one=gdp("1/9")),
        ("squares add", "group-gdp", {"bound.mu_squared": "1/3"}),
    ],
    "group-bounded-range": group("group-bounded-range", "eta", one=ranged("1/3")),
    "group-renyi": [
        *group("group-renyi", one=renyi(_2="1/10", _4="1/5", _7="1", inf="3")),
        ("losses add at each order", "group-renyi", {"bound": renyi(_2="3/10", _4="3/5", _7="3", inf="9")}),
    ],
    "group-ends": [
        ("two steps cost as one", "group-ends", {"given": "2"}),
        ("one step costs nothing", "group-ends", {"bound": approx_zcdp("0", "0")}),
        ("one step costs less", "group-ends", {"bound.rho": LESS}),
        ("below is another loss", "group-ends", {"premises.0.bound": approx_zcdp("30", "1/9")}),
        ("below are other data", "group-ends", {"premises.0.input.domain": "vectors(str)"}),
        ("infinitely many steps cost as one", "group-ends", {"given": "inf"}),
    ],
}


def composition(sample: str, *numbers: str, measure: str) -> list[Forgery]:
    """A sum that is too small, a part that is left out, other data, another distance, another measure."""
    return [
        *((f"{number} is too small", sample, {f"bound.{number}": LESS}) for number in numbers),
        ("one is left out", sample, {"premises.1": GONE}),
        ("one stands for many", sample, {"premises.1.times": "1000"}),
        ("one is left out of the sum", sample, {"given.1": GONE}),
        ("one is of other data", sample, {"premises.1.input.domain": "vectors(str)"}),
        ("one is of other neighbors", sample, {"premises.1.input.metric": REPLACED}),
        ("one is for other distances", sample, {"premises.1.given": "0"}),
        (f"one is not in {measure}", sample, {"premises.1.output.measure": "profile"}),
    ]


FILTERED: dict[str, Any] = {
    "kind": "derived",
    "subject": "filter",
    "theorem": "privacy-filter",
    "numbers": "exact",
    "parameters": {"at": "1", "budget": pure("1/4")},
    "input": {"domain": "vectors(int)", "metric": ADDED},
    "output": {"measure": "pure"},
    "given": "1",
    "bound": pure("1/4"),
    "assumes": [],
    "premises": [],
}
"""A queryable that answers as long as a budget of pure(1/4) lasts."""
ADAPTIVE: dict[str, Any] = {
    **FILTERED,
    "theorem": "adaptive-composition",
    "numbers": "outward",
    "parameters": {"at": "1", "losses": [pure("1/4")], "measure": "pure"},
}
SPARSE: dict[str, Any] = {
    **FILTERED,
    "theorem": "sparse-vector",
    "parameters": {"at": "1", "sensitivity": "1", "threshold_scale": "8", "scale": "16", "limit": "1"},
}


def as_range(node: dict[str, Any]) -> dict[str, Any]:
    """A queryable with a pure loss of 1/4, as one with a range of 1/2."""
    return {
        **FILTERED,
        "theorem": "pure-to-bounded-range",
        "parameters": {},
        "input": {"measure": "pure"},
        "output": {"measure": "bounded-range"},
        "given": pure("1/4"),
        "bound": ranged("1/2"),
        "premises": [node],
    }


INTERACTIVE: list[Forgery] = [
    ("a filter is no one-shot mechanism", "both ranges", {"premises.1": as_range(FILTERED)}),
    ("an adaptive composition is no one-shot mechanism", "both ranges", {"premises.1": as_range(ADAPTIVE)}),
    ("sparse vector is no one-shot mechanism", "both ranges", {"premises.0": as_range(SPARSE)}),
]

COMPOSITIONS: dict[str, list[Forgery]] = {
    "pure-composition": composition("both pure", "epsilon", measure="pure"),
    "approx-composition": [
        *composition("both approx", "epsilon", "delta", measure="approx"),
        ("the larger delta is enough", "both approx", {"bound.delta": "1/100"}),
    ],
    "zcdp-composition": composition("both zcdp", "rho", measure="zcdp"),
    "approx-zcdp-composition": composition("both approx zcdp", "rho", "delta", measure="approx-zcdp"),
    "gdp-composition": composition("both gdp", "mu_squared", measure="gdp"),
    "renyi-composition": [
        *composition("both renyi", "orders.2", "orders.5", measure="renyi"),
        ("an order is bounded that none bounds", "both renyi", {"bound": renyi(_2="1", _5="2", _9="1")}),
    ],
    "bounded-range-composition": [*composition("both ranges", "eta", measure="bounded-range"), *INTERACTIVE],
    "trusted-composition": [
        ("nobody says that losses add", "both variation", {"assumes": []}),
        ("it is derived", "both variation", {"kind": "derived", "numbers": "exact"}),
        ("the sum is too small", "both variation", {"bound.amount": LESS}),
        ("one is left out", "both variation", {"premises.1": GONE}),
        ("one is of other data", "both variation", {"premises.1.input.domain": "vectors(str)"}),
    ],
    "batch-composition": [
        ("it costs less than its parts", "batch", {"bound.epsilon": LESS}),
        ("it is of other data", "batch", {"input.domain": "vectors(str)"}),
        ("it is for other distances", "batch", {"given": "2"}),
        ("it is of other neighbors", "batch", {"input.metric": REPLACED}),
        ("nothing is below", "batch", {"premises": []}),
        (
            "a filter is no one-shot mechanism",
            "both ranges",
            {"premises.0.premises.1": as_range(FILTERED)},
        ),
        ("it is in another measure", "batch", {"output.measure": "zcdp", "bound": zcdp("1")}),
        ("ranges add where parts are chosen by answers", "both ranges", {"theorem": "fully-adaptive-odometer"}),
    ],
    "fully-adaptive-odometer": [
        ("it costs less than its parts", "meter", {"bound.epsilon": LESS}),
        ("it is of other data", "meter", {"input.domain": "vectors(str)"}),
        ("it is for other distances", "meter", {"given": "2"}),
        ("nothing was asked", "meter", {"premises": [], "bound.epsilon": "0"}),
        ("it is in another measure", "meter", {"output.measure": "zcdp", "bound": zcdp("1/10")}),
    ],
    "adaptive-composition": [
        ("data are further apart", "adaptive", {"given": "3"}),
        ("fewer are paid for", "adaptive", {"bound.epsilon": "1/5"}),
        (
            "ranges add adaptively",
            "adaptive",
            {
                "parameters.losses": [ranged("1/10"), ranged("1/5")],
                "parameters.measure": "bounded-range",
                "output.measure": "bounded-range",
                "bound": ranged("3/10"),
            },
        ),
        ("losses are of another measure", "adaptive", {"parameters.losses": [zcdp("1/10"), zcdp("1/5")]}),
        (
            "profiles add adaptively",
            "adaptive",
            {
                "parameters.losses": [],
                "parameters.measure": "profile",
                "output.measure": "profile",
                "bound": {"measure": "profile", "epsilons": {"0": "0"}},
            },
        ),
        (
            "an infinite loss was fixed",
            "adaptive",
            {"parameters.losses": [pure("inf")], "bound": pure("1")},
        ),
    ],
    "privacy-filter": [
        ("data are further apart", "filter of losses", {"given": "3"}),
        ("less than the budget", "filter of losses", {"bound.rho": LESS}),
        (
            "ranges add fully adaptively",
            "filter of losses",
            {"parameters.budget": ranged("1/2"), "output.measure": "bounded-range", "bound": ranged("1/2")},
        ),
        (
            "profiles add fully adaptively",
            "filter of losses",
            {
                "parameters.budget": {"measure": "profile", "epsilons": {"1": "1/9"}},
                "output.measure": "profile",
                "bound": {"measure": "profile", "epsilons": {"1": "1/9"}},
            },
        ),
        (
            "the budget is infinite",
            "filter of losses",
            {"parameters.budget": zcdp("inf"), "bound": zcdp("inf")},
        ),
        ("a budget of another measure", "filter of losses", {"parameters.budget": pure("1/2")}),
    ],
    "concentrated-filter": [
        ("data are further apart", "concentrated filter", {"given": "3"}),
        ("less than the budget", "concentrated filter", {"bound.epsilon": LESS}),
        ("no slack", "concentrated filter", {"parameters.slack": "0"}),
        ("more slack than delta", "concentrated filter", {"parameters.slack": "1/2"}),
        ("it is pure", "concentrated filter", {"bound.delta": "0", "parameters.budget": approx("1", "0")}),
    ],
    "advanced-filter": [
        ("data are further apart", "advanced filter", {"given": "3"}),
        ("less than the budget", "advanced filter", {"bound.epsilon": LESS}),
        ("no slack", "advanced filter", {"parameters.slack": "0"}),
        ("more slack than delta", "advanced filter", {"parameters.slack": "1/2"}),
        ("it is pure", "advanced filter", {"output.measure": "pure", "bound": pure("1")}),
    ],
    "chain": [
        (
            "a step is left out and its bounds are kept",
            "chain",
            {"premises.0": GONE, "premises.0.input.domain": "vectors(int)"},
        ),
        (
            "a step starts from less than the one before gave",
            "chain",
            {"premises.2.given": "120", "premises.2.bound": pure("1/20"), "bound": pure("1/20")},
        ),
        ("it costs less than the last step", "chain", {"bound.epsilon": LESS}),
        ("it starts further away", "chain", {"given": "2"}),
        ("it starts with other data", "chain", {"input.domain": "vectors(str)"}),
        ("it ends in another measure", "chain", {"output.measure": "zcdp", "bound": zcdp("1/10")}),
        (
            "steps do not fit",
            "chain",
            {
                "premises.1.input.domain": "vectors(int, bounds=(0, 24))",
                "premises.1.parameters.upper": "24",
                "premises.1.bound": "24",
                "premises.2.given": "24",
                "premises.2.bound": pure("1/100"),
                "bound": pure("1/100"),
            },
        ),
        ("nothing is below", "chain", {"premises": []}),
    ],
}

FORGERIES = {**CONVERSIONS, **GROUPS, **COMPOSITIONS}
"""By slug: what is false, the genuine certificate, and what is changed in the first node of that theorem."""
