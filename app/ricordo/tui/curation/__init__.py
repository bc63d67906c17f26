"""The review of a curation."""
