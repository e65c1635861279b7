"""What is said to an OpenAI-compatible server and what it answers, as values: no connection is made here."""
