"""Search by words: text folded and cut into tokens for every script, and an index of them scored by BM25."""
