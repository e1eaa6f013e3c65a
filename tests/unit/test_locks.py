"""The lock files of the images: every dependency is pinned with its hashes, and both images have the same versions."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PINNED = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)", re.MULTILINE)

OLDER = {"python-dateutil", "kubernetes"}
"""The library of S3 (aiobotocore) needs python-dateutil below 3."""


def locked(name: str) -> dict[str, str]:
    return dict(_PINNED.findall((ROOT / name).read_text()))


def names(lines: Iterable[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9-]", line)[0].lower() for line in lines}


@pytest.mark.parametrize(
    "name",
    ["requirements.lock", "requirements-fleet.lock", "requirements-tracing.lock", "requirements-policies.lock"],
)
def test_every_package_has_a_hash(name: str) -> None:
    packages = re.split(r"^(?=[a-z])", (ROOT / name).read_text(), flags=re.MULTILINE)[1:]

    assert [each for each in packages if "--hash=sha256:" not in each] == []


def test_the_lock_of_fleets_has_what_the_server_needs_and_the_extras_of_fleets() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    optional, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    wanted = names([*optional["fleet"], *optional["history-postgres"], *groups["fleet-image"]])

    fleet, server = locked("requirements-fleet.lock"), locked("requirements.lock")

    assert wanted | server.keys() <= fleet.keys()
    assert {name for name, version in server.items() if fleet[name] != version} <= OLDER


def test_the_image_with_traces_is_the_server_and_the_libraries_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = names(project["project"]["optional-dependencies"]["tracing"])

    tracing, server = locked("requirements-tracing.lock"), locked("requirements.lock")

    assert wanted <= tracing.keys() - server.keys()
    assert {name for name, version in server.items() if tracing.get(name) != version} == set()


def test_the_server_has_no_database_and_no_library_of_an_object_store() -> None:
    assert not {"duckdb", "fsspec", "s3fs", "psycopg"} & locked("requirements.lock").keys()


def test_the_image_is_built_from_what_hashes_name() -> None:
    lines = (ROOT / "Containerfile").read_text().splitlines()
    (base,) = [line for line in lines if line.startswith("ARG BASE=")]
    fetching = [line for line in lines if '"pip", "install"' in line and '"/source"' not in line]
    (own,) = [line for line in lines if '"pip", "install"' in line and '"/source"' in line]

    assert re.fullmatch(r"ARG BASE=[a-z0-9.:/-]+@sha256:[0-9a-f]{64}", base)
    assert [line for line in fetching if "--require-hashes" not in line] == []
    assert "--no-build-isolation" in own
    assert "--no-deps" in own
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert [each.partition(">")[0] for each in wanted] == ["hatchling"]
    assert {"hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"} == set(
        locked("requirements-build.lock")
    )
    assert locked("requirements-build.lock").items() <= locked("requirements-dev.lock").items()
