"""Fixes of findings: the changes that remove what a rule found."""
