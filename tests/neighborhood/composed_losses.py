"""Losses of three leaves, and the loss of leaves that are composed: infinite where the library refuses to give any."""

from collections.abc import Sequence
from typing import Any

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import ViameterError
from viameter.neighborhood.granularities import Granularity

THREE = ("0.2", "0.5", "0.3")


def loss_or_error(target: Granularity, leaves: Sequence[nb.Leaf]) -> Any:
    """The composed loss; an infinite one where the library refuses to give any."""
    try:
        return nb.compose(target, leaves).loss
    except ViameterError:
        return vm.PureDP.infinite
