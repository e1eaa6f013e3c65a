"""Checks what a cluster needs before usher enforces, and what enforcement would do. It changes nothing."""
