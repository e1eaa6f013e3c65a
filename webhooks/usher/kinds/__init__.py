"""What usher knows about each kind of object: a folder or a file for each family.

The facts are in docs/domain/kinds.md. Keys of sources, for example KQ, are in docs/domain/sources.md.
"""
