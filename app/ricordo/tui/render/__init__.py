"""Turn values into styled lines: pure functions, width in, lines out.

Nothing here imports Textual or a widget, so that a line can be tested without a screen. Spans name
styles such as `finding-error`; the palette maps them to colours. `mask.py` masks the secrets of a
text before it is drawn and remembers what it found. `note_page.py` makes a note in pieces, so that
the beginning of a long one is on the screen at once; lines know the line of the file that they
show.
"""
