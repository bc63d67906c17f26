"""Widgets. None imports a screen.

`LineView` is the base of all scrollable views: it draws only the lines in sight and can hold rows
in sight while the layout changes, which `NoteView.go_to` uses to show a line of a file until the
user moves. Lists and diffs add a cursor. Widgets get finished lines and parse none of their text.
"""
