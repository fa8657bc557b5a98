"""Arrays and tables of any library, files that appear whole or not at all, and plain sentences."""
