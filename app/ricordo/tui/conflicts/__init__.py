"""The conflict workbench."""
