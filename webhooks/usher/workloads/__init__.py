"""Objects -> Workload: pure, one adapter per family of kinds, one registry keyed by group and kind. No I/O here."""
