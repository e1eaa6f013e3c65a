"""Documents of an editor, and what usher says of them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import yaml

from usher import paths
from usher.check.editor import documents
from usher.check.editor.documents import Analysis, Diagnostic, Document, Encoding, Text
from usher.check.editor.session import Manifests, Session, Site
from usher.config import models
from usher.policy import assembly
from usher.policy.checks import catalogue
from usher.policy.evaluator import Evaluator

UNSAVED = "untitled:Untitled-1"
CATALOGUE = catalogue.load().catalogue


def document(
    content: str, *, at: Path | str = UNSAVED, encoding: Encoding = Encoding.UTF_16, version: int = 1
) -> Document:
    uri = at.as_uri() if isinstance(at, Path) else at
    return Document(uri=uri, text=Text(content, encoding=encoding), version=version)


def manifest(*values: paths.Object) -> str:
    """The text of objects, as people write it."""
    return yaml.safe_dump_all(values, sort_keys=False, allow_unicode=True)


def session(
    make: Callable[[], Evaluator] = lambda: assembly.embedded(models.Config()),
    *,
    rests_on: Iterable[Path] = (),
    write: documents.Write | None = None,
) -> Session:
    files = tuple(rests_on)
    return Session(Manifests(Site(make, rests_on=lambda: files), namespace="default"), catalogue=CATALOGUE, write=write)


def analysed(asked: Session, opened: Document, others: Mapping[Path, str] | None = None) -> Analysis:
    return asked.analyse(opened, others or {}, check=wanted)


def wanted() -> None:
    """The answer is still wanted."""


def underlined(found: Diagnostic, opened: Document) -> str:
    """The text that a diagnostic underlines."""
    text = opened.text
    return text.content[text.offset(found.range.start) : text.offset(found.range.end)]
