"""What agents did: their session transcripts, read-only."""
