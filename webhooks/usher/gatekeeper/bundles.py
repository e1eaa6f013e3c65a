"""The compiled form of a library: one file that judges objects where there is no `opa`.

A zip archive: `manifest.json` with the constraints and what usher knows of each template, and a WebAssembly module for
each. Nothing in it is trusted: it is read within bounds, and the modules run in the sandbox of the engine.
"""

import io
import zipfile
import zlib
from typing import Final

import orjson

from usher import errors
from usher.gatekeeper import constraints
from usher.gatekeeper.compilation import LARGEST as LARGEST_MODULE
from usher.gatekeeper.fields import Fields, Written, top
from usher.gatekeeper.library import MOST_CONSTRAINTS, MOST_TEMPLATES, Compiled, Library
from usher.gatekeeper.templates import Template

API_VERSION: Final = "gpu-usher.io/v1alpha1"
KIND: Final = "PolicyBundle"
LARGEST: Final = 256 * 2**20
"""Bytes of a bundle; the library of Gatekeeper, 49 templates, has 6 MiB."""

_MANIFEST: Final = "manifest.json"
_LARGEST_MANIFEST: Final = 64 * 2**20
_MAGIC: Final = b"PK\x03\x04"
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that equal libraries give equal bundles."""


def is_bundle(start: bytes) -> bool:
    """Whether a file that starts with these bytes is meant as a bundle."""
    return start.startswith(_MAGIC)


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
            }
            for kind, each in library.templates.items()
        ],
        "constraints": [{"place": each.place, "object": each.value} for each in library.constraints],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _LONG_AGO), orjson.dumps(manifest, option=options), compresslevel=9)
        for kind, each in library.templates.items():
            if each.module is not None:
                archive.writestr(zipfile.ZipInfo(_file(kind), _LONG_AGO), each.module, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def read(content: bytes, *, source: str) -> Library:
    """The library in a bundle.

    Raises:
        InputError: it is damaged, larger than usher allows, or of another version of usher.
    """
    if len(content) > LARGEST:
        raise errors.InputError(f"{source}: has more than {LARGEST} bytes; divide the policies")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _library(archive, source)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise errors.InputError(
            f"{source}: is not a whole bundle of policies ({error!s:.200}); build it again with `usher policies build`"
        ) from None


def _library(archive: zipfile.ZipFile, source: str) -> Library:
    manifest = orjson.loads(_entry(archive, _MANIFEST, _LARGEST_MANIFEST, source))
    if not isinstance(manifest, dict):
        raise errors.InputError(f"{source}: {_MANIFEST} is not a mapping")
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
            kind=kind, rego=None, not_evaluated=reason, schema=fields.get("schema"), place=fields.text("place")
        ),
        module=None if reason else _entry(archive, _file(kind), LARGEST_MODULE, source),
        reads_inventory=fields.get("readsInventory") is True,
    )


def _constraint(fields: Fields, source: str) -> constraints.Constraint:
    value = fields.mapping("object").values
    place = fields.text("place")
    return constraints.read(Written(value=dict(value), source=f"{source}: {place}"))


def _entry(archive: zipfile.ZipFile, name: str, most: int, source: str) -> bytes:
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise errors.InputError(f"{source}: {name} is packed in a way that usher does not read")
    with archive.open(name) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise errors.InputError(f"{source}: {name} has more than {most} bytes")
    return content


def _file(kind: str) -> str:
    return f"modules/{kind}.wasm"
