"""The only way out to a language model.

Requests are redacted, limited and counted; replies are accepted whole or not at all.
"""
