"""Search by meaning: embedding models, the vectors of windows, and a snapshot that finds the nearest."""
