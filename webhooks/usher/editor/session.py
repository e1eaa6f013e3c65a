"""Answers an editor's questions about its documents, independent of its protocol. For one thread."""

import logging
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from usher import errors
from usher.editor import changes, configuration, documents
from usher.editor.analysis import Analysis
from usher.editor.diagnostics import Severity, at_line
from usher.editor.documents import Document, Sort
from usher.editor.manifests import Manifests
from usher.editor.neighbours import Check
from usher.editor.positions import Range
from usher.policy.checks.catalogue import Catalogue
from usher.reports import wording

MAX_REMEDIES: Final = 8
"""The most checks for which one place offers changes."""
_REMEMBERED: Final = 64
_NOT_JUDGED: Final = {
    Sort.CHART_TEMPLATE: "a template of a Helm chart, which usher does not render; run: helm template CHART | usher "
    "check -",
    Sort.TOO_LARGE: f"usher judges files of up to {documents.MAX_BYTES // 2**20} MiB in an editor; usher check "
    "judges larger ones",
}

_log = logging.getLogger(__name__)


class Cancelled(Exception):  # noqa: N818 - not an error: the text has changed, so the answer is not wanted any more
    """Raised by `check` when the editor no longer wants the answer."""


class Session:
    """Judges documents and offers changes."""

    def __init__(self, manifests: Manifests, *, catalogue: Catalogue, write: changes.Write | None = None) -> None:
        """Keeps the parts that answers need.

        Args:
            manifests: judges manifests.
            catalogue: the checks and mutations.
            write: writes changes; None if usher cannot.
        """
        self.catalogue = catalogue
        self._manifests = manifests
        self._write = write
        self._written: OrderedDict[tuple[str, str, frozenset[str]], changes.Edit | None] = OrderedDict()

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
        warning = at_line(document.text, 1, severity=Severity.WARNING, message=message)
        return Analysis(document=document, diagnostics=(warning,))

    def remedies(
        self, analysis: Analysis, wanted: Range, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[changes.Change]:
        """The changes that remove findings in a range.

        Raises:
            UsherError: the document cannot be judged.
        """
        found = [each for each in analysis.diagnostics if each.rule and _touch(each.range, wanted)]
        for rule in list(dict.fromkeys(each.rule for each in found))[:MAX_REMEDIES]:
            entry = self.catalogue.checks.get(rule)
            edit = None if entry is None else self._edit(analysis.document, {rule}, opened, check)
            if entry is not None and edit is not None:
                yield changes.Change(title=f"{entry.code} {entry.name}: write the remedy", edit=edit, rule=rule)

    def whole_changes(
        self, document: Document, opened: Mapping[Path, str], *, check: Check
    ) -> Iterator[changes.Change]:
        """The changes for the whole document.

        Raises:
            UsherError: the document cannot be judged.
        """
        mutations = {key for key, entry in self.catalogue.mutations.items() if not entry.silent}
        edit = self._edit(document, mutations, opened, check)
        if edit is not None:
            yield changes.Change(title="Write what the mutating webhook would add", edit=edit)
        edit_of_all = self._edit(document, (), opened, check)
        if edit_of_all is not None and edit_of_all != edit:
            yield changes.Change(title="Write what the webhook would add, and all safe remedies", edit=edit_of_all)

    def _analysed(self, document: Document, opened: Mapping[Path, str], check: Check) -> Analysis:
        sort = documents.sort_of(document)
        if sort in _NOT_JUDGED:
            # A chart can be large too, and its templates are not YAML.
            about = at_line(document.text, 1, severity=Severity.INFORMATION, message=_NOT_JUDGED[sort])
            return Analysis(document=document, diagnostics=(about,))
        if sort is Sort.CONFIGURATION:
            found = configuration.diagnostics(document.text, self.catalogue)
            return Analysis(document=document, diagnostics=tuple(found))
        return self._manifests.analysed(document, opened, check=check)

    def _edit(
        self, document: Document, keys: Collection[str], opened: Mapping[Path, str], check: Check
    ) -> changes.Edit | None:
        if self._write is None or documents.sort_of(document) is not Sort.MANIFEST:
            return None
        known = document.uri, document.text.content, frozenset(keys)
        if known not in self._written:
            new = self._manifests.written(document, opened, write=self._write, keys=keys, check=check)
            self._written[known] = changes.edit(document.text, new)
            if len(self._written) > _REMEMBERED:
                self._written.popitem(last=False)
        return self._written[known]


def _touch(one: Range, other: Range) -> bool:
    return one.start <= other.end and other.start <= one.end
