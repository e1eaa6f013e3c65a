"""The checks and mutations as files: their bundle, their catalogue, their METADATA, and the start of a new one."""
