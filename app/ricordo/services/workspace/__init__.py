"""An opened memory: finding and reading it, its findings and evidence, following its changes."""
