"""Each version of the service's tables, as the step that leads to it; they are run as those of a ledger are."""
