"""The hooks: small programs that agents call; standard library only."""
