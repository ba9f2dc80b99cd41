"""Logic: programs that are proved private, or refuted, in a relational program logic (apRHL)."""
