"""The results of all analyses of an audit, for its document; empty for an analysis that did not run."""

from dataclasses import field
from datetime import timedelta

from usher.audit.document import FindingEntry, ReadinessItem
from usher.audit.usage.measured import Measured
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """One value for each analysis."""

    standing: tuple[FindingEntry, ...] = ()
    """Findings about the cluster as a whole."""
    readiness: tuple[ReadinessItem, ...] = ()
    """The production checklist."""
    measured: Measured = field(default_factory=Measured)
    """Usage and money."""
    window: timedelta = timedelta(days=7)
    """The window of the usage."""
