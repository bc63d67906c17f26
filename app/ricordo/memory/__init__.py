"""What a memory is: notes, index, load, links. Values and rules only; no file is opened here."""
