"""An opened memory: finding it, reading it, its findings and evidence, following its changes."""
