"""Bringing memory and chats over from another assistant."""
