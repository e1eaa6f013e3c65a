"""YAML and JSON text -> the objects that kubectl would send, with the place of every value. Opens no file."""
