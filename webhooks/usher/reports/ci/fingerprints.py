"""Fingerprints by which CI systems know a finding of an earlier run again.

They do not change when lines move, when a list gets an item before the place, or when a number in the message changes.
"""

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from usher.reports.ci.entries import Entry

_NUMBERS: Final = re.compile(r"\d+")
_INDEX: Final = re.compile(r"/\d+(?=/|$)")
_DIGITS: Final = 32


def of(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """Each entry with its fingerprint: 32 hexadecimal digits, unique in the run."""
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in entries:
        key = _key(entry)
        seen[key] += 1
        # JSON or lengths are not needed: a NUL is in no name that the API server accepts, and a clash costs nothing.
        text = "\0".join((*key, str(seen[key])))
        yield entry, hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:_DIGITS]


def _key(entry: Entry) -> tuple[str, ...]:
    source = posixpath.normpath(entry.source)
    if entry.finding is None or entry.result is None:
        return source, entry.title, entry.subject, _NUMBERS.sub("#", entry.message)
    identity, found = entry.result.identity, entry.finding.judgement.finding
    return (
        source,
        found.check,
        identity.api_version,
        identity.kind,
        identity.namespace,
        identity.name,
        _INDEX.sub("/*", found.path),
        _NUMBERS.sub("#", found.message),
    )
