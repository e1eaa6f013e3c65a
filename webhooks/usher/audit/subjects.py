"""How entries of the audit document name an object: its identity, and the place of a manifest."""

from usher.audit.document.findings import Subject
from usher.check import findings


def of(identity: findings.Identity) -> Subject:
    """The subject entry of an identity."""
    return Subject(
        api_version=identity.api_version, kind=identity.kind, namespace=identity.namespace, name=identity.name
    )


def place(result: findings.Result, line: int = 0) -> str:
    """`jobs/bert.yaml:41`, the line of a finding or else of its object; empty for objects of a cluster."""
    return f"{result.source}:{line or result.line}" if result.line and not result.exists else ""
