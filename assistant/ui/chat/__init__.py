"""Transcript, composer, chat list and receipt view."""
