"""What people see of tables, previews and answers: text for terminals, HTML for notebooks, figures.

- `numbers`: as many digits as an interval justifies. `words`: sentences, and names that anybody may have chosen.
- `text`: aligned tables. `markup`, `html`: HTML in which everything is escaped. `figures`: intervals as a picture.
"""

from viameter.tables.showing.figures import draw_answer
from viameter.tables.showing.html import answer_html, preview_html, table_html
from viameter.tables.showing.text import answer_text, preview_text, table_text

__all__ = [
    "answer_html",
    "answer_text",
    "draw_answer",
    "preview_html",
    "preview_text",
    "table_html",
    "table_text",
]
