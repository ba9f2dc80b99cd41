"""Run what looks at rows so that nothing of them leaves through an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from viameter.errors import SealedError


def run_sealed(function: Callable[[Any], Any], data: Any) -> Any:
    """Call the function; whatever it raises becomes one error with a constant text and no cause.

    NumPy's warnings are switched off, since their occurrence depends on rows.
    """
    try:
        with np.errstate(all="ignore"):
            return function(data)
    except KeyboardInterrupt:
        raise
    except BaseException:  # also SystemExit: whether it occurs depends on rows
        pass
    # Raised outside of the handler, so that the original is not kept as the context of this one.
    raise SealedError
