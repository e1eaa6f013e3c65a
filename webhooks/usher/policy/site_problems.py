"""What usher.yaml says of workloads and would never do, or not as it seems: entries that others hide, unknown kinds."""

from collections.abc import Collection, Iterator, Sequence

from usher.config import models, namespaces, overlaps
from usher.workloads.registry import KINDS

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and what is wrong there."""

Lists = Iterator[tuple[str, Sequence[models.Selector]]]

_KINDS = {word for kind in KINDS for word in (kind.kind, f"{kind.group}/{kind.kind}")}


def problems(config: models.Config) -> Iterator[Problem]:
    """What cannot be meant: an entry that no workload ever reaches, and kinds that there are none of."""
    for pointer, entries in _lists(config):
        for index, entry in enumerate(entries):
            for number, kind in enumerate(entry.kinds):
                if kind not in _KINDS:
                    yield f"{pointer}/{index}/kinds/{number}", f"{kind} is no kind of workload that gpu-usher knows"
            hiding = next((i for i, before in enumerate(entries[:index]) if overlaps.covers(before, entry)), None)
            if hiding is not None:
                yield f"{pointer}/{index}", f"never reached: entry {hiding} before it is for the same workloads"


def warnings(config: models.Config, known: Collection[str] | None = None) -> Iterator[Problem]:
    """What may not be meant: entries for the same workloads, and namespaces in which nothing comes of an entry.

    Args:
        config: usher.yaml.
        known: the namespaces of the cluster; None where nobody knows them.
    """
    for pointer, entries in _lists(config):
        for index, entry in enumerate(entries):
            # A later entry that is for more is what others are an exception from.
            for number, before in enumerate(entries[:index]):
                if overlaps.overlap(before, entry) and not overlaps.covers(entry, before):
                    yield f"{pointer}/{index}", f"some workloads fit entry {number} as well, which decides about them"
            for number, pattern in enumerate(entry.namespaces):
                reason = _without_effect(pattern, config, known)
                if reason:
                    yield f"{pointer}/{index}/namespaces/{number}", reason


def _without_effect(pattern: str, config: models.Config, known: Collection[str] | None) -> str:
    if overlaps.covers_patterns(config.exempt_namespaces, [pattern]):
        return f"{pattern} is among exemptNamespaces, in which nothing is changed"
    if known is not None and not any(namespaces.matches(name, [pattern]) for name in known):
        return f"{pattern} fits none of the {len(known)} namespaces that are known"
    return ""


def _lists(config: models.Config) -> Lists:
    yield "/queues", config.queues
    yield "/routing", config.routing
    yield "/priorities/classes", config.priorities.classes
