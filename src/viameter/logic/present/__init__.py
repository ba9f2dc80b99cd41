"""Verdicts for people: one document of parts, written as text, HTML or LaTeX.

- `document`: what is said of a verdict; `proved`, `refuted`, `unknown`: of each kind.
- `tree`, `draws`: the proof as a tree of rules, and how two runs draw together; `legend`, `listing`: around it.
- `text`, `html`, `latex`: the same document in three forms.
"""
