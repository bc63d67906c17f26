"""Settings, keymap and themes of the user: read, checked and explained."""
