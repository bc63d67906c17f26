"""The separate session that proposes changes to a memory; it never makes them."""
