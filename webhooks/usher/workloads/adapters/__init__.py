"""One adapter per family of kinds; each lists its kinds in KINDS.

The facts are in docs/domain/kinds.md. Keys of sources, such as KQ, are in docs/domain/sources.md.
"""
