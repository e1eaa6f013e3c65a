"""Finds directories whose files are applied together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from usher.scan.outlines import Outline


def by_directory(outlines: Iterable[Outline]) -> Mapping[str, Sequence[Outline]]:
    """The files of each directory. People apply one directory at once, and seldom a whole tree.

    It leaves out a directory with several files if two of its objects have the same name: then it holds alternatives,
    for example samples, and not the parts of one application.
    """
    found: defaultdict[str, list[Outline]] = defaultdict(list)
    for outline in outlines:
        if outline.named:
            found[outline.directory].append(outline)
    return {name: files for name, files in found.items() if len(files) > 1 and _are_parts(files)}


def _are_parts(files: Iterable[Outline]) -> bool:
    names = [each for outline in files for each in outline.named]
    return len(set(names)) == len(names)
