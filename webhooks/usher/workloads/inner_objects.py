"""Reads an object inside another one by its own kind, for kinds that hold whole objects (AppWrapper)."""

from collections.abc import Mapping

from usher import paths
from usher.kinds.kind import Kind
from usher.reading.context import Context, FindInner, Inner
from usher.reading.values import Reading


def finder(kinds: Mapping[tuple[str, str], Kind]) -> FindInner:
    """Reads inner objects of these kinds, which are given by group and kind."""

    def find(value: Mapping[str, paths.Json], context: Context) -> Inner | None:
        api_version, kind = value.get("apiVersion"), value.get("kind")
        if not isinstance(api_version, str) or not isinstance(kind, str):
            return None
        group, _, version = api_version.rpartition("/")
        known = kinds.get((group, kind))
        if known is None or known.pods is None:
            return None
        reading = Reading(context)
        return Inner(
            versions=known.versions,
            is_template=known.pods.is_template,
            templates=tuple(known.pods.templates(value, reading)) if version in known.versions else None,
            unknowns=reading.found(),
            references=reading.references,
        )

    return find
