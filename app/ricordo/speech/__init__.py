"""What people say to agents: the sentences of a message, and which of them mean to last."""
