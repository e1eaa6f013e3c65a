"""A bundle is complete, or the error says what it lacks."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from generated_examples import in_turn
from usher import errors
from usher.policy.checks import catalogue

POLICIES = Path(__file__).parents[4] / "policies"
RULE = "usher/main/main.rego"


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A copy of the policies that a test may spoil."""
    return shutil.copytree(POLICIES, tmp_path / "policies", ignore=shutil.ignore_patterns("examples"))


def append(file: Path, text: str = "\n") -> None:
    with file.open("a") as stream:
        stream.write(text)


def note_digests(policies: Path) -> None:
    """As the build does it, so that nothing looks changed since."""
    files = catalogue.digests(catalogue.contents(policies))
    (policies / catalogue.MANIFEST).write_bytes(orjson.dumps({"opa": "1.0.0", "files": files}))


def test_what_was_built_together_loads(policies: Path) -> None:
    loaded = catalogue.load(policies)

    assert loaded.directory == policies
    assert loaded.module == (policies / catalogue.WASM).read_bytes()
    assert loaded.catalogue.checks
    assert loaded.catalogue.mutations


def test_without_a_directory_the_policies_of_this_installation_are_found() -> None:
    assert catalogue.find() == POLICIES


@pytest.mark.parametrize("file", [RULE, catalogue.REVISION_FILE, catalogue.WASM, catalogue.CATALOGUE])
def test_a_changed_file_is_named(policies: Path, file: str) -> None:
    append(policies / file)

    with pytest.raises(errors.BundleError, match=re.escape(f"{policies / file}: not the file that")):
        catalogue.load(policies)


def test_an_extra_rego_file_is_named(policies: Path) -> None:
    extra = policies / "usher/checks/extra.rego"
    extra.write_text("package usher.checks.extra\n")

    with pytest.raises(errors.BundleError, match=re.escape(f"{extra}: not the file that")):
        catalogue.load(policies)


@pytest.mark.parametrize("file", [RULE, catalogue.WASM, catalogue.CATALOGUE, catalogue.MANIFEST])
def test_a_missing_file_is_named(policies: Path, file: str) -> None:
    (policies / file).unlink()

    with pytest.raises(errors.BundleError, match=re.escape(str(policies / file))):
        catalogue.load(policies)


@pytest.mark.parametrize(
    "damage",
    in_turn(
        [
            lambda text: text[:-20],
            lambda _: b"[]",
            lambda _: b"{}",
            lambda _: b'{"files": 1}',
            lambda _: b'{"files": ["usher"]}',
            lambda _: b"\xff",
        ],
        every=3,
    ),
    ids=["cut short", "a list", "no files", "a number", "names alone", "not UTF-8"],
)
def test_a_manifest_that_cannot_be_read_is_an_error(policies: Path, damage: Callable[[bytes], bytes]) -> None:
    file = policies / catalogue.MANIFEST
    file.write_bytes(damage(file.read_bytes()))

    with pytest.raises(errors.BundleError, match=re.escape(f"{policies}: the policy bundle cannot be read")):
        catalogue.load(policies)


@pytest.mark.parametrize(
    "text",
    in_turn(
        [
            b"",
            b"{}",
            b'{"checks": []}',
            b'{"checks": [{}], "mutations": []}',
            b'{"mutations": [], "checks": [{"key": "a/b", "code": "USH1", "title": "", "description": "", "more": 1}]}',
            b'{"checks": [{"key": "a/b", "code": "USH1", "title": "", "description": "", "severity": "awful"}]}',
        ],
        every=3,
    ),
    ids=["empty", "no lists", "no mutations", "no fields", "unknown field", "unknown severity"],
)
def test_a_catalogue_that_cannot_be_read_is_named(policies: Path, text: bytes) -> None:
    file = policies / catalogue.CATALOGUE
    file.write_bytes(text)
    note_digests(policies)

    with pytest.raises(errors.BundleError, match=re.escape(str(file))):
        catalogue.load(policies)


def test_tests_and_manifests_are_not_part_of_the_bundle(policies: Path) -> None:
    before = catalogue.load(policies)

    (policies / "usher/main/main_test.rego").write_text("package usher.main_test\n")
    (policies / "usher/main/notes.yaml").write_text("a: 1\n")

    assert catalogue.load(policies) == before


def test_every_change_of_a_policy_changes_the_revision(policies: Path) -> None:
    before = catalogue.load(policies)

    append(policies / RULE)
    note_digests(policies)
    after = catalogue.load(policies)

    assert after.revision != before.revision
    assert after.source_revision != before.source_revision


def test_the_revision_that_an_opa_server_tells_is_that_of_the_sources(policies: Path) -> None:
    loaded = catalogue.load(policies)
    rule = (policies / catalogue.REVISION_FILE).read_text()

    assert f'revision := "{loaded.source_revision}"' in rule
    # Neither what is generated from the sources nor the revision itself takes part, or it could not stand in them.
    append(policies / catalogue.REVISION_FILE)
    append(policies / catalogue.WASM)
    note_digests(policies)
    assert catalogue.load(policies).source_revision == loaded.source_revision
