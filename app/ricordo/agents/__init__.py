"""Everything that depends on an agent: where its memories and sessions are, and how they are read.

`registry.py` lists the agents, `support.py` says what can be asked of each (`AgentSupport`); other
packages ask the registry and name no agent, which a contract test checks. An agent describes its
memories by a `MemoryPlace` (a directory, its project, why it was found) with a `Layout`: names of
index files, limits of the load, fields of the frontmatter. `agent.py` and `workplace.py` have these
values, `discovery.py` finds memories in the folders of a project, `transcripts/` reads sessions.

Beside its code, an agent's package has its data: `marks.toml` (lines of a transcript that nobody
wrote), `tools.toml` (what its tools do to files), `handoff.toml` (headings of a handoff for it).
Transcripts and settings of an agent are only read. Callers are the services, `handoff` and, to find
the memory of a directory, the hook.
"""
