"""Running: proved programs as measurements of the library, with the exact samplers.

- `values`, `compiling`, `interpreter`: what expressions and programs do.
- `noise`, `ratios`, `calling`: what draws.
"""
