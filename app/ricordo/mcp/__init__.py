"""`ricordo mcp`: the Model Context Protocol server, by which agents read notes and submit changes.

`access.py` says what a session may read of a memory and what it may submit; `pages.py` makes
results of bounded size of that. `server.py` declares tools, resources and prompts with the official
SDK, which only this package imports, and `wire.py` is its transport: lines of JSON on standard
input and output. Nothing here changes a memory.
"""
