"""Namespace patterns of usher.yaml: `*` stands for any characters, everything else for itself."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matches(namespace: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern fits; the models let no other wildcard than `*` through."""
    return any(fnmatchcase(namespace, pattern) for pattern in patterns)
