"""Conflicts: finding them, resolving them, and having uncertain pairs judged."""
