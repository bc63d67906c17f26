"""The services: one package per feature, called by the command line and the screens."""
