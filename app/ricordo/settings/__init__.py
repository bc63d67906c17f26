"""Settings, keymap and themes of the user: read, checked and explained.

Each setting is declared once, as a field in `settings.py` with its default, its type and its
explanation; reading, `ricordo config` and docs/settings.md derive from the fields. Reading never
fails: an unusable value has its default and gives a warning. The names of rules, actions and
thresholds are passed in by the caller (`SettingsNames`), because this package knows no other one.
Keys of the file are a contract.
"""
