"""The version of the checker; it grows with every theorem that is added to the table."""

VERSION = "2"
