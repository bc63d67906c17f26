"""The parts of the screen. No widget imports a screen."""
