"""The rules: each makes a judgment from judgments, and refuses if a side condition does not hold."""
