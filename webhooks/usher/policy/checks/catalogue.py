"""Identity, severity and texts of each check and mutation, and proof that the policies on disk belong together.

The METADATA are read once, when the bundle is built (`tools/build_policies.py`), into `policies/catalogue.json`.

In an installed package they are in `usher/_policies`, in a checkout in `policies/`; only this module knows that.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Final

import orjson
import pydantic
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, TypeAdapter

from usher import errors, memo
from usher.config.described_kinds import DescribedKind

CODE: Final = memo.pattern(r"US[HM]\d{3,4}")
_FIRST_IN_TABLE: Final = {"USH": 0, "USM": 10_000}
"""Where the numbers of checks and of mutations begin in a table of `table_of_numbers`; a code has at most four digits.
"""


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
    UNREAD_KEYS = "unread keys"
    """Objects of files with keys that nothing reads."""


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
    or about these objects beside pods, all or those with accelerators."""
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
    of_agents: bool = False
    """Whether the check is about powers that node agents need, and that system namespaces give."""

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

    def page(self, base: str | None) -> str:
        """The address of its page below `checkPages` of usher.yaml; empty without one, and for checks of the site."""
        return "" if self.category == OWN_CATEGORY else page_address(base, self.name, self.code)

    @property
    def codes(self) -> tuple[str, ...]:
        """Its code and its former codes. No other check or mutation may have them."""
        return (self.code, *(word for word in self.aliases if CODE.fullmatch(word)))


def page_address(base: str | None, name: str, code: str) -> str:
    """The address of a page of docs/checks below `checkPages` of usher.yaml; empty without one."""
    if base and ("{name}" in base or "{code}" in base):
        return base.replace("{name}", name).replace("{code}", code)
    return f"{base.rstrip('/')}/{name}.md" if base else ""


class Catalogue(Struct, frozen=True, kw_only=True, dict=True):
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

    def named(self, word: str) -> list[str]:
        """The keys of the entries with this code, name, alias, key or category, in any case."""
        wanted = word.casefold()
        return [
            entry.key
            for entry in self
            if wanted
            in {each.casefold() for each in (entry.code, entry.name, entry.key, entry.category, *entry.aliases)}
        ]

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

    @cached_property
    def keys_of_checks(self) -> dict[str, str]:
        """Keys of checks by the words that usher.yaml may use: codes, names and aliases."""
        return {word: entry.key for entry in self.checks.values() for word in (entry.code, entry.name, *entry.aliases)}


def number_in_table(entry: Entry) -> int:
    """The place of a check or a mutation of usher in a table of `table_of_numbers`; -1 for own checks of a site."""
    first = _FIRST_IN_TABLE.get(entry.code[:3])
    return -1 if first is None else first + entry.number


def table_of_numbers(entries: Iterable[Entry]) -> bytes:
    """A byte for each number of a check or a mutation of usher, 1 for these; own checks of a site have no place."""
    numbers = [number for each in entries if (number := number_in_table(each)) >= 0]
    table = bytearray(max(numbers, default=-1) + 1)
    for number in numbers:
        table[number] = 1
    return bytes(table)


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

OWN_CODE: Final = memo.pattern(r"(?!US[HM]\d)[A-Z]{2,10}\d{1,4}")
"""The codes of own checks: a prefix of the site, and a number. The prefixes USH and USM belong to usher."""

OWN_NAME: Final = memo.pattern(r"(?!lib$)[a-z][a-z0-9_]{0,62}(?<!_test)")
"""The folder of an own check, which is also the last part of its package; `lib` holds code that checks share."""

_CODES_OF_USHER: Final = ("closes", "order", "promises", "silent", "protects_others")
"""Fields of METADATA that would have no effect in an own check."""


class OwnChecks(Struct, frozen=True, kw_only=True):
    """The compiled checks of one directory or bundle."""

    source: str
    entries: tuple[Entry, ...]
    module: bytes
    workloads: tuple[DescribedKind, ...] = ()
    """Descriptions of kinds that come with the checks, as in usher.yaml."""


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


MANIFEST = "bundle.json"
WASM = "policy.wasm"
CATALOGUE = "catalogue.json"
REVISION_FILE = "usher/main/revision.rego"
"""A generated file by which an OPA server answers which policies it has."""
REVISION_RULE = "usher/main/revision"


class Bundle(Struct, frozen=True, kw_only=True):
    """A verified bundle."""

    directory: Path
    revision: str
    """Digest over all files; every change of a policy changes it."""
    source_revision: str
    """Digest over the Rego sources alone, which is also the value of REVISION_RULE."""
    module: bytes
    catalogue: Catalogue


def sources(directory: Path) -> list[Path]:
    """The Rego files that are compiled; tests are not."""
    return [directory / name for name in _sources(directory)]


def _sources(directory: Path) -> list[str]:
    """Paths of the files in the directory.

    These are texts because every run reads all: a `Path` costs more than its file.
    """
    found, folders = list[str](), [(f"{directory}", "")]
    while folders:
        folder, inside = folders.pop()
        with os.scandir(folder) as entries:
            for each in entries:
                name = f"{inside}{each.name}"
                if name.endswith(".rego"):
                    found.append(name)
                elif each.is_dir(follow_symlinks=False):
                    folders.append((each.path, f"{name}/"))
    return sorted(name for name in found if not name.endswith("_test.rego"))


def digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of every file, by its path."""
    return {path: _sha256(content) for path, content in contents.items()}


def contents(directory: Path, *, generated: bool = True) -> dict[str, bytes]:
    """Every file of the bundle, by its path in the bundle; if not `generated`, only its sources."""
    names = [*_sources(directory), *((CATALOGUE, WASM) if generated else ())]
    return {name: _read_file(f"{directory}/{name}") for name in names}


def _read_file(file: str) -> bytes:
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - see `_sources`
        return stream.read()


def revision(file_digests: Mapping[str, str]) -> str:
    return _sha256("\n".join(f"{path} {digest}" for path, digest in sorted(file_digests.items())).encode())[:16]


def source_revision(file_digests: Mapping[str, str]) -> str:
    # The digest leaves out the file that holds it.
    return revision(
        {path: digest for path, digest in file_digests.items() if path.endswith(".rego") and path != REVISION_FILE}
    )


def find() -> Path:
    """The directory of the packaged policies, or of the policies in the checkout.

    Raises:
        BundleError: there is neither.
    """
    package = Path(__file__).resolve().parents[2]
    for directory in (package / "_policies", package.parents[1] / "policies"):
        if (directory / MANIFEST).is_file():
            return directory
    raise errors.BundleError(f"no policies beside {package}; the installation is incomplete, install gpu-usher again")


def load(directory: Path | None = None) -> Bundle:
    """Reads and verifies a bundle.

    Raises:
        BundleError: a file is missing or unreadable, or does not have the digest that was noted when it was built.
    """
    directory = directory or find()
    try:
        manifest = orjson.loads((directory / MANIFEST).read_bytes())
        expected = dict(manifest["files"])
        found = contents(directory)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise errors.BundleError(f"{directory}: the policy bundle cannot be read: {error}") from None
    actual = digests(found)
    for path in sorted({*expected, *actual}):
        if expected.get(path) != actual.get(path):
            raise errors.BundleError(
                f"{directory / path}: not the file that {WASM} was built from and tested with; "
                "run scripts/policies, or install gpu-usher again"
            )
    try:
        entries = parse(found[CATALOGUE])
    except (pydantic.ValidationError, KeyError) as error:
        raise errors.BundleError(f"{directory / CATALOGUE}: {error}") from None
    return Bundle(
        directory=directory,
        revision=revision(actual),
        source_revision=source_revision(actual),
        module=found[WASM],
        catalogue=entries,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
