"""Frontmatter: parsing it, its values, and changing one field without touching another byte.

`parser.py` reads plain frontmatter line by line and everything else with strict YAML; scalars stay
the text that was written, so `no` and `010` are no booleans or numbers. `edit.py` splices a new
value into the text, parses the result again, and refuses the edit if anything else changed.
Frontmatter that YAML refuses is read leniently and never edited. The only package that imports
python-frontmatter and PyYAML.
"""
