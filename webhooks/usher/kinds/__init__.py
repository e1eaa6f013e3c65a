"""What usher knows of each kind of object: a folder, or a file, for each family.

The facts are in docs/domain/kinds.md. Keys of sources, such as KQ, are in docs/domain/sources.md.
"""
