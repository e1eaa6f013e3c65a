"""Where a workload would go, what it counts there, what is free, and what would make it fit: for people who ask.

A review never asks: nothing here is part of a decision, and all of it may look at what is used at the moment.
"""
