"""The input documents of the Rego tests: built from the example manifests, with their digests in git."""

import shutil
from pathlib import Path

import build_examples
import pytest

from opa_server import POLICIES

CHECKS = ("cost/gpus_per_pod", "cost/idle_command")


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """The folder of a bundle that has two checks."""
    for check in CHECKS:
        shutil.copytree(POLICIES / "usher" / "checks" / check, tmp_path / "usher" / "checks" / check)
    return tmp_path


def digests(policies: Path) -> list[str]:
    return list(build_examples.digests(dict(build_examples.build(policies))))


def test_another_example_changes_the_digest_of_its_check_alone(policies: Path) -> None:
    before = digests(policies)
    examples = policies / "usher" / "checks" / CHECKS[1] / "examples"

    shutil.copy(min(examples.glob("bad_*.yaml")), examples / "bad_too.yaml")

    assert [was == is_now for was, is_now in zip(before, digests(policies), strict=True)] == [True, False]
