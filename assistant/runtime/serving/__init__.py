"""Keepsake as a server for other programs of this computer: OpenAI's chat interface, memory included."""
