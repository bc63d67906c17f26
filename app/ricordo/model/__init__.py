"""The only way out to a language model: asked within bounds, and answered for."""
