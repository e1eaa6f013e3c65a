"""The commands of `usher`, one module each."""
