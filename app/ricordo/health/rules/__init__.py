"""The rules, by what they look at. Every module here is loaded by `health.rule.all_rules`."""
