"""What the stability of a question over a table rests on: units one by one, and what a unit contributes at most."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended, dyadic, times
from viameter.theorem import Numbers, theorem

WILSON = "Wilson et al. 2020 (Differentially Private SQL with Bounded User Contribution)"


@theorem("units-one-by-one", cites="McSherry 2009, Section 2.4 (stability of Select and Where); " + WILSON)
def units_one_by_one(d_in: Extended) -> Extended:
    """What is done with each unit's rows alone moves tables no further apart.

    Theorem
        Let F take a table to a table whose rows are attributed to units, and let the rows of a unit in F(x) depend on
        the rows of this unit in x and on public values only. If x' differs from x in the rows of d_in units, so does
        F(x') from F(x), or of fewer.
    Requires
        Filters and derived columns look at one row and fail on none. A join with a private table is on the unit, one
        with a public table on any columns. Rows are sampled by a hash of their unit and a salt that is drawn
        independently of the data.
    Ensures
        The bound is d_in.
    Proof
        A unit whose rows are the same in x and x' has the same rows in F(x) and F(x'). For each value of the salt this
        holds, and the salt has the same distribution on both sides.
    Example
        >>> units_one_by_one(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


def largest_square(rows: Extended, groups: Extended, per_group: Extended) -> Extended:
    """The largest sum of squares of numbers of rows: at most `rows` in all, in so many groups, so many in each.

    >>> largest_square(Fraction(20), INFINITY, Fraction(3)), largest_square(Fraction(5), Fraction(1), INFINITY)
    (Fraction(58, 1), Fraction(25, 1))
    """
    most = min(rows, per_group)
    if most == INFINITY:
        return INFINITY
    most = Fraction(most)
    if rows == INFINITY:
        return INFINITY if groups == INFINITY else Fraction(groups) * most**2
    # Squares are convex: full groups first, and what is left in one more.
    full = min(groups, Fraction(rows) // most) if most else ZERO
    left = ZERO if full == groups else Fraction(rows) - Fraction(full) * most
    return Fraction(full) * most**2 + Fraction(left) ** 2


def most_rows(rows: Extended, groups: Extended, per_group: Extended) -> Extended:
    """How many rows a unit has at most, in all groups together."""
    if INFINITY in (groups, per_group):
        return rows
    return min(rows, Fraction(groups) * Fraction(per_group))


@theorem("contributions-of-added-units", cites=f"{WILSON}; the L2 norm derived here", numbers=Numbers.OUTWARD)
def contributions_of_added_units(
    d_in: Extended,
    *,
    lower: Fraction,
    upper: Fraction,
    rows: Extended,
    groups: Extended,
    per_group: Extended,
    norm: str,
) -> Extended:
    """Sums by group change by what the rows kept of a unit add up to, for each unit that is added or removed.

    Theorem
        Let F keep rows of each unit, at most R of them in at most G groups with at most P in each, and give the vector
        of the sums, by group (and cell of a group), of integers in [lower, upper] that the kept rows have. Let M =
        max(|lower|, |upper|). If x' is x with d_in units added or removed, F(x) and F(x') are at most d_in M min(R, G
        P) apart in L1 norm, d_in M sqrt(S) in L2 norm and d_in M min(R, P) in the largest coordinate, S being the
        largest sum of squares of at most G whole numbers up to P that add up to at most R.
    Requires
        Which rows of a unit are kept depends on that unit's rows (and a salt that is independent of the data) alone. A
        kept row counts in one cell. Sums are those of the integers: they are added up in types that cannot overflow,
        and stop at the ends of 62 bits, which brings two sums no further apart.
    Ensures
        The bound is that distance; the root is rounded up.
    Proof
        Other units' kept rows are the same. The rows kept of one unit add a vector whose coordinates of a group have
        absolute values that add up to at most M n_g, with n_g <= P for at most G groups and sum n_g <= R. Its L1 norm
        is at most M sum n_g, its L2 norm at most M sqrt(sum n_g^2). Sums of squares are convex, so that the largest
        fills groups up one after the other. Add up over units by the triangle inequality.
    Example
        >>> limits = {"rows": Fraction(20), "groups": Fraction(2), "per_group": Fraction(3)}
        >>> contributions_of_added_units(Fraction(1), lower=Fraction(-5), upper=Fraction(4), **limits, norm="L1")
        Fraction(30, 1)
    """
    largest = max(abs(lower), abs(upper))
    return times(largest, times(_norm_of_rows(rows, groups, per_group, norm), d_in))


@theorem("contributions-of-replaced-units", cites=f"{WILSON}; replaced units derived here", numbers=Numbers.OUTWARD)
def contributions_of_replaced_units(
    d_in: Extended,
    *,
    lower: Fraction,
    upper: Fraction,
    rows: Extended,
    groups: Extended,
    per_group: Extended,
    norm: str,
    cells: int | None = None,
) -> Extended:
    """Sums by group change by what a unit's rows took away and brought, for each unit whose rows are others.

    Theorem
        Let F be as for units that are added or removed, with M, R, G, P and S as there, and let its vectors have C
        coordinates. Let a = -min(lower, 0), b = max(upper, 0) and W = (a + b) min(R, P). If x' is x with the rows of
        d_in units replaced by others (or by none), F(x) and F(x') are at most d_in W apart in the largest coordinate,
        at most d_in min(2 M min(R, G P), C W) in L1 norm, and at most d_in sqrt(min(2 (a^2 + b^2) S, C W^2)) in L2
        norm. With one coordinate all three are d_in W.
    Requires
        What the theorem on units that are added or removed requires; and that the vectors have no more than `cells`
        coordinates, in all groups together, if `cells` is given.
    Ensures
        The bound is that distance, with C infinite if `cells` is not given; roots are rounded up.
    Proof
        One vector v of a unit leaves and one w enters, both as there: |v - w| <= |v| + |w| in L1 norm. Let n and m be
        the numbers of rows that they have in a coordinate. The coordinate of v is between -a n and b n (a row that was
        filtered out, or has no value, gives 0, whatever the ends are), that of w between -a m and b m, and n and m are
        at most min(R, P): they are at most max(b n + a m, b m + a n) <= W apart. C coordinates have at most C times
        the largest in L1 norm, and sqrt(C) times it in L2 norm. By the inequality of Cauchy and Schwarz, b n + a m <=
        sqrt(a^2 + b^2) sqrt(n^2 + m^2), and the squares of the n in all coordinates add up to at most S, as do those
        of the m. Add up over units by the triangle inequality.
    Example
        >>> limits = {"rows": Fraction(1), "groups": Fraction(1), "per_group": Fraction(1)}
        >>> contributions_of_replaced_units(Fraction(1), lower=Fraction(0), upper=Fraction(4), **limits, norm="L1")
        Fraction(8, 1)
        >>> ends = {"lower": Fraction(2), "upper": Fraction(4)}
        >>> contributions_of_replaced_units(Fraction(1), **ends, **limits, norm="L1", cells=1)
        Fraction(4, 1)
    """
    below, above = -min(lower, ZERO), max(upper, ZERO)
    one = times(below + above, min(rows, per_group))
    coordinates = INFINITY if cells is None else Fraction(cells)
    if norm == "Linf":
        return times(one, d_in)
    if norm == "L1":
        both = times(2 * max(below, above), most_rows(rows, groups, per_group))
        return times(min(both, times(one, coordinates)), d_in)
    both = times(2 * (below**2 + above**2), largest_square(rows, groups, per_group))
    square = min(both, times(one, times(one, coordinates)))
    return times(INFINITY if square == INFINITY else dyadic.sqrt_up(Fraction(square)), d_in)


def _norm_of_rows(rows: Extended, groups: Extended, per_group: Extended, norm: str) -> Extended:
    """The largest norm of numbers of rows by group."""
    if norm == "L1":
        return most_rows(rows, groups, per_group)
    if norm == "Linf":
        return min(rows, per_group)
    square = largest_square(rows, groups, per_group)
    return INFINITY if square == INFINITY else dyadic.sqrt_up(Fraction(square))
