"""The steps of tools/set_up.py; the standard library only."""
