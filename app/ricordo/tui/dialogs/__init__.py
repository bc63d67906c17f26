"""Dialogs that several features share.

Forms, lists to choose from, confirmations, a change set before it is written, an edit conflict, the
question to a model. A dialog returns a value and writes no file of a memory. Its keys are in
`tui/actions/dialogs.py`: Enter, Esc and the arrows mean the same in all of them.
"""
