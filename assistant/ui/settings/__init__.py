"""Settings window, one page a file."""
