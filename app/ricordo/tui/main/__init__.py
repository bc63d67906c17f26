"""The main screen: index, note and freshness side by side.

`screen.py` shows the snapshots of the follower; cursor and scroll position stay when a new one
arrives. `listing.py` decides what the index pane lists. The keys that change the memory are in
`controller.py` and the modules that it calls for fixes, forms and moves; those that open another
screen are in `navigation.py`. It is the only feature that opens the others.
"""
