"""Finding what was said: units, keyword index, vectors and their fusion. Derived and rebuildable."""
