"""Composing a handoff: from facts to statements by extraction; nothing is reworded."""
