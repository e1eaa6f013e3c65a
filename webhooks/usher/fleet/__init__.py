"""Audits of large clusters and of many: shards that write parts, and the merge of parts to one document."""
