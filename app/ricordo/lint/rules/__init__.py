"""The rules, grouped by what they look at, and the word lists that they use."""
