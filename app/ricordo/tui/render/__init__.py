"""Values to styled lines: pure functions, width in, lines out."""
