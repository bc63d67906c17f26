"""The conflict workbench: two notes that contradict or repeat each other, side by side.

`screen.py` shows the pairs, `controller.py` resolves them: each resolution is composed by
`services/conflicts` and shown as a change set before it is written. Uncertain pairs that a model
judged to be a conflict or a duplicate are listed after the conflicts, then the duplicates.
"""
