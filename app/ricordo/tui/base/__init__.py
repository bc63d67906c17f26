"""What several screens build on: base classes, and the open note.

`ActionScreen` calls the handlers of actions, shows why one is disabled, and does work that writes
one after the other. `UndoScreen` adds undo and redo, `TwoPaneScreen` a list with a pane beside it.
`ListDiffScreen` is the base of inbox, history and curation: a list, and the diff of the row under
the cursor. `OpenNote` keeps the trail of notes, their pages, and which secrets are revealed.
"""
