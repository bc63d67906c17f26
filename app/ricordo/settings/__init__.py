"""What the person has set: settings, keymap, themes. Read, checked and explained."""
