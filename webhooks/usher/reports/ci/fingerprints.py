"""Fingerprints by which CI systems recognise a finding of an earlier run (`scan.fingerprints`, and the file)."""

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from usher.reports.ci.entries import Entry
from usher.scan import fingerprints

_DIGITS: Final = 32


def of(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """Each entry with its fingerprint: 32 hexadecimal digits, unique in the run."""
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in entries:
        key = _key(entry)
        seen[key] += 1
        # A NUL as separator is enough: the API server accepts it in no name, and a clash does no harm.
        text = "\0".join((*key, str(seen[key])))
        yield entry, hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:_DIGITS]


def _key(entry: Entry) -> tuple[str, ...]:
    source = posixpath.normpath(entry.source)
    if entry.finding is None or entry.result is None:
        return source, entry.title, entry.subject, fingerprints.without_numbers(entry.message)
    return source, *fingerprints.of(entry.result, entry.finding)
