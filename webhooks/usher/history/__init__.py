"""The history of audits: one row for each audit, and one for each finding that any of them had."""
