"""What versions of the library wrote: a ledger with answers under keys, and the questions that were asked."""
