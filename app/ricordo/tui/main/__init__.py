"""The main screen: index, note and freshness side by side."""
