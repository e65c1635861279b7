"""The truth on disk: Markdown files, written through one door."""
