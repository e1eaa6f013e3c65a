"""The audit document: all that a report shows, as one versioned JSON value.

Analyses write it and reports read it; a report needs nothing else, so a saved document makes the same report later.
Within v1alpha1 fields may be added; fields keep their names and meaning. A number that was not measured is null, never
0. Only `taken` and the measured window differ between two audits of an unchanged cluster.
"""

from usher.audit.document.audit_document import (
    AcceleratorEntry,
    Audit,
    Cluster,
    Completeness,
    Entry,
    Gap,
    Point,
    ReadinessItem,
    Standing,
    Summary,
    Trend,
)
from usher.audit.document.audit_entries import (
    Cost,
    ExceptionEntry,
    FindingEntry,
    Group,
    GroupTable,
    Measurement,
    NotEvaluatedEntry,
    NotJudgedEntry,
    Prevented,
    PriceEntry,
    Saving,
    Severity,
    Subject,
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
