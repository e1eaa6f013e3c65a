"""Makes findings about a cluster into entries of the audit document, with stable fingerprints."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from usher import paths
from usher.audit import fields, subjects
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.estate import Workload
from usher.audit.standing import catalogue
from usher.audit.standing.situation import Prevention

_CATEGORY = "cluster"
_OUTCOME = "audit"
_NOTHING = Prevention()


def finding(  # noqa: PLR0913 - the fields of a finding
    code: str,
    subject: Subject,
    message: str,
    *,
    part: str = "",
    same_as: str = "",
    path: str = "",
    remedy: str = "",
    evidence: Iterable[str] = (),
    team: str = "",
    gpus: float = 0,
    gpus_least: float | None = None,
    since: datetime | None = None,
    held_by: str = "",
    never: bool = False,
    prevention: Prevention = _NOTHING,
    gpus_lost: float | None = None,
    cost_per_hour: float | None = None,
    fixed_by_platform: bool = False,
) -> FindingEntry:
    """A finding of the catalogue. The parameters without a line below are fields of FindingEntry.

    Args:
        code: its code in the catalogue.
        part: distinguishes findings with the same code about the same object: a resource or a profile, without numbers.
        same_as: the code in the fingerprint, for a finding that may change its code.
        remedy: what to do here; by default the remedy of the catalogue.
        gpus_least: may be equal to `gpus`.
        prevention: the check whose denial would have prevented it.
    """
    entry = catalogue.BY_CODE[code]
    return FindingEntry(
        fingerprint=_fingerprint(same_as or code, subject, part or path),
        code=code,
        name=entry.name,
        title=entry.title,
        category=_CATEGORY,
        outcome=_OUTCOME,
        severity=Severity(entry.severity),
        subject=subject,
        path=path,
        message=message,
        remedy=remedy or entry.remedy,
        team=team,
        gpus=round(gpus, 6),
        gpus_least=None if gpus_least == gpus else gpus_least,
        since="" if since is None else since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        evidence=tuple(dict.fromkeys(filter(None, evidence))),
        held_by=held_by,
        never=never,
        prevented_by=prevention.by,
        preventable_by=prevention.if_denied,
        gpus_lost=None if gpus_lost is None else round(gpus_lost, 6),
        cost_per_hour=None if cost_per_hour is None else round(cost_per_hour, 6),
        fixed_by_platform=fixed_by_platform,
    )


def _fingerprint(code: str, subject: Subject, part: str) -> str:
    """The fingerprint of a finding. It has the API group without the version, because an upgrade changes only the
    version.
    """
    group = subject.api_version.rpartition("/")[0]
    words = (code, group, subject.kind, subject.namespace, subject.name, part)
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def of_workload(workload: Workload) -> Subject:
    """A workload as the subject of a finding."""
    return subjects.of(workload.identity)


def of_object(value: paths.Object) -> Subject:
    """An object as the subject of a finding."""
    return Subject(
        api_version=fields.text(value, "/apiVersion"),
        kind=fields.text(value, "/kind"),
        namespace=fields.namespace(value),
        name=fields.name(value),
    )


def named(api_version: str, kind: str, name: str, *, namespace: str = "") -> Subject:
    """An object as the subject of a finding, by its name."""
    return Subject(api_version=api_version, kind=kind, namespace=namespace, name=name)


def of_cluster(name: str) -> Subject:
    """The cluster as the subject of a finding; `name` is the part of the cluster that the finding is about."""
    return Subject(api_version="", kind="Cluster", name=name)


def counted(number: float, word: str) -> str:
    """`1 pod`, `2 pods`, `0.5 GPUs`."""
    return f"{amount(number)} {word}{'' if number == 1 else 's'}"


def amount(number: float) -> str:
    """`1,234` or `0.25`, with at most 6 decimal places."""
    text = f"{number:,.6f}"
    return text.rstrip("0").rstrip(".")
