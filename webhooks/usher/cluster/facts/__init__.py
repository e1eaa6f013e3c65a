"""The facts of a cluster: a store of the objects that decisions rest on, and snapshots of it.

Pure. The objects come from a live cluster, files or a snapshot; other rooms read those and fill the store.
"""
