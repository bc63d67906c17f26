"""Connecting agents on screen.

`screen.py` lists the agents and how each is connected, shows every file that connecting the chosen
one writes, and connects or disconnects it. Values come from `services/connect`.
"""
