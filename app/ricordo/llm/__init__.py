"""The only way out to a language model: requests are redacted, limited and counted; replies are accepted whole or not at all."""
