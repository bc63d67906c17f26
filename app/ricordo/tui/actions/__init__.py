"""What a person can do on screen, by purpose."""
