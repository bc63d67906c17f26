"""Frontmatter: parsing it, its values, and changing one field without touching another byte."""
