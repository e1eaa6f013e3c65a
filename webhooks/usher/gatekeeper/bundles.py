"""The compiled form of a library: one file that judges objects without the program `opa`.

A zip archive: `manifest.json` with the constraints and the facts about each template, and a WebAssembly module for each
template. usher does not trust it: it limits what it reads, and runs the modules in the sandbox of the engine.
"""

import zipfile
from typing import Final

from usher import errors, policy_archive
from usher.gatekeeper import constraints
from usher.gatekeeper.fields import Fields, Written, top
from usher.gatekeeper.library import MOST_CONSTRAINTS, MOST_TEMPLATES, Compiled, Library
from usher.gatekeeper.templates import MOST_KINDS, Template
from usher.opa_program import LARGEST as LARGEST_MODULE

API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "PolicyBundle"


def written(library: Library, *, opa: str) -> bytes:
    """The bundle of a library that the given version of OPA compiled."""
    manifest = {
        "apiVersion": API_VERSION,
        "kind": KIND,
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


def read(content: bytes, *, source: str) -> Library:
    """The library in a bundle.

    Raises:
        InputError: it is damaged, larger than usher allows, or of another version of usher.
    """
    with policy_archive.opened(content, source=source) as archive:
        return _library(archive, source)


def _library(archive: zipfile.ZipFile, source: str) -> Library:
    manifest = policy_archive.manifest(archive, source=source)
    fields = top(Written(value=manifest, source=source))
    if (manifest.get("apiVersion"), manifest.get("kind")) != (API_VERSION, KIND):
        raise errors.InputError(f"{source}: is not a {KIND} of {API_VERSION}; build it again with this usher")
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
    return constraints.read(Written(value=dict(value), source=f"{source}: {place}"))


def _file(kind: str) -> str:
    return f"modules/{kind}.wasm"
