"""Bundles: written and read again, and refused where they are not whole."""

import io
import zipfile
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import policies
from usher import errors
from usher.extensions import policy_archive
from usher.extensions.gatekeeper import constraint_templates, constraints, library
from usher.extensions.gatekeeper.constraint_templates import Written


def made() -> library.Library:
    """A library whose modules are not WebAssembly: a bundle does not look into them."""

    def template(**options: Any) -> constraint_templates.Template:
        return constraint_templates.read_template(Written(value=policies.template(**options), source="t.yaml", line=1))

    cel = template(kind="Cel", targets=[policies.code("K8sNativeValidation", validations=[])])
    constraint = constraints.read_constraint(
        Written(value=policies.constraint(parameters={"labels": ["a"]}), source="c.yaml")
    )
    return library.Library(
        templates={
            "Cel": library.Compiled(template=cel, module=None),
            "RequiredLabels": library.Compiled(
                template=template(schema={"type": "object"}), module=b"module", reads_inventory=True
            ),
        },
        constraints=(constraint,),
    )


def changed(**manifest: Any) -> bytes:
    """A bundle with other fields in its manifest."""
    with zipfile.ZipFile(io.BytesIO(library.bundle_content(made(), opa="1.0"))) as archive:
        value = orjson.loads(archive.read("manifest.json")) | manifest
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", orjson.dumps(value))
    return buffer.getvalue()


def test_a_bundle_holds_what_judging_needs() -> None:
    content = library.bundle_content(made(), opa="1.22.0")
    found = library.read_bundle(content, source="policies.bundle")

    assert policy_archive.is_archive(content[:4])
    assert found.templates["RequiredLabels"].module == b"module"
    assert found.templates["RequiredLabels"].reads_inventory
    assert found.templates["RequiredLabels"].template.schema == {"type": "object"}
    assert "written in CEL" in found.templates["Cel"].template.not_evaluated
    assert [(each.key, each.parameters) for each in found.constraints] == [("RequiredLabels/labels", {"labels": ["a"]})]


def test_equal_libraries_give_equal_bundles() -> None:
    assert library.bundle_content(made(), opa="1.0") == library.bundle_content(made(), opa="1.0")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04 not a zip", "p.bundle: is not a whole bundle of policies"),
        (changed(kind="Other"), "p.bundle: is not a PolicyBundle of gpu-usher.io/v1alpha1"),
        (changed(), "p.bundle: is not a whole bundle .*modules/RequiredLabels.wasm"),
        (changed(templates="x"), "p.bundle: templates: must be a list, and is a text"),
        (changed(templates=[{"kind": 1}]), r"p.bundle: templates\[0\].kind: must be a text"),
        (changed(templates=[], constraints=[{"object": {}}]), "kind: is missing"),
    ],
)
def test_a_bundle_that_is_not_whole_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(errors.InputError, match=message):
        library.read_bundle(content, source="p.bundle")


def test_no_more_of_a_module_is_unpacked_than_usher_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    content = library.bundle_content(made(), opa="1.0")
    monkeypatch.setattr(library, "LARGEST_MODULE", 3)

    with pytest.raises(errors.InputError, match=r"modules/RequiredLabels\.wasm has more than 3 bytes"):
        library.read_bundle(content, source="p.bundle")


@given(cut=st.integers(min_value=0, max_value=900), byte=st.integers(min_value=0, max_value=255))
def test_a_damaged_bundle_is_refused_or_harmless(cut: int, byte: int) -> None:
    content = bytearray(library.bundle_content(made(), opa="1.0"))
    content[cut % len(content)] = byte

    try:
        library.read_bundle(bytes(content), source="p.bundle")
    except errors.InputError as error:
        assert str(error).startswith("p.bundle")  # noqa: PT017 - both ways are right
