"""What agents did: their session transcripts, read-only, as values of one kind for all agents."""
