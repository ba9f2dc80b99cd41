"""The benchmark harness: viameter and its peers in one run, interleaved, reported as ratios."""
