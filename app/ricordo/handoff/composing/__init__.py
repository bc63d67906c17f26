"""From facts to statements, section by section, by extraction: nothing is put into other words."""
