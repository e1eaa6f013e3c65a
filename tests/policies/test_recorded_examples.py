"""Records of reviews keep what rules read: every check says the same of the manifests in its folder without secrets."""

from pathlib import Path
from typing import Final

import pytest
import record_findings
import yaml

import generated_examples
from usher import model, paths
from usher.policy.decision import Request
from usher.review import redaction

pytestmark = pytest.mark.costly

POLICIES: Final = Path(__file__).parents[2] / "policies" / "usher"
QUOTED: Final = frozenset(
    {
        "topology_annotations_refused/bad_level",
        "model_larger_than_its_cache/bad_flag",
        "model_larger_than_its_gpus/good_quantised",
    }
)
"""Examples whose message quotes a text that is no name, and so is not recorded: a value, or the path in an option."""
FOLDERS: Final = sorted(POLICIES.glob("checks/*/*/examples"))


def manifests(file: Path) -> list[paths.Object]:
    """The objects of a file whose data a record keeps: those of ConfigMaps are left out."""
    found = yaml.load_all(file.read_bytes(), yaml.CSafeLoader)
    return [value for value in found if isinstance(value, dict) and value.get("kind") != "ConfigMap"]


def said(decision: model.Decision) -> list[tuple[str, str, str, str]]:
    found = [(each.code, each.outcome.value, each.finding.path, each.finding.message) for each in decision.judgements]
    return found + [(each.check, "unknown", each.path, each.reason) for each in decision.unknowns]


# A change is tried with the examples that break a check, those of every third.
@pytest.mark.parametrize("pattern", ["bad_*.yaml", pytest.param("good_*.yaml", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "folder",
    generated_examples.in_turn(FOLDERS, every=3),
    ids=lambda folder: f"{folder.parts[-3]}/{folder.parts[-2]}",
)
def test_manifests_without_secrets_are_judged_as_before(folder: Path, pattern: str) -> None:
    evaluator = record_findings.evaluator_of(folder)
    files = [each for each in sorted(folder.glob(pattern)) if f"{folder.parts[-2]}/{each.stem}" not in QUOTED]

    for file in files:
        for value in manifests(file):
            whole = evaluator.decide(Request(value=value))
            redacted = evaluator.decide(Request(value=redaction.without_secrets(value)))
            assert said(redacted) == said(whole), file.name
