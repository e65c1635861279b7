"""Qt item models over plain Python lists."""
