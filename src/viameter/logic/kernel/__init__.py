"""The kernel: judgments, made only by rules whose side conditions are code."""
