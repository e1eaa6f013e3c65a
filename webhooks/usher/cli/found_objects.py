"""The error for inputs without any Kubernetes object: a typing error in a path must not look like a clean run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from usher import errors

if TYPE_CHECKING:
    from usher.check import findings


def require(found: "findings.Report", paths: Sequence[str]) -> None:
    """Raises InputError if no object was found."""
    if not found.totals.objects and not found.problems:
        raise missing(paths, notes=found.notes, documents=found.totals.ignored)


def missing(paths: Sequence[str], *, notes: "Sequence[findings.Note]", documents: int = 0) -> errors.InputError:
    """The error for inputs without any Kubernetes object; it names the other content.

    Args:
        paths: the inputs.
        notes: notes on documents that were left out.
        documents: the number of documents without an object.
    """
    places = ", ".join("standard input" if path == "-" else path for path in paths)
    reasons = [f"{note.source}: {note.reason}" for note in notes[:3]]
    if documents and not reasons:
        read = (
            "1 document was read, and it holds"
            if documents == 1
            else f"{documents:,} documents were read, and they hold"
        )
        reasons = [f"{read} no Kubernetes object"]
    why = "\n".join(reasons) or "of a directory, usher reads the files that end in .yaml, .yml or .json"
    return errors.InputError(f"no manifests found in {places}: {why}")
