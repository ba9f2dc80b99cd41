"""Verdicts for people: one document of parts, written as text, HTML or LaTeX.

- `document`: what is said of a verdict; `proved`, `unknown`: of these kinds; `model`: two runs side by side.
- `tree`, `draws`: the proof as a tree of rules, and how two runs draw together; `legend`, `listing`: around it.
- `text`, `html`, `latex`: the same document in three forms.
"""
