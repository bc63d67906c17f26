"""What several screens build on: base classes, the open note, writing, the editor."""
