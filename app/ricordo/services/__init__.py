"""The services: one package per feature, the API that the command line, the screens and the MCP server call."""
