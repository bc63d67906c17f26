"""Where agents keep memory, how it is laid out, and how much of it they load: one file an agent."""
