"""A model drafts: what it is told of the facts, the form of its answer, what of that is taken."""
