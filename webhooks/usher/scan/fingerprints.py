"""Fingerprints that recognise a finding in a later run.

A fingerprint does not change when lines move, when a list gets an item before the place, or when a number in the
message changes.
"""

import re
from typing import Final, NamedTuple

from usher.scan import findings

_NUMBERS: Final = re.compile(r"\d+")
_INDEX: Final = re.compile(r"/\d+(?=/|$)")


class Key(NamedTuple):
    """A check, an object, a place and a message, without the parts that change between runs."""

    check: str
    """The key of the check: `resources/whole_gpus_only`."""
    api_version: str
    kind: str
    namespace: str
    name: str
    path: str
    message: str


def of(result: findings.Result, finding: findings.Finding) -> Key:
    """The key of a finding. Two findings of one object may have the same key."""
    identity, found = result.identity, finding.judgement.finding
    return Key(
        check=found.check,
        api_version=identity.api_version,
        kind=identity.kind,
        namespace=identity.namespace,
        name=identity.name,
        path=_INDEX.sub("/*", found.path),
        message=without_numbers(found.message),
    )


def without_numbers(text: str) -> str:
    """A message with placeholders for its numbers."""
    return _NUMBERS.sub("#", text)
