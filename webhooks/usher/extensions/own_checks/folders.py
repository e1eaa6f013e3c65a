"""The folders of own checks, as usher's own have them, and their bundle: one file that needs no `opa`.

checks/gpus_per_team/gpus_per_team.rego
checks/gpus_per_team/gpus_per_team_test.rego
checks/gpus_per_team/examples/bad_pod.yaml
checks/lib/teams.rego                          what several checks share
checks/workloads.yaml                          descriptions of kinds, as under `workloads` in usher.yaml

They become a separate module. So usher's module stays as tested, sites without own checks pay nothing, and a failing
own check does not remove findings of usher.

An archive with a manifest and one WebAssembly module. usher does not trust it: it limits what it reads, runs the module
in the sandbox of the engine, and checks the module's answers.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pydantic
from msgspec import Struct

from usher import __version__, errors, memo, paths
from usher.config.described_kinds import DescribedKind
from usher.extensions import installed_programs, policy_archive
from usher.kinds import registry
from usher.policy.checks import catalogue, metadata
from usher.policy.checks.catalogue import Entry, OwnChecks
from usher.policy.engines.engine import Entrypoint

LIBRARY: Final = "lib"
DESCRIPTIONS: Final = "workloads.yaml"
MOST_CHECKS: Final = 1000
"""Checks in one directory."""
LARGEST_REGO_FILE: Final = 2**20
"""Bytes of a Rego file."""

_KINDS: Final = pydantic.TypeAdapter(tuple[DescribedKind, ...])
_PACKAGE: Final = memo.pattern(r"^package +(\S+)", re.MULTILINE)
_TEST: Final = "_test.rego"
_CODES: Final = metadata.Codes(
    pattern=catalogue.OWN_CODE, words="a prefix of your site and a number, like ACME101; USH and USM belong to usher"
)


class Check(Struct, frozen=True, kw_only=True):
    """One check."""

    entry: Entry
    rule: Path
    text: str
    test: Path | None

    @property
    def examples(self) -> Path:
        return self.rule.parent / "examples"


class Folder(Struct, frozen=True, kw_only=True):
    """A directory of checks."""

    directory: Path
    checks: tuple[Check, ...]
    """In the order of their codes."""
    libraries: tuple[Path, ...]
    workloads: tuple[DescribedKind, ...] = ()

    def files(self, *, tests: bool) -> Iterator[Path]:
        """The Rego files: rules and libraries, and their tests if asked for."""
        for check in self.checks:
            yield check.rule
            if tests and check.test is not None:
                yield check.test
        yield from (each for each in self.libraries if tests or not each.name.endswith(_TEST))


def is_folder(directory: Path) -> bool:
    """Whether a directory is meant as a directory of own checks."""
    return directory.is_dir() and any(
        each.is_dir() and (each / f"{each.name}.rego").is_file() for each in directory.iterdir()
    )


def read_folder(directory: Path) -> Folder:
    """The checks in a directory.

    Raises:
        InputError: a file cannot be read, or would have no effect at its place; or the directory has no check.
        BundleError: METADATA are wrong.
    """
    try:
        children = sorted(each for each in directory.iterdir() if not each.name.startswith("."))
        stray = next((each for each in children if each.is_file() and each.suffix == ".rego"), None)
    except OSError as error:
        raise errors.InputError(f"{directory}: cannot be read: {error.strerror}") from None
    if stray is not None and stray.stem == directory.name:
        raise errors.InputError(f"{directory}: is the folder of one check; give the directory above it")
    if stray is not None:
        raise errors.InputError(f"{stray}: each check has a folder of its own: move it to {stray.stem}/{stray.name}")
    folders = [each for each in children if each.is_dir()]
    checks = [_check(each) for each in folders if each.name != LIBRARY and any(each.rglob("*.rego"))]
    if not checks:
        raise errors.InputError(
            f"{directory}: no check is here; `usher policies new NAME --policies {directory}` begins one"
        )
    if len(checks) > MOST_CHECKS:
        raise errors.InputError(f"{directory}: has more than {MOST_CHECKS} checks; divide them")
    catalogue.refuse_entries((each.entry for each in checks), source=str(directory))
    return Folder(
        directory=directory,
        checks=tuple(sorted(checks, key=lambda check: (check.entry.number, check.entry.code))),
        libraries=tuple(_libraries(directory / LIBRARY)),
        workloads=_described(directory / DESCRIPTIONS),
    )


def _described(file: Path) -> tuple[DescribedKind, ...]:
    if not file.is_file():
        return ()
    import yaml  # judging by a bundle does not need it

    try:
        value = yaml.load(text_of(file), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise errors.InputError(f"{file}: is not YAML: {error!s:.200}") from None
    return _descriptions(value.get("workloads") if isinstance(value, dict) else value, source=str(file))


def _descriptions(value: object, *, source: str) -> tuple[DescribedKind, ...]:
    """Descriptions of kinds.

    Raises:
        InputError: they have a mistake.
    """
    try:
        found = _KINDS.validate_python(value)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise errors.InputError(f"{source}: workloads.{place:.200}: {first['msg']:.200}") from None
    for path, reason in registry.problems(found):
        raise errors.InputError(f"{source}: workloads{paths.readable(path)}: {reason}")
    return found


def text_of(file: Path) -> str:
    """The text of a Rego file.

    Raises:
        InputError: it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_REGO_FILE + 1)
        if len(content) > LARGEST_REGO_FILE:
            raise errors.InputError(f"{file}: has more than {LARGEST_REGO_FILE} bytes")
        return content.decode()
    except UnicodeDecodeError:
        raise errors.InputError(f"{file}: is not UTF-8") from None
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None


def _check(folder: Path) -> Check:
    name = folder.name
    if not catalogue.OWN_NAME.fullmatch(name):
        raise errors.InputError(
            f"{folder}: name the folder in small letters, digits and underscores, like gpus_per_pod, and not X_test"
        )
    rule, test = folder / f"{name}.rego", folder / f"{name}{_TEST}"
    for file in sorted(folder.rglob("*.rego")):
        if file not in (rule, test):
            raise errors.InputError(
                f"{file}: is not used: the folder {name} holds {rule.name} and {test.name}; what checks share is in "
                f"{LIBRARY}/"
            )
    if not rule.is_file():
        raise errors.InputError(f"{folder}: has no {rule.name}, so it is not a check")
    text = text_of(rule)
    _require_package(rule, text, f"usher.checks.{catalogue.OWN_CATEGORY}.{name}")
    entry = metadata.parse_entry(text, file=rule, key=f"{catalogue.OWN_CATEGORY}/{name}", codes=_CODES)
    if problem := metadata.problem_of_kinds(entry):
        raise errors.InputError(f"{rule}: METADATA: {problem}")
    if "deny" not in metadata.rule_names(text):
        raise errors.InputError(f"{rule}: has no rule `deny contains`, so it would never find anything")
    if test.is_file():
        _require_package(test, text_of(test), f"usher.checks.{catalogue.OWN_CATEGORY}.{name}_test")
    return Check(entry=entry, rule=rule, text=text, test=test if test.is_file() else None)


def _libraries(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.rego")):
        suffix = "_test" if file.name.endswith(_TEST) else ""
        _require_package(file, text_of(file), f"site.{file.stem.removesuffix('_test')}{suffix}")
        yield file


def _require_package(file: Path, text: str, expected: str) -> None:
    """Raises InputError for a rule in another package, which would compile but never find anything."""
    found = _PACKAGE.search(text)
    if found is None or found[1] != expected:
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        raise errors.InputError(f"{file}:{line}: expected `package {expected}`")


_TEMPLATES: Final = Path(__file__).parent / "templates"

_STEP: Final = 100
"""Each category has its own block of codes."""


def next_code(category: str, entries: Iterable[catalogue.Entry]) -> str:
    """The next free code of a category; a new category begins in the next unused hundred."""
    numbers: dict[str, list[int]] = {}
    taken: set[int] = set()
    for entry in entries:
        numbers.setdefault(entry.category, []).append(entry.number)
        taken.update(int(code.removeprefix("USH")) for code in entry.codes)
    own = numbers.get(category)
    number = max(own) + 1 if own else (max(taken, default=0) // _STEP + 1) * _STEP + 1
    while number in taken:
        number += 1
    return f"USH{number}"


def scaffold_files(category: str, name: str, code: str) -> Mapping[str, str]:
    """The files of a new check, by their paths within its folder.

    Raises:
        InputError: the category or the name cannot name a folder and a Rego package.
    """
    for text in (category, name):
        if not text.isascii() or not text.isidentifier() or text != text.lower():
            raise errors.InputError(f"{text!r}: write small letters, digits and underscores, like gpus_per_workload")
    values = {"category": category, "name": name, "code": code}
    return {
        f"{name}.rego": _filled("rule.rego", values),
        f"{name}_test.rego": _filled("rule_test.rego", values),
        "examples/bad_pod.yaml": _filled("pod.yaml", {**values, "gpus": "9"}),
        "examples/good_pod.yaml": _filled("pod.yaml", {**values, "gpus": "8"}),
    }


def write_scaffold(folder: Path, contents: Mapping[str, str]) -> None:
    """Writes the files.

    Raises:
        InputError: the folder exists already, or cannot be written.
    """
    if folder.exists():
        raise errors.InputError(f"{folder} is there already; choose another name")
    try:
        for path, text in contents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise errors.InputError(f"{folder}: cannot be written: {error.strerror}") from None


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The text of a template with these values in the place of `<name>`."""
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text


OWN: Final = "own"
"""The folder of the site's files during compilation; errors show the site's directory instead."""

_REVISION: Final = 1
"""Changes with the generated rules, so that the cache returns no module of an older usher."""

_MAIN: Final = """package usher.main

findings := {"version": 1, "findings": _findings, "unknown": _unknown} if is_array(input.podSets)

_findings contains {} if false

_unknown contains {} if false
"""


class Compiler(Struct, frozen=True, kw_only=True):
    """Compiles own checks, and keeps the results."""

    opa: Path
    version: str
    cache: Path | None
    """A folder with modules by the digest of their sources; None without one."""

    def compiled(self, folder: Folder) -> OwnChecks:
        """The checks of a directory, ready to judge.

        Raises:
            InputError: OPA refuses the Rego, or the program cannot be run.
        """
        texts = rego_sources(folder)
        key = json.dumps([_REVISION, self.version, capabilities(), input_version(), texts], sort_keys=True)
        module = installed_programs.made_once(lambda: self._built(folder, texts), of=key, cache=self.cache)
        return OwnChecks(
            source=str(folder.directory),
            entries=tuple(check.entry for check in folder.checks),
            module=module,
            workloads=folder.workloads,
        )

    def _built(self, folder: Folder, texts: Mapping[str, str]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="usher-checks-") as name:
            place = Path(name)
            write_sources(place, texts)
            own_files = [str(file) for file in texts]
            limits = ("--capabilities", "capabilities.json")
            (place / "capabilities.json").write_text(capabilities(), encoding="utf-8")
            entry = ("--target", "wasm", "--entrypoint", Entrypoint.FINDINGS, "--output", "bundle.tar.gz")
            schemas = str(catalogue.find() / "schemas")
            run_opa(self.opa, "check", "--strict", "--schema", schemas, *limits, *own_files, place=place, folder=folder)
            run_opa(self.opa, "build", *limits, *entry, *own_files, place=place, folder=folder)
            return installed_programs.wasm_module(place / "bundle.tar.gz")


def make_compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: the program is not found, or it is not OPA.
    """
    program, version = installed_programs.find_opa(
        opa,
        why="own checks are compiled and tested by OPA. Install opa (https://www.openpolicyagent.org/docs) or name it "
        "with --opa, or give a bundle that `usher policies build` made elsewhere",
    )
    return Compiler(opa=program, version=version, cache=cache)


def rego_sources(folder: Folder, *, tests: bool = False) -> dict[str, str]:
    """The texts that are compiled, by path: usher's libraries, generated rules, and the site's files below `own/`."""
    policies = catalogue.load()
    library = {
        file.relative_to(policies.directory).as_posix(): file.read_text(encoding="utf-8")
        for file in catalogue.sources(policies.directory / "usher" / "lib")
    }
    entries = [check.entry for check in folder.checks]
    rules_of = {check.entry.key: metadata.rule_names(check.text) for check in folder.checks}
    generated = {
        "usher/lib/parameters.rego": metadata.parameters_rego([*policies.catalogue.checks.values(), *entries]),
        "usher/main/main.rego": _MAIN,
        "usher/main/dispatch.rego": metadata.dispatch_rego(entries, [], rules_of),
    }
    site = {
        f"{OWN}/{file.relative_to(folder.directory).as_posix()}": text_of(file) for file in folder.files(tests=tests)
    }
    return {**library, **generated, **site}


def capabilities() -> str:
    """The functions that Rego may call: those that OPA compiles to WebAssembly, and no host functions."""
    return (catalogue.find() / "capabilities.json").read_text(encoding="utf-8")


def input_version() -> str:
    """The version of the input document: the digest of its schema, which changes with every field."""
    return hashlib.sha256((catalogue.find() / "schemas" / "input.json").read_bytes()).hexdigest()[:16]


def write_sources(place: Path, texts: Mapping[str, str]) -> None:
    """Writes the sources below a folder."""
    for name, text in texts.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def run_opa(opa: Path, *arguments: str, place: Path, folder: Folder, accepted: tuple[int, ...] = (0,)) -> str:
    """The output of opa, run in the folder that `write` filled.

    Raises:
        InputError: it fails; places in the message are those of the site's files.
    """
    try:
        return installed_programs.run(opa, *arguments, folder=place, accepted=accepted)
    except installed_programs.RegoError as error:
        raise errors.InputError(f"opa {arguments[0]}: {with_site_files(str(error), folder)}") from None


def with_site_files(text: str, folder: Folder) -> str:
    """A text of opa with the names of the site's files."""
    return text.replace(f"{OWN}/", f"{folder.directory}/")


BUNDLE_API_VERSION: Final = "gpu-usher.io/v1alpha1"
BUNDLE_KIND: Final = "CheckBundle"
_MODULE: Final = "policy.wasm"


class _Manifest(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", defer_build=True)

    apiVersion: str  # noqa: N815 - as in the file
    kind: str
    usher: str
    """The version of usher that built it."""
    opa: str
    input: str
    """Identifies the version of the input document that the checks read."""
    files: dict[str, str]
    """SHA-256 of the module and of the sources, by path."""
    checks: list[Entry] = pydantic.Field(min_length=1, max_length=MOST_CHECKS)
    workloads: list[dict[str, Any]] = []
    """Descriptions of kinds, as in the file."""


def bundle_content(checks: OwnChecks, sources: Mapping[str, str], *, opa: str) -> bytes:
    """The bundle of own checks that the given version of OPA compiled from these sources."""
    contents = {_MODULE: checks.module, **{path: text.encode() for path, text in sources.items()}}
    manifest = _Manifest(
        apiVersion=BUNDLE_API_VERSION,
        kind=BUNDLE_KIND,
        usher=__version__,
        opa=opa,
        input=input_version(),
        files={path: hashlib.sha256(content).hexdigest() for path, content in contents.items()},
        checks=list(checks.entries),
        workloads=[each.model_dump(mode="json", by_alias=True, exclude_unset=True) for each in checks.workloads],
    )
    return policy_archive.written(manifest.model_dump(mode="json"), {_MODULE: checks.module})


def is_own_bundle(content: bytes, *, source: str) -> bool:
    """Whether an archive holds own checks, and no policies of Gatekeeper.

    Raises:
        InputError: the archive is damaged or too large.
    """
    with policy_archive.opened(content, source=source) as archive:
        return policy_archive.manifest(archive, source=source).get("kind") == BUNDLE_KIND


def read_bundle(content: bytes, *, source: str) -> OwnChecks:
    """The checks in a bundle.

    Raises:
        InputError: it is damaged, larger than usher allows, or was built for another version of the input document.
    """
    with policy_archive.opened(content, source=source) as archive:
        value = policy_archive.manifest(archive, source=source)
        if (value.get("apiVersion"), value.get("kind")) != (BUNDLE_API_VERSION, BUNDLE_KIND):
            raise errors.InputError(
                f"{source}: is not a {BUNDLE_KIND} of {BUNDLE_API_VERSION}; build it again with this usher"
            )
        if value.get("input") != input_version():
            built = value.get("usher")
            raise errors.InputError(
                f"{source}: was built by usher {built!s:.40} for another input document than this usher {__version__} "
                "has, so its checks could miss what they look for; build it again with `usher policies build`"
            )
        try:
            manifest = _Manifest.model_validate(value)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise errors.InputError(f"{source}: {policy_archive.MANIFEST}: {place:.200}: {first['msg']:.200}") from None
        module = policy_archive.entry(archive, _MODULE, most=installed_programs.LARGEST, source=source)
    if hashlib.sha256(module).hexdigest() != manifest.files.get(_MODULE):
        raise errors.InputError(f"{source}: {_MODULE} is not the one that was built; build the bundle again")
    catalogue.refuse_entries(manifest.checks, source=source)
    kinds = _descriptions(manifest.workloads, source=source)
    return OwnChecks(source=source, entries=tuple(manifest.checks), module=module, workloads=kinds)
