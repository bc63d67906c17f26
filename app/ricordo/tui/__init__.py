"""The notebook on screen."""
