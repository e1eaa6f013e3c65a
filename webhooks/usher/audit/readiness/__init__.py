"""The production checklist of GPU clusters: each item passes, fails, is not known or does not apply, with evidence."""
