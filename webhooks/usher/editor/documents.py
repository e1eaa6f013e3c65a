"""The documents that are open in an editor, and their types: a manifest, usher.yaml, or neither."""

import re
import urllib.parse
from enum import StrEnum
from pathlib import Path
from typing import Final

from usher.config import models
from usher.dataclass import dataclass
from usher.editor.positions import Text

MAX_BYTES: Final = 2 * 2**20
"""The largest document, in bytes, that usher judges while the user types."""

_CHART: Final = "Chart.yaml"
_CONFIG_NAMES: Final = ("usher.yaml", "usher.yml")
_IS_CONFIG: Final = re.compile(
    rf"^apiVersion:[ \t]*[\"']?{re.escape(models.API_VERSION)}[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE
)
_KIND_CONFIG: Final = re.compile(r"^kind:[ \t]*[\"']?Config[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


class Sort(StrEnum):
    MANIFEST = "manifest"
    CONFIGURATION = "configuration"
    """usher.yaml."""
    CHART_TEMPLATE = "chart template"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text in the editor, which may differ from the saved file."""

    uri: str
    text: Text
    version: int = 0

    @property
    def path(self) -> Path | None:
        """Its file; None if it has no file on this machine."""
        return path_of(self.uri)


def path_of(uri: str) -> Path | None:
    """The absolute path of a `file:` URI; None for any other URI, and for files of other machines."""
    try:
        parts = urllib.parse.urlsplit(uri)
        path = urllib.parse.unquote(parts.path, errors="strict")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(path) if path.startswith("/") and "\0" not in path else None


def sort_of(document: Document) -> Sort:
    """The type of the document, by its size, its place and its first words."""
    content, path = document.text.content, document.path
    if len(content) > MAX_BYTES // 4 and len(content.encode(errors="surrogatepass")) > MAX_BYTES:
        return Sort.TOO_LARGE
    if path is not None and _is_of_chart(path):
        return Sort.CHART_TEMPLATE
    if (path is not None and path.name in _CONFIG_NAMES) or (
        _IS_CONFIG.search(content) and _KIND_CONFIG.search(content)
    ):
        return Sort.CONFIGURATION
    return Sort.MANIFEST


def _is_of_chart(path: Path) -> bool:
    try:
        return any(parent.name == "templates" and (parent.parent / _CHART).is_file() for parent in path.parents)
    except OSError:
        return False
