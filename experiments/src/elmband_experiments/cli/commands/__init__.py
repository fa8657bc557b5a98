"""What the commands can be asked for, without what they work with."""
