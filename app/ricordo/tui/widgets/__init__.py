"""Widgets. None imports a screen."""
