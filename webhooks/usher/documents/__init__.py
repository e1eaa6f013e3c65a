"""YAML and JSON text -> the objects that kubectl would send, with the place of every value. Opens no file.

No library: kubectl reads YAML by rules of its own (go-yaml, JSON first), and findings need the place of every value.
"""
