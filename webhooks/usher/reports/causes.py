"""Groups findings by cause: by check, and within it by message, so that a report gives each message once with its
places.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from typing import TypeVar

from usher import model, paths
from usher.dataclass import dataclass
from usher.reports import wording
from usher.scan import devices as scan_devices
from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One finding and the object that has it."""

    result: findings.Result
    finding: findings.Finding

    @property
    def where(self) -> str:
        """`jobs/bert.yaml:41:19`; for an object in a cluster, the field."""
        place = self.finding.place
        if place is None:
            path = self.finding.judgement.finding.path
            return paths.readable(path) if path else ""
        return f"{self.result.source}:{place.line}:{place.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Findings with one message; those in workloads with the most GPUs first."""

    message: str
    remedy: str
    milder: str
    """Why the outcome is milder than its check's; empty if it is not."""
    hits: Sequence[Hit]

    @property
    def added(self) -> bool:
        """Whether it is about a field that the mutating webhook adds in some of its places."""
        return any(hit.finding.added for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The findings of one check with one outcome."""

    key: str
    outcome: model.Outcome
    code: str
    name: str
    causes: Sequence[Cause]
    """The causes with the most GPUs first."""

    @property
    def hits(self) -> list[Hit]:
        return [hit for cause in self.causes for hit in cause.hits]


def of(results: Iterable[findings.Result]) -> list[Check]:
    """The checks with findings: the worst outcome first, then by code."""
    hits = [Hit(result=result, finding=finding) for result in results for finding in result.findings]
    order = list(model.Outcome)

    def check_of(hit: Hit) -> tuple[int, int, str, str]:
        judgement = hit.finding.judgement
        return order.index(judgement.outcome), *wording.by_code(judgement)

    return [
        Check(
            key=found[0].finding.judgement.finding.check,
            outcome=order[outcome],
            code=code,
            name=name,
            causes=_causes(found),
        )
        for (outcome, _, code, name), found in sorted(_by(hits, check_of).items())
    ]


def affected(results: Iterable[findings.Result]) -> str:
    """How many workloads the findings affect, and how many accelerators these request; each counted once."""
    distinct = list({id(result): result for result in results}.values())
    if not any(result.makes_pods for result in distinct):
        return wording.count(len(distinct), "object")
    thing = "workload" if all(result.makes_pods for result in distinct) else "object"
    added = scan_devices.added(result.accelerators for result in distinct)
    return f"{wording.count(len(distinct), thing)}, {wording.devices(added)}"


def _causes(hits: Iterable[Hit]) -> list[Cause]:
    groups = sorted(_by(hits, _message).items(), key=lambda entry: (_gpus(entry[1]), entry[0]))
    return [
        Cause(
            message=message,
            remedy=remedy,
            milder=milder,
            hits=sorted(found, key=lambda hit: -scan_devices.gpus(hit.result.accelerators).number),
        )
        for (message, remedy, milder), found in groups
    ]


def _message(hit: Hit) -> tuple[str, str, str]:
    judgement = hit.finding.judgement
    return judgement.finding.message, judgement.finding.remedy, wording.milder(judgement)


def _gpus(hits: Iterable[Hit]) -> int | Decimal:
    """A sort key, most first."""
    return -sum(scan_devices.gpus(hit.result.accelerators).number for hit in hits)


_Key = TypeVar("_Key", bound=Hashable)


def _by(hits: Iterable[Hit], key: Callable[[Hit], _Key]) -> dict[_Key, list[Hit]]:
    groups: dict[_Key, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[key(hit)].append(hit)
    return groups
