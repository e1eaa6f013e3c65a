"""Judges objects without an admission request: from files, standard input and live clusters."""
