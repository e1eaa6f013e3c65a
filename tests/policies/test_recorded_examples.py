"""Records of reviews keep what rules read: every check says the same of the manifests in its folder without secrets."""

from pathlib import Path
from typing import Final

import pytest
import record_findings
import yaml

from usher import model, paths
from usher.policy.decision import Request
from usher.review import redaction

POLICIES: Final = Path(__file__).parents[2] / "policies" / "usher"
QUOTED: Final = frozenset({"topology_annotations_refused/bad_level"})
"""Examples whose message quotes a text that is no name, and so is not recorded."""
EXAMPLES: Final = sorted(
    file
    for pattern in ("good_*", "bad_*")
    for file in POLICIES.glob(f"checks/*/*/examples/{pattern}.yaml")
    if f"{file.parts[-3]}/{file.stem}" not in QUOTED
)


def manifests(file: Path) -> list[paths.Object]:
    """The objects of a file whose data a record keeps: those of ConfigMaps are left out."""
    found = yaml.load_all(file.read_bytes(), yaml.CSafeLoader)
    return [value for value in found if isinstance(value, dict) and value.get("kind") != "ConfigMap"]


def said(decision: model.Decision) -> list[tuple[str, str, str, str]]:
    found = [(each.code, each.outcome.value, each.finding.path, each.finding.message) for each in decision.judgements]
    return found + [(each.check, "unknown", each.path, each.reason) for each in decision.unknowns]


@pytest.mark.parametrize(
    "file",
    # A change is tried with the examples that break a check.
    [file if file.name.startswith("bad_") else pytest.param(file, marks=pytest.mark.thorough) for file in EXAMPLES],
    ids=lambda file: f"{file.parts[-3]}/{file.stem}",
)
def test_a_manifest_without_secrets_is_judged_as_before(file: Path) -> None:
    evaluator = record_findings.evaluator_of(file.parent)

    for value in manifests(file):
        whole, redacted = (evaluator.decide(Request(value=each)) for each in (value, redaction.without_secrets(value)))
        assert said(redacted) == said(whole)
