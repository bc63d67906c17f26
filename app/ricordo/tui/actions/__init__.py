"""What a user can do on screen, with the keys for it."""
