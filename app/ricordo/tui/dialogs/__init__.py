"""Dialogs that several features use."""
