"""Search: the index, ranking, recall, and the finder for names."""
