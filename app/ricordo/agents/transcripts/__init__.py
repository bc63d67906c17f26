"""What agents did: their session transcripts, read-only, as values that are the same for all agents."""
