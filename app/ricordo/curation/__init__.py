"""The curator: a separate session that proposes changes to a memory and never applies them."""
