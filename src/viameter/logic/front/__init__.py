"""The front end: from a typed Python function, or the slides' while language, to a core program and its adjacency.

- `markers`: what a program is written with; `adjacent`: how its private inputs may differ.
- `decorator`: programs as objects. `python`: the subset, and the compiler from it; `slides`: the slides' language.
- The compiler is made of: `source`, `annotations`, `constants`, `scanning` (what is there), `kinds`, `values` (numbers
  on grids), `statements`, `returning`, `loops`, `iterating`, `assigning` (control), `expressions`, `deciding`, `folds`,
  `noise`, `scaling` (terms and draws), `calls`, `renaming` (other programs), `starting`, `publicity` (last looks).
"""
