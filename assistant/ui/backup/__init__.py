"""Making and restoring backups in the window."""
