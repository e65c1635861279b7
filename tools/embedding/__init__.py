"""Building the default embedding model: what it needs beside the weights."""
