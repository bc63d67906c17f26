"""Engines of the curator: rules, a language model, a command of the user's."""
