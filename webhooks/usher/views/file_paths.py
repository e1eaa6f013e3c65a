"""Paths of files as rules tell them apart: one spelling for each file, whatever a manifest makes of it."""

import posixpath
import re
from typing import Final

_LINKS: Final = re.compile(
    r"(?:/proc/(?:[0-9]{1,10}|self|thread-self)/(?:root|cwd)(?=/|\Z))*(?:/var(?=/run(?:/|\Z)))?", re.ASCII
)
"""What leads nowhere else on a node: the root of one of its processes is its own, and /var/run is /run."""


def clean(path: str) -> str:
    """The path without repeated and trailing slashes and without `.` and `..`, as container runtimes read it.

    They take a relative path for one from the root. An empty one stays empty.
    """
    plain = path.startswith("/") and "//" not in path and "/." not in path and not path.endswith("/")
    # Of three leading slashes and more, unlike of two, POSIX makes one.
    return path if plain or not path else posixpath.normpath("///" + path)


def on_node(path: str) -> str:
    """The place on a node that a path leads to, past the links that every node has."""
    place = clean(path)
    if not place.startswith(("/proc/", "/var/run")):
        return place
    links = _LINKS.match(place)
    return (place[links.end() :] or "/") if links is not None else place
