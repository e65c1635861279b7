"""Keepsake: an offline personal assistant whose memory is Markdown files of the person's own."""
