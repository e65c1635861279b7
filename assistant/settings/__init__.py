"""The person's settings: a typed schema kept in one TOML file."""
