"""What usher says of one version of a document."""

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
    """The diagnostics, and what explanations of them rest on."""

    document: Document
    diagnostics: Sequence[Diagnostic] = ()
    config: models.Config = field(default_factory=models.Config)
    """The configuration by which the document was judged."""
    items: Sequence[Item] = ()
    """Its objects."""
    results: Sequence[findings.Result] = ()
    """The decisions about those that usher judges."""
