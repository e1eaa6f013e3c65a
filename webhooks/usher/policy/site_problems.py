"""What usher.yaml says of workloads and would never do, or not as it seems: entries that others hide, unknown kinds."""

from collections.abc import Collection, Iterator, Sequence

from usher.accelerators import boards
from usher.authorities.gpu_quota import config_problems
from usher.config import models, overlaps, selection
from usher.kinds.registry import KINDS

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and what is wrong there."""

Lists = Iterator[tuple[str, Sequence[models.Selector]]]

_KINDS = {word for kind in KINDS for word in (kind.kind, f"{kind.group}/{kind.kind}")}


def problems(config: models.Config) -> Iterator[Problem]:
    """What cannot be meant: an entry that no workload ever reaches, and kinds and boards that there are none of."""
    for index, pool in enumerate(config.pools):
        board = None if pool.gpu is None else pool.gpu.board
        if board is not None and boards.by_name(board) is None:
            known = ", ".join(sorted(each.name for each in boards.BOARDS))
            yield f"/pools/{index}/gpu/board", f"{board} is no board that MIG divides; there are {known}"
    for pointer, entries in _lists(config):
        for index, entry in enumerate(entries):
            for number, kind in enumerate(entry.kinds):
                if kind not in _KINDS:
                    yield f"{pointer}/{index}/kinds/{number}", f"{kind} is no kind of workload that gpu-usher knows"
            hiding = next((i for i, before in enumerate(entries[:index]) if overlaps.covers(before, entry)), None)
            if hiding is not None:
                yield f"{pointer}/{index}", f"never reached: entry {hiding} before it is for the same workloads"
    yield from config_problems.problems(config.quotas)


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
            yield from _without_effect(f"{pointer}/{index}", entry.namespaces, config, known)
    yield from config_problems.warnings(config.quotas)
    for index, quota in enumerate(config.quotas):
        yield from _without_effect(f"/quotas/{index}", quota.namespaces, config, known)


def _without_effect(
    pointer: str, patterns: Sequence[str], config: models.Config, known: Collection[str] | None
) -> Iterator[Problem]:
    for number, pattern in enumerate(patterns):
        place = f"{pointer}/namespaces/{number}"
        if overlaps.covers_patterns(config.exempt_namespaces, [pattern]):
            yield place, f"{pattern} is among exemptNamespaces, in which nothing is changed"
        elif known is not None and not any(selection.matches(name, [pattern]) for name in known):
            yield place, f"{pattern} fits none of the {len(known)} namespaces that are known"


def _lists(config: models.Config) -> Lists:
    yield "/queues", config.queues
    yield "/routing", config.routing
    yield "/priorities/classes", config.priorities.classes
