"""Values, events, errors and ports that every layer shares. Standard library only."""
