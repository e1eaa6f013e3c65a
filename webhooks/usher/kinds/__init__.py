"""The kinds of objects that usher knows: a folder or a file for each family.

The facts are in docs/domain/kinds.md. Keys of sources, for example KQ, are in docs/domain/sources.md.
"""
