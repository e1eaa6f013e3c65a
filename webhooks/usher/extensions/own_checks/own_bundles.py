"""Own checks, compiled to WebAssembly by the program `opa`, and their bundle: one file that needs no `opa`.

They become a separate module. So usher's module stays as tested, sites without own checks pay nothing, and a failing
own check does not remove findings of usher.

An archive with a manifest and one WebAssembly module. usher does not trust it: it limits what it reads, runs the module
in the sandbox of the engine, and checks the module's answers.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pydantic
from msgspec import Struct

from usher import __version__, errors
from usher.extensions import opa_program, policy_archive
from usher.extensions.own_checks.folders import MOST_CHECKS, Folder, text_of
from usher.policy.checks import bundle, catalogue, metadata
from usher.policy.checks.catalogue import Entry, OwnChecks
from usher.policy.engines.engine import Entrypoint

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
        module = opa_program.made_once(lambda: self._built(folder, texts), of=key, cache=self.cache)
        return OwnChecks(
            source=str(folder.directory), entries=tuple(check.entry for check in folder.checks), module=module
        )

    def _built(self, folder: Folder, texts: Mapping[str, str]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="usher-checks-") as name:
            place = Path(name)
            write_sources(place, texts)
            own_files = [str(file) for file in texts]
            limits = ("--capabilities", "capabilities.json")
            (place / "capabilities.json").write_text(capabilities(), encoding="utf-8")
            entry = ("--target", "wasm", "--entrypoint", Entrypoint.FINDINGS, "--output", "bundle.tar.gz")
            schemas = str(bundle.find() / "schemas")
            run_opa(self.opa, "check", "--strict", "--schema", schemas, *limits, *own_files, place=place, folder=folder)
            run_opa(self.opa, "build", *limits, *entry, *own_files, place=place, folder=folder)
            return opa_program.wasm_module(place / "bundle.tar.gz")


def make_compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: the program is not found, or it is not OPA.
    """
    program, version = opa_program.find_opa(
        opa,
        why="own checks are compiled and tested by OPA. Install opa (https://www.openpolicyagent.org/docs) or name it "
        "with --opa, or give a bundle that `usher policies build` made elsewhere",
    )
    return Compiler(opa=program, version=version, cache=cache)


def rego_sources(folder: Folder, *, tests: bool = False) -> dict[str, str]:
    """The texts that are compiled, by path: usher's libraries, generated rules, and the site's files below `own/`."""
    policies = bundle.load()
    library = {
        file.relative_to(policies.directory).as_posix(): file.read_text(encoding="utf-8")
        for file in bundle.sources(policies.directory / "usher" / "lib")
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
    return (bundle.find() / "capabilities.json").read_text(encoding="utf-8")


def input_version() -> str:
    """The version of the input document: the digest of its schema, which changes with every field."""
    return hashlib.sha256((bundle.find() / "schemas" / "input.json").read_bytes()).hexdigest()[:16]


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
        return opa_program.run(opa, *arguments, folder=place, accepted=accepted)
    except opa_program.RegoError as error:
        raise errors.InputError(f"opa {arguments[0]}: {with_site_files(str(error), folder)}") from None


def with_site_files(text: str, folder: Folder) -> str:
    """A text of opa with the names of the site's files."""
    return text.replace(f"{OWN}/", f"{folder.directory}/")


BUNDLE_API_VERSION: Final = "gpu-usher.io/v1alpha1"
BUNDLE_KIND: Final = "CheckBundle"
_MODULE: Final = "policy.wasm"


class _Manifest(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

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
        module = policy_archive.entry(archive, _MODULE, most=opa_program.LARGEST, source=source)
    if hashlib.sha256(module).hexdigest() != manifest.files.get(_MODULE):
        raise errors.InputError(f"{source}: {_MODULE} is not the one that was built; build the bundle again")
    catalogue.refuse_entries(manifest.checks, source=source)
    return OwnChecks(source=source, entries=tuple(manifest.checks), module=module)
