"""Finding notes: the one index, ranking, recall, and names as they are typed."""
