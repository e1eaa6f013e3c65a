"""Identity, severity and texts of each check and mutation, from the METADATA of its Rego file.

The METADATA are read once, when the bundle is built (`tools/build_policies.py`), into `policies/catalogue.json`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from string import ascii_uppercase
from typing import Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, TypeAdapter

from usher import errors

CODE: Final = re.compile(r"US[HM]\d{3,4}")


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class About(StrEnum):
    """The subjects of a check; usher runs the check only for these workloads or objects."""

    PODS = "pods"
    """All workloads: objects that make pods, and Pods."""
    ACCELERATOR_PODS = "accelerator pods"
    """Workloads with pods that ask for accelerators."""
    ORDINARY_PODS = "ordinary pods"
    """Workloads with pods that ask for no accelerator."""
    LABELLED_PODS = "labelled pods"
    """Workloads with a label or an annotation that rules read, on the object or on a template. Few pods have one."""
    CLUSTER_FACTS = "cluster facts"
    """Workloads, or objects of the kinds in `kinds`, if usher knows any fact of their cluster."""
    OBJECTS = "objects"
    """Fields of an object beside its pods; `kinds` names the kinds."""
    LARGE_OBJECTS = "large objects"
    """Objects that are too large to judge. No other check is asked about them."""


class Parameter(BaseModel):
    """A value that usher.yaml may set for a check."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: bool | int | str | list[str]
    """Values in usher.yaml must have the type of the default."""
    description: str


class Link(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    ref: str
    description: str = ""


class Entry(BaseModel):
    """A check or a mutation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    """`category/name` as in the folders, with underscores."""
    code: str
    title: str
    description: str
    remediation: str = ""
    links: tuple[Link, ...] = ()
    why: str = ""
    """Why a finding of the check matters, in one line."""
    about: About = About.PODS
    kinds: tuple[str, ...] = ()
    """Keys of kinds in `input.object`: of a check about objects, about cluster facts of objects that are not workloads,
    or about these objects beside pods with accelerators."""
    closes: tuple[str, ...] = ()
    """Rules (S) and bypass routes (B) in docs/coverage.md that the check closes."""
    aliases: tuple[str, ...] = ()
    """Former codes and names, also of checks that became part of this one, and names that other tools use."""
    parameters: dict[str, Parameter] = {}
    severity: Severity | None = None
    """The severity of a check; None for a mutation."""
    strict_only: str = ""
    """Why only the preset `strict` has the check; empty for a check of all presets."""
    order: int = 0
    """When a mutation is applied: after mutations with smaller numbers (docs/domain/mutation-order.md)."""
    on_by_default: bool = True
    """Whether a mutation applies unless usher.yaml switches it off."""
    promises: tuple[str, ...] = ()
    """Keys of the checks that pass once a mutation is applied."""
    silent: bool = False
    """Whether a mutation changes nearly every pod: the annotation names it, but no warning does."""
    protects_others: bool = False
    """Whether an object without the mutation takes resources that a site keeps for other workloads."""
    mended_on_pods: bool = False
    """Whether a mutation mends a finding of the check in the pods, when they are created."""

    @property
    def name(self) -> str:
        return self.key.partition("/")[2].replace("_", "-")

    @property
    def number(self) -> int:
        """The number in the code, by which checks are sorted."""
        return int(self.code.lstrip(ascii_uppercase))

    @property
    def category(self) -> str:
        return self.key.partition("/")[0]

    @property
    def codes(self) -> tuple[str, ...]:
        """Its code and its former codes. No other check or mutation may have them."""
        return (self.code, *(word for word in self.aliases if CODE.fullmatch(word)))


class Catalogue(Struct, frozen=True, kw_only=True):
    """All checks and mutations of a bundle, by key."""

    checks: Mapping[str, Entry]
    mutations: Mapping[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        yield from self.checks.values()
        yield from self.mutations.values()

    def find(self, code_or_name: str) -> Entry | None:
        """By code (USH103), name (gpu-requests-equal-limits), alias or key."""
        wanted = code_or_name.casefold()
        return next(
            (
                entry
                for entry in self
                if wanted in {word.casefold() for word in (entry.code, entry.name, entry.key, *entry.aliases)}
            ),
            None,
        )

    def mutation_name(self, key: str) -> str:
        """The name of a mutation by its key; the key itself for an unknown mutation."""
        entry = self.mutations.get(key)
        return entry.name if entry is not None else key

    def order_of(self, mutation: str) -> int:
        """When a mutation is applied, by its key: after those with smaller numbers."""
        entry = self.mutations.get(mutation)
        return entry.order if entry is not None else 0

    def is_silent(self, mutation: str) -> bool:
        """Whether no warning names a mutation, given by its key."""
        entry = self.mutations.get(mutation)
        return entry is not None and entry.silent

    @property
    def keys_of_checks(self) -> dict[str, str]:
        """Keys of checks by the words that usher.yaml may use: codes, names and aliases."""
        return {word: entry.key for entry in self.checks.values() for word in (entry.code, entry.name, *entry.aliases)}


_ENTRIES = TypeAdapter(dict[str, list[Entry]])


def parse(text: bytes) -> Catalogue:
    """The catalogue from its JSON: `{"checks": [...], "mutations": [...]}`.

    Raises:
        pydantic.ValidationError: it was not written by `tools/build_policies.py` of this version.
    """
    entries = _ENTRIES.validate_json(text)
    return Catalogue(
        checks={entry.key: entry for entry in entries["checks"]},
        mutations={entry.key: entry for entry in entries["mutations"]},
    )


OWN_CATEGORY: Final = "site"
"""The category of all own checks; no check of usher has it."""

OWN_CODE: Final = re.compile(r"(?!US[HM]\d)[A-Z]{2,10}\d{1,4}")
"""The codes of own checks: a prefix of the site, and a number. The prefixes USH and USM belong to usher."""

OWN_NAME: Final = re.compile(r"(?!lib$)[a-z][a-z0-9_]{0,62}(?<!_test)")
"""The folder of an own check, which is also the last part of its package; `lib` holds code that checks share."""

_CODES_OF_USHER: Final = ("closes", "order", "promises", "silent", "protects_others")
"""Fields of METADATA that would have no effect in an own check."""


class OwnChecks(Struct, frozen=True, kw_only=True):
    """The compiled checks of one directory or bundle."""

    source: str
    entries: tuple[Entry, ...]
    module: bytes


def refuse_entries(entries: Iterable[Entry], *, source: str) -> None:
    """Returns if these entries can be own checks.

    Raises:
        InputError: one is not of their category, or lacks a code of the site or a severity; or two share a word.
    """
    taken: dict[str, str] = {}
    for entry in entries:
        category, _, folder = entry.key.partition("/")
        if category != OWN_CATEGORY or not OWN_NAME.fullmatch(folder):
            raise errors.InputError(f"{source}: {entry.key}: own checks have keys like {OWN_CATEGORY}/gpus_per_pod")
        if not OWN_CODE.fullmatch(entry.code):
            raise errors.InputError(
                f"{source}: {entry.name}: the code {entry.code} is not a prefix of your site with a number, for "
                "example ACME101; the prefixes USH and USM belong to usher"
            )
        if entry.severity is None:
            raise errors.InputError(f"{source}: {entry.code} {entry.name}: has no severity; add it to its METADATA")
        if field := next((name for name in _CODES_OF_USHER if getattr(entry, name)), ""):
            raise errors.InputError(f"{source}: {entry.code} {entry.name}: {field} is for rules of usher; remove it")
        for word in _names_of_entry(entry):
            if word in taken:
                raise errors.InputError(f"{source}: {entry.name}: {word} belongs to {taken[word]}; choose another one")
        taken |= dict.fromkeys(_names_of_entry(entry), entry.name)


def join_catalogues(ours: Catalogue, own: Sequence[OwnChecks]) -> Catalogue:
    """The catalogue of usher's checks and mutations and of all own checks.

    Raises:
        InputError: a code, name or alias of an own check is also that of another check or mutation.
    """
    taken = {word: f"{entry.code} of usher" for entry in ours for word in (*_names_of_entry(entry), entry.category)}
    checks = dict(ours.checks)
    for each in own:
        refuse_entries(each.entries, source=each.source)
        for entry in each.entries:
            clash = next((word for word in _names_of_entry(entry) if word in taken), None)
            if clash is not None:
                raise errors.InputError(
                    f"{each.source}: {entry.name}: {clash} belongs to {taken[clash]}; choose another one"
                )
            checks[entry.key] = entry
        taken |= {word: f"{entry.code} of {each.source}" for entry in each.entries for word in _names_of_entry(entry)}
    return Catalogue(checks=checks, mutations=ours.mutations)


def _names_of_entry(entry: Entry) -> set[str]:
    """The words by which usher.yaml and users may name a check, without regard to case."""
    return {word.casefold() for word in (entry.code, entry.name, entry.key, *entry.aliases)}
