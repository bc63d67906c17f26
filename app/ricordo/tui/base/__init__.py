"""What several screens build on: two base classes, and the open note.

`ActionScreen` calls the handlers of actions, shows why one is disabled, and updates the bars.
`ListDiffScreen` is the base of inbox, history and curation: a list, and the diff of the row under
the cursor. `OpenNote` keeps the trail of notes, their pages, and which secrets are revealed.
"""
