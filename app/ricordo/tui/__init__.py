"""The notebook on screen.

`app.py` wires screens, themes and keys. `actions/` declares what a user can do, `base/` has what
screens build on; each feature has a package with `screen`, `controller`, `rows` and `style.tcss`.
Features do not import each other, `main` opens them by their controllers. `render/` turns values
into styled lines, `widgets/` draws only the lines in sight, `dialogs/` are shared.

No key waits for a file: work runs in threads (`jobs.py`, the follower), shows a phase and can be
cancelled. Text of others passes `text.make_visible`, credentials pass `render/mask.py`, and nothing
is given to a parameter that Textual parses as markup. Started by `cli/open.py`.
"""
