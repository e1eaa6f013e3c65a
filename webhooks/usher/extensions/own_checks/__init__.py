"""Checks that a site writes itself: their folders, their compiled form, their tests."""
