"""Answers an editor's questions about its documents, independent of its protocol. For one thread."""

import logging
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from usher import errors, paths
from usher.check import batches
from usher.check.batches import Item
from usher.check.editor import completion, documents
from usher.check.editor.documents import (
    Analysis,
    Diagnostic,
    Document,
    DocumentType,
    Range,
    Severity,
    Text,
    diagnostic_at_line,
)
from usher.check.editor.open_manifests import Check, Manifests
from usher.check.formats import wording
from usher.config import load, models
from usher.documents import places, reader
from usher.policy import config_problems
from usher.policy.checks.catalogue import Catalogue

_CONFIG_SOURCE: Final = "usher.yaml"


def config_diagnostics(text: Text, catalogue: Catalogue) -> list[Diagnostic]:
    """All mistakes and warnings of a text for usher.yaml, in the order of their lines."""
    try:
        documents = reader.parse(text.content, source=_CONFIG_SOURCE)
    except errors.ManifestError as error:
        start = text.offset_of(error.line, error.column)
        message = wording.capitalised(wording.printable(error.reason))
        return [Diagnostic(range=text.range(start, start + 1), severity=Severity.ERROR, message=message)]
    if not documents:
        return []
    if len(documents) > 1:
        message = "usher.yaml is one document; remove this one"
        return [diagnostic_at_line(text, documents[1].line, severity=Severity.ERROR, message=message)]
    found = list(_find_mistakes(documents[0], text, catalogue))
    return sorted(found, key=lambda each: each.range.start)


def _find_mistakes(document: reader.Document, text: Text, catalogue: Catalogue) -> Iterator[Diagnostic]:
    mistakes = load.find_mistakes(document.value, more=lambda config: config_problems.problems(config, catalogue))
    where = _Places(document, text)
    for pointer, reason in mistakes:
        yield where.diagnostic(pointer, reason, Severity.ERROR)
    if not mistakes:
        for pointer, reason in config_problems.warnings(models.Config.model_validate(document.value)):
            yield where.diagnostic(pointer, reason, Severity.WARNING)


class _Places:
    def __init__(self, document: reader.Document, text: Text) -> None:
        self._value = document.value
        self._text = text
        self._places = places.Places(document)
        value = document.value if isinstance(document.value, dict) else {}
        self._pointer = batches.Pointer(Item(value=value, document=document))

    def diagnostic(self, pointer: str, reason: str, severity: Severity) -> Diagnostic:
        line, column, end_column = self._place(pointer)
        start, end = self._text.offset_of(line, column), self._text.offset_of(line, end_column)
        message = wording.capitalised(wording.printable(reason))
        if pointer not in self._places:
            message = f"{wording.printable(paths.readable(pointer))}: {wording.printable(reason)}"
        return Diagnostic(range=self._text.range(start, end), severity=severity, message=message)

    def _place(self, pointer: str) -> tuple[int, int, int]:
        """The place of an unknown key, or of the value of a known key if it is a text or a number."""
        known = self._places.get(pointer)
        if known is not None and known.key is not None and not completion.field_at(self._keys(pointer)):
            return known.key.line, known.key.column, known.key.end_column
        place = self._pointer.place(pointer)
        return (place.line, place.column, place.end_column) if place is not None else (1, 1, 1)

    def _keys(self, pointer: str) -> Sequence[str | int]:
        """The pointer as keys, with numbers for the items of lists."""
        keys = list[str | int]()
        value = self._value
        for key in paths.split(pointer):
            if isinstance(value, list):
                keys.append(int(key))
                value = value[int(key)]
            else:
                keys.append(key)
                value = value.get(key) if isinstance(value, dict) else None
        return keys


MAX_REMEDIES: Final = 8
"""The most checks for which one place offers changes."""
_REMEMBERED: Final = 64
_NOT_JUDGED: Final = {
    DocumentType.CHART_TEMPLATE: "a template of a Helm chart, which usher does not render; "
    "run: helm template CHART | usher "
    "check -",
    DocumentType.TOO_LARGE: f"usher judges files of up to {documents.MAX_BYTES // 2**20} MiB in an editor; usher check "
    "judges larger ones",
}

_log = logging.getLogger(__name__)


class Cancelled(Exception):  # noqa: N818 - not an error: the text has changed, so the answer is not wanted any more
    """Raised by `check` when the editor no longer wants the answer."""


class Session:
    """Judges documents and offers changes."""

    def __init__(self, manifests: Manifests, *, catalogue: Catalogue, write: documents.Write | None = None) -> None:
        """Keeps the parts that answers need.

        Args:
            manifests: judges manifests.
            catalogue: the checks and mutations.
            write: writes changes; None if usher cannot.
        """
        self.catalogue = catalogue
        self._manifests = manifests
        self._write = write
        self._written: OrderedDict[tuple[str, str, frozenset[str]], documents.Edit | None] = OrderedDict()

    @property
    def offers_changes(self) -> bool:
        return self._write is not None

    def analyse(self, document: Document, opened: Mapping[Path, str], *, check: Check) -> Analysis:
        """The analysis of a document. A fault of usher becomes a diagnostic too, so that usher goes on with the next
        text.

        Args:
            document: the document.
            opened: the texts of all files that are open in the editor.
            check: called from time to time; raises Cancelled when the editor no longer wants the answer.
        """
        try:
            return self._analysed(document, opened, check)
        except Cancelled:
            raise
        except errors.UsherError as error:
            message = f"not judged: {wording.printable('; '.join(str(error).splitlines()))}"
        except Exception as error:  # noqa: BLE001 - one document must not end the server
            _log.exception("usher could not judge %s", document.uri)
            # The state that the fault left must not affect the next text.
            self._manifests.site.close()
            message = f"not judged, because of an internal error: {type(error).__name__}. Please report it with the log"
        warning = diagnostic_at_line(document.text, 1, severity=Severity.WARNING, message=message)
        return Analysis(document=document, diagnostics=(warning,))

    def remedies(
        self, analysis: Analysis, wanted: Range, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[documents.Change]:
        """The changes that remove findings in a range.

        Raises:
            UsherError: the document cannot be judged.
        """
        found = [each for each in analysis.diagnostics if each.rule and _touch(each.range, wanted)]
        for rule in list(dict.fromkeys(each.rule for each in found))[:MAX_REMEDIES]:
            entry = self.catalogue.checks.get(rule)
            edit = None if entry is None else self._edit(analysis.document, {rule}, opened, check)
            if entry is not None and edit is not None:
                yield documents.Change(title=f"{entry.code} {entry.name}: write the remedy", edit=edit, rule=rule)

    def whole_changes(
        self, document: Document, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[documents.Change]:
        """The changes for the whole document.

        Raises:
            UsherError: the document cannot be judged.
        """
        mutations = {key for key, entry in self.catalogue.mutations.items() if not entry.silent}
        edit = self._edit(document, mutations, opened, check)
        if edit is not None:
            yield documents.Change(title="Write what the mutating webhook would add", edit=edit)
        edit_of_all = self._edit(document, (), opened, check)
        if edit_of_all is not None and edit_of_all != edit:
            yield documents.Change(title="Write what the webhook would add, and all safe remedies", edit=edit_of_all)

    def _analysed(self, document: Document, opened: Mapping[Path, str], check: Check) -> Analysis:
        sort = documents.sort_of(document)
        if sort in _NOT_JUDGED:
            # A chart can be large too, and its templates are not YAML.
            about = diagnostic_at_line(document.text, 1, severity=Severity.INFORMATION, message=_NOT_JUDGED[sort])
            return Analysis(document=document, diagnostics=(about,))
        if sort is DocumentType.CONFIGURATION:
            found = config_diagnostics(document.text, self.catalogue)
            return Analysis(document=document, diagnostics=tuple(found))
        return self._manifests.analysed(document, opened, check=check)

    def _edit(
        self, document: Document, keys: Collection[str], opened: Mapping[Path, str], check: Check
    ) -> documents.Edit | None:
        if self._write is None or documents.sort_of(document) is not DocumentType.MANIFEST:
            return None
        known = document.uri, document.text.content, frozenset(keys)
        if known not in self._written:
            new = self._manifests.written(document, opened, write=self._write, keys=keys, check=check)
            self._written[known] = documents.edit_between(document.text, new)
            if len(self._written) > _REMEMBERED:
                self._written.popitem(last=False)
        return self._written[known]


def _touch(one: Range, other: Range) -> bool:
    return one.start <= other.end and other.start <= one.end
