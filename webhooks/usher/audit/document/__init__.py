"""The audit document: all that a report shows, as one versioned JSON value.

Analyses write it and reports read it; a report needs nothing else, so a saved document makes the same report later.
Within v1alpha1 fields may be added; fields keep their names and meaning. A number that was not measured is null, never
0. Only `taken` and the measured window differ between two audits of an unchanged cluster.
"""

from usher.audit.document.accelerators import AcceleratorEntry
from usher.audit.document.audit import Audit, Cluster, Completeness, Gap, Summary
from usher.audit.document.findings import (
    ExceptionEntry,
    FindingEntry,
    NotEvaluatedEntry,
    NotJudgedEntry,
    Severity,
    Subject,
)
from usher.audit.document.history import Entry, Point, Trend
from usher.audit.document.readiness import ReadinessItem, Standing
from usher.audit.document.usage import (
    Cost,
    Group,
    GroupTable,
    Measurement,
    Prevented,
    PriceEntry,
    Saving,
    Target,
    Usage,
    WorkloadEntry,
    WorkloadState,
)

__all__ = [
    "AcceleratorEntry",
    "Audit",
    "Cluster",
    "Completeness",
    "Cost",
    "Entry",
    "ExceptionEntry",
    "FindingEntry",
    "Gap",
    "Group",
    "GroupTable",
    "Measurement",
    "NotEvaluatedEntry",
    "NotJudgedEntry",
    "Point",
    "Prevented",
    "PriceEntry",
    "ReadinessItem",
    "Saving",
    "Severity",
    "Standing",
    "Subject",
    "Summary",
    "Target",
    "Trend",
    "Usage",
    "WorkloadEntry",
    "WorkloadState",
]
