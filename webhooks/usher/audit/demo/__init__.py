"""A synthetic cluster for `usher audit --demo`: objects, usage and a configuration, all invented by us."""
