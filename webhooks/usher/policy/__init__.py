"""Object -> Decision. `evaluator` is the main path; all callers (server, check, audit) go through it."""
