"""Memory panel: files, editor, gauge, journal, search."""
