"""A set of templates and constraints that belong together: compiled, and as a bundle in one file.

A template keeps its package. A module of usher beside it collects its violations, as the hook of Gatekeeper does
(frameworks, constraint/pkg/client/drivers/rego): violations without a message do not count, and equal ones count once.

A zip archive: `manifest.json` with the constraints and the facts about each template, and a WebAssembly module for each
template. usher does not trust it: it limits what it reads, and runs the modules in the sandbox of the engine.
"""

import json
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors
from usher.extensions import installed_programs, policy_archive
from usher.extensions.gatekeeper import constraint_templates, constraints
from usher.extensions.gatekeeper.constraint_templates import MOST_KINDS, Fields, Rego, Template, Written, top_fields
from usher.extensions.gatekeeper.constraints import Constraint
from usher.extensions.installed_programs import LARGEST as LARGEST_MODULE
from usher.extensions.installed_programs import RegoError

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


class Compiler(Struct, frozen=True, kw_only=True):
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
        return installed_programs.made_once(lambda: self._built(rego), of=source, cache=self.cache)

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
                installed_programs.run(self.opa, *build, *files, folder=folder)
            except RegoError as error:
                installed_programs.run(self.opa, "check", *options, *files, folder=folder)
                raise NotCompiledError(str(error)) from None
            return installed_programs.wasm_module(folder / "bundle.tar.gz")

    def _package(self, mode: tuple[str, ...], folder: Path) -> str:
        """The package of a template below `data`, as keys in brackets.

        Raises:
            RegoError: it cannot be parsed, or has no rule `violation`, so that it would never find anything.
        """
        parsed = json.loads(
            installed_programs.run(self.opa, "parse", *mode, "--format", "json", "template.rego", folder=folder)
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
        found: dict[str, Any] = json.loads(
            installed_programs.run(self.opa, "capabilities", "--current", *mode, folder=folder)
        )
        return json.dumps({**found, "builtins": [*found["builtins"], _EXTERNAL_DATA], "allow_net": []})


def make_compiler(opa: Path | None, *, cache: Path | None) -> Compiler:
    """A compiler with the given program, or with the `opa` of the search path.

    Raises:
        InputError: the program does not exist, or it is not OPA.
    """
    program, version = installed_programs.find_opa(
        opa,
        why="ConstraintTemplates are compiled by OPA. Install opa (https://www.openpolicyagent.org/docs) or name it "
        "with --opa, or give a bundle that `usher policies build` made elsewhere",
    )
    return Compiler(opa=program, version=version, cache=cache)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace")


MOST_TEMPLATES: Final = 1000
MOST_CONSTRAINTS: Final = 10_000


class Compiled(Struct, frozen=True, kw_only=True):
    """A template with its module."""

    template: Template
    module: bytes | None
    """None if the template is not evaluated."""
    reads_inventory: bool = False
    """Whether its rules may compare with other objects."""


class Library(Struct, frozen=True, kw_only=True):
    """Templates by the kind of their constraints, and constraints in the order of their names."""

    templates: Mapping[str, Compiled]
    constraints: tuple[Constraint, ...]


def compile_library(
    objects: Iterable[Written], *, compiler: Callable[[], Compiler], built: Iterable[Library] = ()
) -> Library:
    """The templates and constraints among objects, compiled, together with libraries that were built before.

    Objects of other kinds are left out. Without a template in Rego, no compiler is needed.

    Raises:
        InputError: one of them is wrong, exists twice, or is a constraint without its template.
    """
    ready: dict[str, Compiled] = {}
    asked: dict[str, Constraint] = {}
    places: dict[str, str] = {}
    for earlier in built:
        for kind, before in earlier.templates.items():
            _note(places, kind, at=before.template.place)
            ready[kind] = before
        for constraint in earlier.constraints:
            _note(places, constraint.key, at=constraint.place)
            asked[constraint.key] = constraint
    for written in objects:
        if constraint_templates.is_template(written.value):
            template = constraint_templates.read_template(written)
            _note(places, template.kind, at=template.place)
            ready[template.kind] = Compiled(template=template, module=None)
        elif constraints.is_constraint(written.value):
            constraint = constraints.read_constraint(written)
            _note(places, constraint.key, at=constraint.place)
            asked[constraint.key] = constraint
    if len(ready) > MOST_TEMPLATES or len(asked) > MOST_CONSTRAINTS:
        raise errors.InputError(
            f"{len(ready)} templates and {len(asked)} constraints; usher takes {MOST_TEMPLATES} and {MOST_CONSTRAINTS}"
        )
    known = {kind: each.template for kind, each in ready.items()}
    for constraint in asked.values():
        if wrong := why_parameters_do_not_fit(constraint, known):
            raise errors.InputError(wrong)
    made = compiler() if any(each.template.rego is not None for each in ready.values()) else None
    return Library(
        templates={
            kind: compile_template(each.template, made) if made and each.template.rego is not None else each
            for kind, each in sorted(ready.items())
        },
        constraints=tuple(constraint_with_defaults(asked[key], known[asked[key].kind]) for key in sorted(asked)),
    )


def without_inventory(library: Library, *, reason: str) -> Library:
    """The library without templates that compare with other objects; these are not evaluated, for this reason."""
    return replace(
        library,
        templates={
            kind: replace(each, module=None, template=replace(each.template, not_evaluated=reason))
            if each.reads_inventory and each.module is not None
            else each
            for kind, each in library.templates.items()
        },
    )


def _note(places: dict[str, str], name: str, *, at: str) -> None:
    """Records where a template or constraint is defined.

    Raises:
        InputError: it is already defined elsewhere.
    """
    if name in places:
        raise errors.InputError(f"{at}: {name} is also defined in {places[name]}; give it once")
    places[name] = at


def why_parameters_do_not_fit(constraint: Constraint, known: Mapping[str, Template]) -> str:
    """Why the parameters of a constraint do not fit the schema of its template; empty if they fit.

    Raises:
        InputError: no template defines its kind.
    """
    template = known.get(constraint.kind)
    if template is None:
        raise errors.InputError(
            f"{constraint.place}: kind: no ConstraintTemplate defines {constraint.kind}; give its file as well"
        )
    if not constraint.has_parameters:
        return ""
    found = constraints.parameter_problem(constraint.parameters, template.schema)
    return f"{constraint.place}: {found} (the schema is in {template.place})" if found else ""


def constraint_with_defaults(constraint: Constraint, template: Template) -> Constraint:
    """A constraint with the defaults of its template. Without parameters it gets only the default of all parameters."""
    if not constraint.has_parameters:
        default = template.schema.get("default") if isinstance(template.schema, dict) else None
        if not isinstance(default, dict):
            return constraint
        constraint = replace(constraint, parameters=default)
    found = constraints.with_defaults(constraint.parameters, template.schema)
    return replace(constraint, parameters=found) if isinstance(found, dict) else constraint


def compile_template(template: Template, compiler: Compiler) -> Compiled:
    """A template with its module.

    Raises:
        InputError: OPA refuses its Rego, as it would in Gatekeeper.
    """
    if template.rego is None:
        return Compiled(template=template, module=None)
    try:
        module = compiler.compiled(template.rego)
    except NotCompiledError as error:
        reason = f"OPA cannot compile it to WebAssembly: {error}"
        return Compiled(template=replace(template, not_evaluated=reason), module=None)
    except RegoError as error:
        raise errors.InputError(f"{template.place}: the Rego of {template.kind} does not compile: {error}") from None
    return Compiled(template=template, module=module, reads_inventory=template.rego.reads_inventory)


BUNDLE_API_VERSION: Final = "gpu-usher.io/v1alpha1"
BUNDLE_KIND: Final = "PolicyBundle"


def bundle_content(library: Library, *, opa: str) -> bytes:
    """The bundle of a library that the given version of OPA compiled."""
    manifest = {
        "apiVersion": BUNDLE_API_VERSION,
        "kind": BUNDLE_KIND,
        "opa": opa,
        "templates": [
            {
                "kind": kind,
                "place": each.template.place,
                "schema": each.template.schema,
                "notEvaluated": each.template.not_evaluated,
                "readsInventory": each.reads_inventory,
                "comparesWith": [{"group": group, "kind": kind} for group, kind in each.template.compares_with],
            }
            for kind, each in library.templates.items()
        ],
        "constraints": [{"place": each.place, "object": each.value} for each in library.constraints],
    }
    modules = {_file(kind): each.module for kind, each in library.templates.items() if each.module is not None}
    return policy_archive.written(manifest, modules)


def read_bundle(content: bytes, *, source: str) -> Library:
    """The library in a bundle.

    Raises:
        InputError: it is damaged, larger than usher allows, or of another version of usher.
    """
    with policy_archive.opened(content, source=source) as archive:
        return _library(archive, source)


def _library(archive: zipfile.ZipFile, source: str) -> Library:
    manifest = policy_archive.manifest(archive, source=source)
    fields = top_fields(Written(value=manifest, source=source))
    if (manifest.get("apiVersion"), manifest.get("kind")) != (BUNDLE_API_VERSION, BUNDLE_KIND):
        raise errors.InputError(
            f"{source}: is not a {BUNDLE_KIND} of {BUNDLE_API_VERSION}; build it again with this usher"
        )
    made = [_compiled(each, archive, source) for each in fields.mappings("templates", most=MOST_TEMPLATES)]
    return Library(
        templates={each.template.kind: each for each in made},
        constraints=tuple(_constraint(each, source) for each in fields.mappings("constraints", most=MOST_CONSTRAINTS)),
    )


def _compiled(fields: Fields, archive: zipfile.ZipFile, source: str) -> Compiled:
    kind, reason = fields.required("kind"), fields.text("notEvaluated")
    return Compiled(
        template=Template(
            kind=kind,
            rego=None,
            not_evaluated=reason,
            schema=fields.get("schema"),
            place=fields.text("place"),
            compares_with=tuple(
                (each.text("group"), each.required("kind")) for each in fields.mappings("comparesWith", most=MOST_KINDS)
            ),
        ),
        module=None if reason else policy_archive.entry(archive, _file(kind), most=LARGEST_MODULE, source=source),
        reads_inventory=fields.get("readsInventory") is True,
    )


def _constraint(fields: Fields, source: str) -> constraints.Constraint:
    value = fields.mapping("object").values
    place = fields.text("place")
    return constraints.read_constraint(Written(value=dict(value), source=f"{source}: {place}"))


def _file(kind: str) -> str:
    return f"modules/{kind}.wasm"


ANY_KIND: Final = "*"


class MatchedKind(Struct, frozen=True, kw_only=True, order=True):
    """A kind of a group; `*` means every kind, or every group."""

    group: str
    kind: str

    def includes(self, group: str, kind: str) -> bool:
        return self.group in (ANY_KIND, group) and self.kind in (ANY_KIND, kind)


def matched_kinds(library: Library, points: Collection[str]) -> tuple[MatchedKind, ...]:
    """The kinds that the constraints for these enforcement points match, sorted; one may include another."""
    found = {
        MatchedKind(group=group, kind=kind)
        for constraint in library.constraints
        if constraint.outcome(points) is not None
        for each in constraint.match.kinds or (None,)
        for group in (each.groups if each else ()) or (ANY_KIND,)
        for kind in (each.kinds if each else ()) or (ANY_KIND,)
    }
    return tuple(sorted(found))


def kinds_to_read(library: Library, points: Collection[str]) -> tuple[MatchedKind, ...]:
    """The kinds that an audit reads for the constraints: those that they match, and those that they compare with."""
    used = {each.kind for each in library.constraints if each.outcome(points) is not None}
    compared = {
        MatchedKind(group=group, kind=kind)
        for name, each in library.templates.items()
        if name in used and each.module is not None
        for group, kind in each.template.compares_with
    }
    return tuple(sorted({*matched_kinds(library, points), *compared}))
