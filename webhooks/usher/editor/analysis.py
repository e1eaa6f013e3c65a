"""The analysis of one version of a document."""

from collections.abc import Sequence
from dataclasses import field

from usher.config import models
from usher.dataclass import dataclass
from usher.editor.diagnostics import Diagnostic
from usher.editor.documents import Document
from usher.scan import findings
from usher.scan.batches import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The diagnostics, and the data for explaining them."""

    document: Document
    diagnostics: Sequence[Diagnostic] = ()
    config: models.Config = field(default_factory=models.Config)
    """The configuration that judged the document."""
    items: Sequence[Item] = ()
    """Its objects."""
    results: Sequence[findings.Result] = ()
    """The decisions about the objects that usher judges."""
