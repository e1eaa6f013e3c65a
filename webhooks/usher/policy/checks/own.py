"""A site's own checks: how usher recognises them, and the catalogue of both together."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from usher import errors
from usher.dataclass import dataclass
from usher.policy.checks.catalogue import Catalogue, Entry

CATEGORY: Final = "site"
"""The category of all own checks; no check of usher has it."""

CODE: Final = re.compile(r"(?!US[HM]\d)[A-Z]{2,10}\d{1,4}")
"""The codes of own checks: a prefix of the site, and a number. The prefixes USH and USM belong to usher."""

NAME: Final = re.compile(r"(?!lib$)[a-z][a-z0-9_]{0,62}(?<!_test)")
"""The folder of an own check, which is also the last part of its package; `lib` holds code that checks share."""

_OF_USHER: Final = ("closes", "order", "promises", "silent", "protects_others")
"""Fields of METADATA that would have no effect in an own check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChecks:
    """The compiled checks of one directory or bundle."""

    source: str
    entries: tuple[Entry, ...]
    module: bytes


def refuse(entries: Iterable[Entry], *, source: str) -> None:
    """Returns if these entries can be own checks.

    Raises:
        InputError: one is not of their category, or lacks a code of the site or a severity; or two share a word.
    """
    taken: dict[str, str] = {}
    for entry in entries:
        category, _, folder = entry.key.partition("/")
        if category != CATEGORY or not NAME.fullmatch(folder):
            raise errors.InputError(f"{source}: {entry.key}: own checks have keys like {CATEGORY}/gpus_per_pod")
        if not CODE.fullmatch(entry.code):
            raise errors.InputError(
                f"{source}: {entry.name}: the code {entry.code} is not a prefix of your site with a number, for "
                "example ACME101; the prefixes USH and USM belong to usher"
            )
        if entry.severity is None:
            raise errors.InputError(f"{source}: {entry.code} {entry.name}: has no severity; add it to its METADATA")
        if field := next((name for name in _OF_USHER if getattr(entry, name)), ""):
            raise errors.InputError(f"{source}: {entry.code} {entry.name}: {field} is for rules of usher; remove it")
        for word in _words(entry):
            if word in taken:
                raise errors.InputError(f"{source}: {entry.name}: {word} belongs to {taken[word]}; choose another one")
        taken |= dict.fromkeys(_words(entry), entry.name)


def joined(ours: Catalogue, own: Sequence[OwnChecks]) -> Catalogue:
    """The catalogue of usher's checks and mutations and of all own checks.

    Raises:
        InputError: a code, name or alias of an own check is also that of another check or mutation.
    """
    taken = {word: f"{entry.code} of usher" for entry in ours for word in (*_words(entry), entry.category)}
    checks = dict(ours.checks)
    for each in own:
        refuse(each.entries, source=each.source)
        for entry in each.entries:
            clash = next((word for word in _words(entry) if word in taken), None)
            if clash is not None:
                raise errors.InputError(
                    f"{each.source}: {entry.name}: {clash} belongs to {taken[clash]}; choose another one"
                )
            checks[entry.key] = entry
        taken |= {word: f"{entry.code} of {each.source}" for entry in each.entries for word in _words(entry)}
    return Catalogue(checks=checks, mutations=ours.mutations)


def _words(entry: Entry) -> set[str]:
    """The words by which usher.yaml and users may name a check, without regard to case."""
    return {word.casefold() for word in (entry.code, entry.name, entry.key, *entry.aliases)}
