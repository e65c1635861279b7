"""Trials of real models, by hand; no part of the program and of no check."""
