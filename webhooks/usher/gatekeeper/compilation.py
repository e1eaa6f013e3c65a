"""Compiles Rego of templates to WebAssembly with the program `opa`: only at build time, never while judging.

A template keeps its package. A module of usher beside it collects its violations, as the hook of Gatekeeper does
(frameworks, constraint/pkg/client/drivers/rego): violations without a message do not count, and equal ones count once.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from usher import opa_program
from usher.dataclass import dataclass
from usher.gatekeeper.templates import Rego
from usher.opa_program import RegoError

_PACKAGE: Final = "usher_gatekeeper"
ENTRYPOINT: Final = f"{_PACKAGE}/result"

_HOOK: Final = """package usher_gatekeeper

import rego.v1

result := {{"version": 1, "violations": [violation | some violation in _violations]}}

_violations contains {{"msg": found.msg, "details": object.get(found, "details", {{}})}} if {{
	some found
	data{package}.violation[found]
}}
"""
_REVISION: Final = 3
"""Changes with _HOOK, so that the cache returns no module of an older usher."""

_EXTERNAL_DATA: Final = {
    "name": "external_data",
    "decl": {"type": "function", "args": [{"type": "any"}], "result": {"type": "any"}},
}
"""Gatekeeper's own built-in. A template with it compiles, and usher then reports that it cannot answer the call."""


class NotCompiledError(Exception):
    """A template that OPA accepts, but cannot compile to WebAssembly; the message is that of OPA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """Compiles templates, and keeps the results."""

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
        source = json.dumps([_REVISION, self.version, rego.version, rego.text, rego.libraries])
        return opa_program.made_once(lambda: self._built(rego), of=source, cache=self.cache)

    def _built(self, rego: Rego) -> bytes:
        mode = () if rego.version == "v1" else ("--v0-compatible",)
        with tempfile.TemporaryDirectory(prefix="usher-rego-") as name:
            folder = Path(name)
            # File names become part of the module: relative names make it the same every time.
            sources = {"template.rego": rego.text}
            sources |= {f"lib_{number}.rego": text for number, text in enumerate(rego.libraries)}
            _write(folder, sources)
            hook = _HOOK.format(package=self._package(mode, folder))
            _write(folder, {"hook.rego": hook, "capabilities.json": self._capabilities(mode, folder)})
            options, files = (*mode, "--capabilities", "capabilities.json"), ("hook.rego", *sources)
            build = ("build", *options, "--target", "wasm", "--entrypoint", ENTRYPOINT, "--output", "bundle.tar.gz")
            try:
                opa_program.run(self.opa, *build, *files, folder=folder)
            except RegoError as error:
                opa_program.run(self.opa, "check", *options, *files, folder=folder)
                raise NotCompiledError(str(error)) from None
            return opa_program.module(folder / "bundle.tar.gz")

    def _package(self, mode: tuple[str, ...], folder: Path) -> str:
        """The package of a template below `data`, as keys in brackets.

        Raises:
            RegoError: it cannot be parsed, or has no rule `violation`, so that it would never find anything.
        """
        parsed = json.loads(
            opa_program.run(self.opa, "parse", *mode, "--format", "json", "template.rego", folder=folder)
        )
        heads = [rule.get("head", {}) for rule in parsed.get("rules", [])]
        names = {head.get("name") or head.get("ref", [{}])[0].get("value") for head in heads}
        if "violation" not in names:
            raise RegoError("it has no rule `violation`")
        keys = [part["value"] for part in parsed["package"]["path"][1:]]
        if keys[0] == _PACKAGE:
            raise RegoError(f"its package is {_PACKAGE}, which usher uses itself")
        return "".join(f"[{json.dumps(key)}]" for key in keys)

    def _capabilities(self, mode: tuple[str, ...], folder: Path) -> str:
        found: dict[str, Any] = json.loads(opa_program.run(self.opa, "capabilities", "--current", *mode, folder=folder))
        return json.dumps({**found, "builtins": [*found["builtins"], _EXTERNAL_DATA], "allow_net": []})


def compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: there is no such program, or it is not OPA.
    """
    program, version = opa_program.find(
        opa,
        why="ConstraintTemplates are compiled by OPA. Install opa (https://www.openpolicyagent.org/docs) or name it "
        "with --opa, or give a bundle that `usher policies build` made elsewhere",
    )
    return Compiler(opa=program, version=version, cache=cache)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
