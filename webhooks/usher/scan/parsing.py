"""Reads the Kubernetes objects in the content of a file or the output of a program."""

from collections.abc import Sequence
from dataclasses import replace

from usher import paths
from usher.documents import chunks, reader
from usher.scan import answers, findings, objects
from usher.scan.batches import Batch, Item


def parsed(content: bytes, *, source: str, explicit: bool, line: int = 1) -> Batch:
    """The objects of a file.

    Args:
        content: its content, or enough of it to show that it is too large.
        source: its name.
        explicit: whether the user named the file. A directory may hold Helm values, workflows and kustomizations
            between the manifests, but the user wants a named file to be judged.
        line: where the content begins in its file.
    """
    if reason := answers.why_no_text(content):
        return Batch(source=source, problems=(findings.Problem(source=source, reason=reason),))
    found = reader.parse_each(content, source=source, line=line)
    if not found.errors:
        return of_documents(found.documents, source=source, explicit=explicit)
    if not explicit and _holds_no_object(content):
        return Batch(source=source, ignored=1)
    problems = [
        findings.Problem(source=source, line=error.line, column=error.column, reason=error.reason)
        for error in found.errors
    ]
    if len(problems) == reader.MAX_ERRORS:
        reason = f"after {reader.MAX_ERRORS} unusable documents the rest of the file is not read; mend these first"
        problems.append(findings.Problem(source=source, reason=reason))
    usable = of_documents(found.documents, source=source, explicit=explicit)
    return replace(usable, problems=(*problems, *usable.problems))


def of_documents(documents: Sequence[reader.Document], *, source: str, explicit: bool) -> Batch:
    """The objects in the documents of a file; arguments as for a file."""
    items: list[Item] = []
    notes, problems, ignored = [], [], 0
    for document in documents:
        answer, cut = answers.why_no_objects(document.value), answers.why_cut(document.value)
        if answer or cut:
            problems.append(findings.Problem(source=source, line=document.line, column=1, reason=answer or cut))
        if answer:
            continue
        whole = objects.completed(items[-1].value, document.value) if items else None
        if whole is not None:
            items[-1] = replace(items[-1], value=whole)
            continue
        for prefix, value in objects.flatten(document.value):
            reason = objects.why_not_object(value)
            if not reason and isinstance(value, dict):
                if not objects.is_own(value):
                    items.append(Item(value=value, document=document, prefix=prefix))
                continue
            ignored += 1
            if explicit or objects.meant_as_workload(value):
                notes.append(findings.Note(source=f"{source}:{document.line}", reason=f"{_at(prefix)}{reason}"))
    return Batch(
        source=source,
        items=tuple(items),
        documents=tuple(documents),
        problems=tuple(problems),
        notes=tuple(notes),
        ignored=ignored,
    )


def _holds_no_object(content: bytes) -> bool:
    """Whether a file that is not valid YAML certainly holds no object: for example a tsconfig.json with comments.

    Every object has the word apiVersion, every compiled pipeline the word pipelineInfo. Only a backslash makes other
    spellings of these words possible.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    words = (b"apiVersion", b"pipelineInfo", b"\\")
    return len(content) <= chunks.MAX_FILE_BYTES and not any(word in content for word in words)


def _at(prefix: str) -> str:
    return f"{paths.readable(prefix)}: " if prefix else ""
