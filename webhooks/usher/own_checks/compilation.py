"""Compiles own checks to WebAssembly with the program `opa`: with usher's libraries, and apart from usher's checks.

They become a separate module. So usher's module stays as tested, sites without own checks pay nothing, and a failing
own check does not remove findings of usher.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from usher import errors, opa_program
from usher.dataclass import dataclass
from usher.own_checks.folders import Folder, text_of
from usher.policy.checks import bundle, metadata
from usher.policy.checks.catalogue import OwnChecks
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
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
        texts = sources(folder)
        key = json.dumps([_REVISION, self.version, capabilities(), input_version(), texts], sort_keys=True)
        module = opa_program.made_once(lambda: self._built(folder, texts), of=key, cache=self.cache)
        return OwnChecks(
            source=str(folder.directory), entries=tuple(check.entry for check in folder.checks), module=module
        )

    def _built(self, folder: Folder, texts: Mapping[str, str]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="usher-checks-") as name:
            place = Path(name)
            write(place, texts)
            own_files = [str(file) for file in texts]
            limits = ("--capabilities", "capabilities.json")
            (place / "capabilities.json").write_text(capabilities(), encoding="utf-8")
            entry = ("--target", "wasm", "--entrypoint", Entrypoint.FINDINGS, "--output", "bundle.tar.gz")
            schemas = str(bundle.find() / "schemas")
            run(self.opa, "check", "--strict", "--schema", schemas, *limits, *own_files, place=place, folder=folder)
            run(self.opa, "build", *limits, *entry, *own_files, place=place, folder=folder)
            return opa_program.module(place / "bundle.tar.gz")


def compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: the program is not found, or it is not OPA.
    """
    program, version = opa_program.find(
        opa,
        why="own checks are compiled and tested by OPA. Install opa (https://www.openpolicyagent.org/docs) or name it "
        "with --opa, or give a bundle that `usher policies build` made elsewhere",
    )
    return Compiler(opa=program, version=version, cache=cache)


def sources(folder: Folder, *, tests: bool = False) -> dict[str, str]:
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


def write(place: Path, texts: Mapping[str, str]) -> None:
    """Writes the sources below a folder."""
    for name, text in texts.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def run(opa: Path, *arguments: str, place: Path, folder: Folder, accepted: tuple[int, ...] = (0,)) -> str:
    """The output of opa, run in the folder that `write` filled.

    Raises:
        InputError: it fails; places in the message are those of the site's files.
    """
    try:
        return opa_program.run(opa, *arguments, folder=place, accepted=accepted)
    except opa_program.RegoError as error:
        raise errors.InputError(f"opa {arguments[0]}: {placed(str(error), folder)}") from None


def placed(text: str, folder: Folder) -> str:
    """A text of opa with the names of the site's files."""
    return text.replace(f"{OWN}/", f"{folder.directory}/")
