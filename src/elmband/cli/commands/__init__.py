"""What commands can be asked for, without what they work with: enough for help and completion."""
