"""An opened memory: finding and reading it, its findings and evidence, following its changes.

`environment.py` has everything that depends on the machine (clock, home, current directory), so
that tests can replace it. `places.py` finds memories, `notebook.py` reads and judges one: a
`Snapshot` is a memory at one moment with its findings, as deep as its `Depth` says (listed, read,
judged, with evidence).

`evidence.py` has a source for each kind of slow knowledge and asks only those whose rules run. A
command gathers before it judges; on the screen `follower.py` shows the notes first, gathers in a
thread that yields to keys, and then yields the next snapshot. Files that look torn are held back
until they are stable. All other services build on this package.
"""
