"""Compares the verdicts of two configurations, bundles or versions about the same objects. Pure."""
