"""Read the data that a user brings: tables, and recordings described by a TOML file."""
