"""Search: shifts by trial on concrete pairs of runs, invariants by elimination; what it finds, the kernel checks."""
