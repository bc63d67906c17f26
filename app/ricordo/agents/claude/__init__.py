"""Claude Code: its auto memory, its settings and its transcripts."""
