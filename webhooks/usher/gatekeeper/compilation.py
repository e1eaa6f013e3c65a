"""Rego of templates to WebAssembly, by the `opa` program: at build time alone, never where objects are judged.

A template keeps its package. A module of ours beside it asks for its violations, as the hook of Gatekeeper does
(frameworks, constraint/pkg/client/drivers/rego): a violation without a message is none, and equal ones count once.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from usher import errors
from usher.gatekeeper.templates import Rego

_PACKAGE: Final = "usher_gatekeeper"
ENTRYPOINT: Final = f"{_PACKAGE}/result"

_TIMEOUT: Final = 60.0
"""Seconds for one template; OPA takes less than 0.1 s for those of the library of Gatekeeper."""
_MOST_OUTPUT: Final = 2000
LARGEST: Final = 8 * 2**20
"""Bytes of a compiled template; 0.4 MiB is usual."""

_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH

_DIGEST: Final = hashlib.sha256().digest_size
"""Bytes at the end of a file of the cache: a file that was cut off is not used."""

_HOOK: Final = """package usher_gatekeeper

import rego.v1

result := {{"version": 1, "violations": [violation | some violation in _violations]}}

_violations contains {{"msg": found.msg, "details": object.get(found, "details", {{}})}} if {{
	some found
	data{package}.violation[found]
}}
"""
_REVISION: Final = 3
"""Changes with _HOOK, so that no module of an older usher is taken from the cache."""

_EXTERNAL_DATA: Final = {
    "name": "external_data",
    "decl": {"type": "function", "args": [{"type": "any"}], "result": {"type": "any"}},
}
"""Gatekeeper's own built-in. A template with it compiles, and usher then says that it cannot answer the call."""


class RegoError(Exception):
    """A template whose Rego Gatekeeper would refuse; the message is that of OPA."""


class NotCompiledError(Exception):
    """A template that OPA accepts, but cannot compile to WebAssembly; the message is that of OPA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """Compiles templates, and keeps what it compiled."""

    opa: Path
    version: str
    cache: Path | None
    """A folder with modules by the digest of their source; None without one."""

    def compiled(self, rego: Rego) -> bytes:
        """The WebAssembly module of a template.

        Raises:
            RegoError: OPA refuses the Rego.
            NotCompiledError: OPA accepts it, and cannot compile it to WebAssembly.
            InputError: the program cannot be run.
        """
        file = self.cache / f"{self._digest(rego)}.wasm" if self.cache else None
        if file is not None and (kept := _kept(file)):
            return kept
        module = self._built(rego)
        if file is not None:
            _keep(module, file)
        return module

    def _digest(self, rego: Rego) -> str:
        source = json.dumps([_REVISION, self.version, rego.version, rego.text, rego.libraries])
        return hashlib.sha256(source.encode()).hexdigest()

    def _built(self, rego: Rego) -> bytes:
        mode = () if rego.version == "v1" else ("--v0-compatible",)
        with tempfile.TemporaryDirectory(prefix="usher-rego-") as name:
            folder = Path(name)
            # Names of files come into the module: relative ones make it the same every time.
            sources = {"template.rego": rego.text}
            sources |= {f"lib_{number}.rego": text for number, text in enumerate(rego.libraries)}
            _write(folder, sources)
            hook = _HOOK.format(package=self._package(mode, folder))
            _write(folder, {"hook.rego": hook, "capabilities.json": self._capabilities(mode, folder)})
            options, files = (*mode, "--capabilities", "capabilities.json"), ("hook.rego", *sources)
            build = ("build", *options, "--target", "wasm", "--entrypoint", ENTRYPOINT, "--output", "bundle.tar.gz")
            try:
                _run(self.opa, *build, *files, folder=folder)
            except RegoError as error:
                _run(self.opa, "check", *options, *files, folder=folder)
                raise NotCompiledError(str(error)) from None
            return _module(folder / "bundle.tar.gz")

    def _package(self, mode: tuple[str, ...], folder: Path) -> str:
        """The package of a template below `data`, as keys in brackets.

        Raises:
            RegoError: it cannot be parsed, or has no rule `violation`, so that it would never find anything.
        """
        parsed = json.loads(_run(self.opa, "parse", *mode, "--format", "json", "template.rego", folder=folder))
        heads = [rule.get("head", {}) for rule in parsed.get("rules", [])]
        names = {head.get("name") or head.get("ref", [{}])[0].get("value") for head in heads}
        if "violation" not in names:
            raise RegoError("it has no rule `violation`")
        keys = [part["value"] for part in parsed["package"]["path"][1:]]
        if keys[0] == _PACKAGE:
            raise RegoError(f"its package is {_PACKAGE}, which usher uses itself")
        return "".join(f"[{json.dumps(key)}]" for key in keys)

    def _capabilities(self, mode: tuple[str, ...], folder: Path) -> str:
        found: dict[str, Any] = json.loads(_run(self.opa, "capabilities", "--current", *mode, folder=folder))
        return json.dumps({**found, "builtins": [*found["builtins"], _EXTERNAL_DATA], "allow_net": []})


def compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: there is no such program, or it is not OPA.
    """
    found = shutil.which(opa or "opa")
    if found is None:
        raise errors.InputError(
            f"{opa or 'opa'}: no such program; ConstraintTemplates are compiled by OPA. Install opa "
            "(https://www.openpolicyagent.org/docs) or name it with --opa, or give a bundle that "
            "`usher policies build` made elsewhere"
        )
    try:
        version = _run(Path(found).absolute(), "version")
    except RegoError as error:
        raise errors.InputError(f"{found}: this is not OPA: {error}") from None
    return Compiler(
        opa=Path(found).absolute(), version=version.partition("\n")[0].removeprefix("Version: ").strip(), cache=cache
    )


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace")


def _run(program: Path, *arguments: str, folder: Path | None = None) -> str:
    """What the program writes, run in a folder.

    Raises:
        RegoError: it fails, or takes too long.
        InputError: it cannot be run.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the program that the user named, with arguments of ours
            [program, *arguments],
            check=False,
            capture_output=True,
            cwd=folder,
            timeout=_TIMEOUT,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise RegoError(f"opa {arguments[0]} took longer than {_TIMEOUT:g} s") from None
    except OSError as error:
        raise errors.InputError(f"{program}: cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        raise RegoError(_reason((done.stderr or done.stdout).decode(errors="replace").strip()))
    return done.stdout.decode(errors="replace")


def _reason(said: str) -> str:
    """Why OPA fails: of a list of errors as JSON the first one, with its place."""
    try:
        first = json.loads(said)["errors"][0]
        place = first.get("location", {})
        said = f"{place.get('file', '')}:{place.get('row', '')}: {first['message']}"
    except (ValueError, LookupError, TypeError, AttributeError):
        said = said.removeprefix("error: ")
    return said[:_MOST_OUTPUT]


def _module(bundle: Path) -> bytes:
    with tarfile.open(bundle) as tar:
        member = tar.extractfile("/policy.wasm")
        module = member.read(LARGEST + 1) if member else b""
    if not module or len(module) > LARGEST:
        raise RegoError(f"its compiled form is larger than {LARGEST} bytes")
    return module


def _kept(file: Path) -> bytes:
    """A module of the cache; empty where the file is absent, not whole, or could be of another user."""
    try:
        status = file.lstat()
        if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS or not stat.S_ISREG(status.st_mode):
            return b""
        content = file.read_bytes()
    except OSError:
        return b""
    module, digest = content[:-_DIGEST], content[-_DIGEST:]
    return module if hashlib.sha256(module).digest() == digest else b""


def _keep(module: bytes, file: Path) -> None:
    """Writes a module into the cache, where that is possible."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(module + hashlib.sha256(module).digest())
        Path(temporary.name).rename(file)
