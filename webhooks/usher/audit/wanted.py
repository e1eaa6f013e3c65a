"""The kinds that an audit reads in addition to workloads, nodes, pods and facts. The role of auditors
allows them too.
"""

from typing import Final

from usher.audit.building import claimable
from usher.audit.building.wanted import Wanted
from usher.audit.readiness import wanted as readiness
from usher.audit.standing import wanted as standing

WANTED: Final[tuple[Wanted, ...]] = (claimable.WANTED, *standing.WANTED, *readiness.WANTED)
"""The wanted kinds of all sections; several sections may want the same kind."""


def merged(wanted: tuple[Wanted, ...] = WANTED) -> tuple[Wanted, ...]:
    """Each kind once, with the fields of every section that wants it."""
    found: dict[tuple[str, str], Wanted] = {}
    for each in wanted:
        before = found.get(each.key)
        found[each.key] = each if before is None else before.joined(each)
    return tuple(found[key] for key in sorted(found))
