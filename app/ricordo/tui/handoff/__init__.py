"""The screens of handing off: sessions, the draft beside its facts, the engine, a pipe.

`controller.py` opens them and keeps what the user decided. `drafter.py` makes drafts by
`services/handoff` in threads, on facts that are gathered once. `draft.py` holds the dropped and
reworded statements; `screen.py` shows them, and writes, copies or pipes the result. Only `ctrl+s`
writes.
"""
