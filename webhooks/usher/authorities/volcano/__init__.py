"""Volcano: whether a queue or a gang could ever be placed."""
