"""What is wrong with a memory: one small function a rule."""
