"""The notebook on screen, driven by its keys."""
