"""Turn values into styled lines: pure functions, width in, lines out."""
