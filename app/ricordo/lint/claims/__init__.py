"""Claim checks: what a note says of its project, checked against the project."""
