"""What may be said of a cluster that has not been heard of for a while: nothing is denied by old facts. Pure."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from usher import model
from usher.policy.catalogue import About, Catalogue


def with_doubt(
    findings: Iterable[model.Finding],
    entries: Catalogue,
    *,
    age: float,
    bound: float,
    told_now: Container[str] = frozenset(),
) -> Iterator[model.Finding]:
    """The findings, of which those by checks of cluster facts rest on an assumption if the facts are too old.

    Args:
        findings: of one object.
        entries: the catalogue that knows the checks.
        age: of the facts, in seconds.
        bound: the oldest that facts may be, in seconds.
        told_now: keys of checks whose facts somebody has just asked for.
    """
    for finding in findings:
        check = entries.checks.get(finding.check)
        rests_on_facts = check is not None and check.about is About.CLUSTER_FACTS and check.key not in told_now
        if age > bound and rests_on_facts and not finding.assumption:
            yield replace(finding, assumption=f"cluster facts are {_readable(age)} old")
        else:
            yield finding


def _readable(age: float) -> str:
    """Seconds, rounded down to a unit in which people think."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        number = int(age // size)
        if number:
            return f"{number} {unit}{'s' * (number > 1)}"
    return f"{int(age)} seconds"
