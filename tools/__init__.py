"""What sets up and checks a clone; no part of the program."""
