"""What a user can do on screen, with the keys for it.

`catalogue.py` lists every action: id, keys, screens, labels, help, and when it is disabled and why.
Key lines, help, palette, docs/keys.md and the keymap of the user derive from it. A screen has a
typed table from action ids to functions (`bindings.py`), and its base class checks that the table
has exactly the actions of that screen. Action ids are a contract: keymaps name them.
"""
