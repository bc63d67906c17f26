"""Curation: choosing an engine, preparing, running, deciding on proposals, applying them."""
