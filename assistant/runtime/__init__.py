"""Every thread, worker process and schedule of the app."""
