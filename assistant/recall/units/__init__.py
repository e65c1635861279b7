"""What is found as one piece, made from the files."""
