"""Entry points for others than the person: what agents call."""
