"""The index file, kept true to the files of the workspace."""
