"""What each check and mutation is: identity, severity and texts, from the METADATA of its Rego file.

The METADATA are read once, when the bundle is built (`tools/build_policies.py`), into `policies/catalogue.json`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, TypeAdapter


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class About(StrEnum):
    """What a check looks at; it is asked about nothing else."""

    PODS = "pods"
    """Workloads: whatever makes pods."""
    ACCELERATOR_PODS = "accelerator pods"
    """Workloads of which some pods ask for accelerators."""
    ORDINARY_PODS = "ordinary pods"
    """Workloads of which some pods ask for no accelerator."""
    LABELLED_PODS = "labelled pods"
    """Workloads that have, or whose templates have, a label or an annotation that rules read: most pods have none."""
    CLUSTER_FACTS = "cluster facts"
    """Workloads, or objects of the kinds that `kinds` names, where anything is known of the cluster they are for."""
    OBJECTS = "objects"
    """What rules read of an object beside its pods; `kinds` names the kinds."""


class Parameter(BaseModel):
    """What usher.yaml may set for a check."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: bool | int | str | list[str]
    """Also says of which type the values are."""
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
    """Why what the check finds matters, in one line."""
    about: About = About.PODS
    kinds: tuple[str, ...] = ()
    """Of a check about objects, and of one about cluster facts that asks for no workload, the keys of their kinds in
    `input.object`."""
    closes: tuple[str, ...] = ()
    """Which rules (S) and bypass routes (B) of the field's list it closes; docs/coverage.md."""
    aliases: tuple[str, ...] = ()
    """Names that it had, or that others have for it."""
    parameters: dict[str, Parameter] = {}
    severity: Severity | None = None
    """Of checks; mutations have none."""
    order: int = 0
    """Of a mutation: when it is applied, after those with smaller numbers (docs/domain/mutation-order.md)."""
    on_by_default: bool = True
    """Of a mutation; one that is not must be switched on in usher.yaml."""
    promises: tuple[str, ...] = ()
    """Of a mutation: the checks, by key, that find nothing any more where it was applied."""
    silent: bool = False
    """Of a mutation that changes nearly every pod of a cluster: the annotation tells of it, and no warning does."""
    mended_on_pods: bool = False
    """Whether a mutation mends what the check finds when the pods are made, whatever their template says."""

    @property
    def name(self) -> str:
        return self.key.partition("/")[2].replace("_", "-")

    @property
    def number(self) -> int:
        """By which checks are put in order."""
        return int(self.code[3:])

    @property
    def category(self) -> str:
        return self.key.partition("/")[0]


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
                if wanted in (entry.code.casefold(), entry.name.casefold(), entry.key, *entry.aliases)
            ),
            None,
        )

    def mutation_name(self, key: str) -> str:
        """The name of a mutation, as people know it."""
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
        """Keys by codes, names and aliases: the words in which usher.yaml speaks of checks."""
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
