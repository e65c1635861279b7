"""From what words and meaning found to an order, or to silence."""
