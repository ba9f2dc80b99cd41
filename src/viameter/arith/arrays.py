"""What the vector forms take, float64 arrays and nothing rounded on the way in, and the arithmetic they rely on."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viameter.arith.floats import exact_float
from viameter.errors import NumberError

Floats: TypeAlias = NDArray[np.float64]

# Up to here every integer is a float.
_WIDEST_INTEGER = 2**53


def float64_array(op: str, x: ArrayLike) -> Floats:
    """The operand as a float64 array, if that holds each of its numbers exactly; it may share memory with x."""
    if not isinstance(x, np.ndarray | np.generic):
        return _from_python(op, x)
    array = np.asarray(x)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu":
        for wide in array[(array > _WIDEST_INTEGER) | (array < -_WIDEST_INTEGER)].tolist():
            exact_float(op, wide)
        return array.astype(np.float64)
    raise NumberError(f"{op} was given an array of {array.dtype}: expected float64, or a type it holds exactly")


def _from_python(op: str, x: ArrayLike) -> Floats:
    # Number by number: np.asarray([2**53 + 1, 0.5]) would round the integer without a word.
    objects = np.array(x, dtype=object)
    exact = [exact_float(op, number) for number in objects.ravel()]
    return np.array(exact, dtype=np.float64).reshape(objects.shape)


# Each line rules out one way in which a thread's floating-point unit may have been set. The expected results are
# compared as bit patterns, since a unit that takes subnormals for zero says that they equal zero.
_SUM_LEFT = np.array([1.0, 1.0 + 2.0**-52])
_SUM_RIGHT = np.array([2.0**-53, 2.0**-53])
_SUM_BITS = np.array([1.0, 1.0 + 2.0**-51]).view(np.int64)  # not upward; not downward nor toward zero
_PRODUCT_LEFT = np.array([2.0**-1022, 2.0**-1074])
_PRODUCT_RIGHT = np.array([2.0**-1, 2.0**60])
_PRODUCT_BITS = np.array([2.0**-1023, 2.0**-1014]).view(np.int64)  # subnormal results kept; subnormal operands read


def require_ieee(op: str) -> None:
    """Refuse to compute where this thread does not round to nearest or loses subnormals.

    Some libraries switch on flush-to-zero for speed, in the thread that loads them.
    """
    sums = (_SUM_LEFT + _SUM_RIGHT).view(np.int64)
    products = (_PRODUCT_LEFT * _PRODUCT_RIGHT).view(np.int64)
    if not (np.array_equal(sums, _SUM_BITS) and np.array_equal(products, _PRODUCT_BITS)):
        raise NumberError(
            f"{op} cannot bound its rounding errors: in this thread the floating-point unit does not round to nearest "
            "or flushes subnormals to zero; expected IEEE-754 defaults, so call from a thread where no library changed "
            "them"
        )
