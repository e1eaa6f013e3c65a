"""Identity, severity and texts of each check and mutation, from the METADATA of its Rego file.

The METADATA are read once, when the bundle is built (`tools/build_policies.py`), into `policies/catalogue.json`.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from string import ascii_uppercase
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from usher.dataclass import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
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
