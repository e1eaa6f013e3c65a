"""A new check and a new mutation are one folder each, as CONTRIBUTING.md says: nothing else is written by hand."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import builders
import opa_server
from integration.command import usher
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation.editing import copied

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

ROOT: Final = Path(__file__).parents[2]
CHECK: Final = "cost/gpus_by_tens"
MUTATION: Final = "resources/team_annotation"

RULE: Final = """\
# METADATA
# title: Name the team of pods that ask for accelerators
# description: |
#   Bills are written by it.
# scope: package
# schemas:
#   - input: schema.input
# custom:
#   code: USM998
#   order: 998
#   about: accelerator pods
package usher.mutations.resources.team_annotation

import data.usher.lib.workload

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets

	intent := {
		"at": pod_set.path,
		"field": "annotation",
		"value": {"key": "example.com/team", "value": input.workload.namespace},
		"reason": "bills are written by it",
	}
}
"""
TEST: Final = """\
package usher.mutations.resources.team_annotation_test

import data.examples.mutations.resources.team_annotation as examples
import data.usher.mutations.resources.team_annotation as mutation

test_a_pod_with_gpus_gets_the_team if {
	mutation.intents == {{
		"at": "",
		"field": "annotation",
		"value": {"key": "example.com/team", "value": "research"},
		"reason": "bills are written by it",
	}} with input as examples.before_pod
}
"""
EXAMPLE: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: trainer, namespace: research}
spec:
  containers:
    - {name: trainer, image: trainer:1, resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.fixture(scope="module")
def before() -> dict[str, bytes]:
    return digests(ROOT / "policies/usher")


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the policies with a new check and a new mutation, in which nothing is built yet."""
    copy = tmp_path_factory.mktemp("checkout") / "policies"
    shutil.copytree(ROOT / "policies", copy)
    category, name = CHECK.split("/")
    assert usher("policies", "new", category, name, "--policies", copy).code == 0
    folder = copy / "usher/mutations" / MUTATION
    (folder / "examples").mkdir(parents=True)
    (folder / "team_annotation.rego").write_text(RULE)
    (folder / "team_annotation_test.rego").write_text(TEST)
    (folder / "examples/before_pod.yaml").write_text(EXAMPLE)
    return copy


@pytest.fixture(scope="module")
def evaluator(policies: Path) -> Iterator[Evaluator]:
    """One with the rules of the copy, which are built by the program that builds ours."""
    tool("build_policies.py", policies)
    made = assembly.embedded(models.Config(), directory=policies)
    yield made
    made.engine.close()


def tool(name: str, policies: Path, *arguments: str) -> str:
    command = [sys.executable, ROOT / "tools" / name, "--opa", opa_server.OPA, "--policies", policies, *arguments]
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def digests(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).digest() for file in files}


def pod(gpus: int) -> paths.Object:
    return copied(builders.pod(builders.container(gpus=gpus), namespace="research"))


@pytest.mark.parametrize("key", [pytest.param(CHECK, marks=pytest.mark.thorough), MUTATION])
def test_it_is_tried_alone_before_anything_is_built(policies: Path, key: str) -> None:
    assert "all tests pass" in tool("try_check.py", policies, key)


def test_nothing_but_the_two_folders_is_new(policies: Path, before: dict[str, bytes]) -> None:
    after = digests(policies / "usher")
    new = {file for file in after if after[file] != before.get(file)}

    assert {file for file in new if not file.startswith((f"checks/{CHECK}/", f"mutations/{MUTATION}/"))} <= {
        "main/dispatch.rego",
        "main/revision.rego",
        "lib/parameters.rego",
    }, "only generated files"
    assert before.keys() <= after.keys()


def test_the_check_finds_and_the_mutation_changes(evaluator: Evaluator) -> None:
    found = {each.name for each in evaluator.decide(Request(value=pod(9))).judgements}
    fine = {each.name for each in evaluator.decide(Request(value=pod(8))).judgements}
    merged = evaluator.mutate(Request(value=pod(8)), only=MUTATION)

    assert "gpus-by-tens" in found - fine
    assert paths.resolve(merged.value, "/metadata/annotations/example.com~1team") == "research"
