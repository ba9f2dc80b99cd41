"""The command `viameter`.

- `check`: whether a certificate holds.
- `compose`: what losses come to together; of a TOML file, for whom, and whether a claim about it holds.
- `demo`: a short tour on bundled data.
- `theorems`: what the numbers rest on.
- `verify`: whether the programs of a file are private: proved, refuted, or unknown.
"""

from viameter.cli.main import main

__all__ = ["main"]
