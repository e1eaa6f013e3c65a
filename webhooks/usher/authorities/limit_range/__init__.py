"""Judges pods by the LimitRanges of their namespace."""
