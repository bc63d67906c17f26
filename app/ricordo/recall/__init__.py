"""Finding notes, and telling how alike two texts are."""
