"""Stored results of audits: a history of one cluster, parts of large audits, and the merge of parts to one document."""
