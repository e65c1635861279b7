"""Import from other assistants: one parser a system, one plan for what they found, one way into the workspace."""
