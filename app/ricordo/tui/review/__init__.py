"""The review of the day: one note at a time, with the reasons to doubt it.

`controller.py` counts what is due for the status line and opens the screen. A verdict is recorded
at once; editing and retiring go through the same writer as on the main screen. The queue comes from
`services/review.py`.
"""
