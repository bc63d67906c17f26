"""The only way out to a language model: what leaves is redacted, bounded and counted here, and what
comes back is read.
"""
