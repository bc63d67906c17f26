"""What would mend a finding: acts on a memory, made only for what a rule has found.

A fix is safe where it is certain to be right and loses nothing; every other one has to be seen.
"""
