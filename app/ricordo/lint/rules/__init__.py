"""The rules by subject, and their word lists.

Each module has the rules on one subject; importing it registers them (`lint.rule.load_rules`
imports all modules of this package). What rules search for in texts is data beside them, in
`*.toml`, because it covers many languages. A new rule has to be right on memories that it was not
written for, names its cause, and has evidence and, where possible, a fix.
"""
