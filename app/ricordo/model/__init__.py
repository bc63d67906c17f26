"""The only way out to a language model: what leaves is redacted here, what comes back is read."""
