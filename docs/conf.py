"""Sphinx: MyST pages, the Furo theme, and pages made from the code."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import viameter  # noqa: E402
from generate import write_pages  # noqa: E402

write_pages(HERE / "generated")

project = "viameter"
author = "the viameter authors"
copyright = author
version = release = viameter.__version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "README.md", "generated/routes.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "viameter"
html_copy_source = False
html_show_sourcelink = False
suppress_warnings: list[str] = []
