"""Conflicts: finding and resolving them, and having uncertain pairs judged."""
