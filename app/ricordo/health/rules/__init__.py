"""The rules, grouped by what they look at, and the word lists that they use. Every module here is
loaded by `health.rule.all_rules`.
"""
