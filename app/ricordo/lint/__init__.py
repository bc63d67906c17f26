"""What is wrong with a memory: rules and their fixes, claim checks, contradictions, retention."""
