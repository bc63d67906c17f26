"""Probes: what a note claims of its project, checked against the project, one kind of claim a
module.
"""
