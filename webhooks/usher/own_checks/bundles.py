"""The compiled form of own checks: one file that judges objects without the program `opa`.

An archive with a manifest and one WebAssembly module. usher does not trust it: it limits what it reads, runs the module
in the sandbox of the engine, and checks the module's answers.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

import pydantic

from usher import __version__, errors, opa_program, policy_archive
from usher.own_checks.compilation import input_version
from usher.own_checks.folders import MOST
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Entry, OwnChecks

API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "CheckBundle"
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
    checks: list[Entry] = pydantic.Field(min_length=1, max_length=MOST)


def written(checks: OwnChecks, sources: Mapping[str, str], *, opa: str) -> bytes:
    """The bundle of own checks that the given version of OPA compiled from these sources."""
    contents = {_MODULE: checks.module, **{path: text.encode() for path, text in sources.items()}}
    manifest = _Manifest(
        apiVersion=API_VERSION,
        kind=KIND,
        usher=__version__,
        opa=opa,
        input=input_version(),
        files={path: hashlib.sha256(content).hexdigest() for path, content in contents.items()},
        checks=list(checks.entries),
    )
    return policy_archive.written(manifest.model_dump(mode="json"), {_MODULE: checks.module})


def is_one(content: bytes, *, source: str) -> bool:
    """Whether an archive holds own checks, and no policies of Gatekeeper.

    Raises:
        InputError: the archive is damaged or too large.
    """
    with policy_archive.opened(content, source=source) as archive:
        return policy_archive.manifest(archive, source=source).get("kind") == KIND


def read(content: bytes, *, source: str) -> OwnChecks:
    """The checks in a bundle.

    Raises:
        InputError: it is damaged, larger than usher allows, or was built for another version of the input document.
    """
    with policy_archive.opened(content, source=source) as archive:
        value = policy_archive.manifest(archive, source=source)
        if (value.get("apiVersion"), value.get("kind")) != (API_VERSION, KIND):
            raise errors.InputError(f"{source}: is not a {KIND} of {API_VERSION}; build it again with this usher")
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
