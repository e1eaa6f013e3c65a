"""The objects in the files of one directory, where they are applied together."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from usher import paths
from usher.kinds.kubeflow_pipelines.compiled import group_version_kind
from usher.reading import lookup
from usher.scan.batches import Batch


def by_directory(batches: Iterable[Batch], *, namespace: str) -> Mapping[str, lookup.Lookup]:
    """The objects of each directory: people apply a directory at once, and seldom a whole tree.

    A directory with several files is left out if two of its objects have one name: then it holds alternatives, for
    example samples, and not the parts of one application.

    Args:
        batches: the files.
        namespace: the namespace of objects without one.
    """
    found: defaultdict[str, list[Batch]] = defaultdict(list)
    for batch in batches:
        if batch.items:
            found[directory(batch)].append(batch)
    return {
        name: lookup.Objects((item.value for batch in files for item in batch.items), namespace=namespace)
        for name, files in found.items()
        if len(files) > 1 and _are_parts(files, namespace)
    }


def directory(batch: Batch) -> str:
    """The directory of a file; for other sources, their name."""
    return str(PurePath(batch.source).parent) if batch.is_file else batch.source


def _are_parts(files: Iterable[Batch], namespace: str) -> bool:
    names = Counter(_identity(item.value, namespace) for batch in files for item in batch.items)
    return names.total() == len(names)


def _identity(value: paths.Object, namespace: str) -> tuple[str, str, str, str]:
    group, _, kind = group_version_kind(value)
    metadata = paths.metadata(value)
    name = paths.text(metadata.get("name")) or paths.text(metadata.get("generateName"))
    return group, kind, paths.text(metadata.get("namespace")) or namespace, name
