"""Several assistants in the window: the switcher, what it offers, and going from one to another."""
