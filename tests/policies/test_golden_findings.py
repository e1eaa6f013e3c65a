"""What is recorded of the example manifests is what everybody says: the webhook, `usher check` and `usher audit`.

`scripts/generate` records it anew (tests/data/policies/findings.json); a change of a rule shows there.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest
import record_findings
import yaml

import reviews
from usher.review import validate as review_validate
from usher.scan import findings as scan_findings
from usher.scan import runner
from usher.scan.batches import Batch, Item

ROOT = Path(__file__).parents[2]
CHECKS = ROOT / "policies" / "usher" / "checks"
RECORDED: dict[str, dict[str, Any]] = orjson.loads((ROOT / "tests/data/policies/findings.json").read_bytes())

EXAMPLES = [file for folder in sorted(CHECKS.glob("*/*/examples")) for file in record_findings.manifests(folder)]
MANIFESTS = [file for file in EXAMPLES if yaml.safe_load(file.read_text())["kind"] != "AdmissionReview"]


def identify(file: Path) -> str:
    return f"{file.parts[-4]}/{file.parts[-3]}/{file.stem}"


def recorded(file: Path) -> Any:
    return RECORDED[f"{file.parts[-4]}/{file.parts[-3]}"][file.stem]


def by_outcome(findings: list[dict[str, str]]) -> dict[str, list[str]]:
    """Codes, each once, by outcome."""
    result: dict[str, list[str]] = {}
    for finding in findings:
        codes = result.setdefault(finding["outcome"], [])
        code = finding["check"].partition(" ")[0]
        if code not in codes:
            codes.append(code)
    return result


def test_every_example_is_recorded_and_nothing_else() -> None:
    assert {(key, name) for key, names in RECORDED.items() for name in names} == {
        (f"{file.parts[-4]}/{file.parts[-3]}", file.stem) for file in EXAMPLES
    }


@pytest.mark.parametrize("file", EXAMPLES, ids=identify)
def test_what_is_recorded_is_what_is_decided(file: Path) -> None:
    assert record_findings.said(record_findings.evaluator_of(file.parent), file) == recorded(file)


@pytest.mark.parametrize("file", EXAMPLES, ids=identify)
def test_a_bad_example_breaks_its_check_and_a_good_one_does_not(file: Path) -> None:
    name = file.parts[-3].replace("_", "-")
    found = {finding["check"].partition(" ")[2] for finding in recorded(file)["findings"]}
    unknown = {entry["check"] for entry in recorded(file)["unknown"]}

    assert (name in found) is file.stem.startswith("bad_")
    if file.stem.startswith("unknown_"):
        assert f"{file.parts[-4]}/{file.parts[-3]}" in unknown


@pytest.mark.parametrize("file", MANIFESTS, ids=identify)
def test_the_webhook_says_what_is_recorded(file: Path) -> None:
    value = yaml.safe_load(file.read_text())
    metadata = value.get("metadata") or {}
    # Who asks is not recorded either.
    body = reviews.body(
        value, namespace=metadata.get("namespace") or "", name=metadata.get("name") or "", userInfo=None
    )

    answer = review_validate.validate(body, record_findings.evaluator_of(file.parent))

    response = orjson.loads(answer.body)["response"]
    expected = by_outcome(recorded(file)["findings"])
    codes = {
        outcome: text.split(",") for outcome, text in response.get("auditAnnotations", {}).items() if "-" not in outcome
    }
    assert response["allowed"] is ("deny" not in expected)
    assert codes == expected


@pytest.mark.parametrize("command", scan_findings.Command)
@pytest.mark.parametrize("file", MANIFESTS, ids=identify)
def test_check_and_audit_say_what_is_recorded(file: Path, command: scan_findings.Command) -> None:
    batch = Batch(source=file.name, items=(Item(value=yaml.safe_load(file.read_text())),))
    settings = runner.Settings(command=command, namespace="")

    found = runner.run([batch], evaluator=record_findings.evaluator_of(file.parent), settings=settings)

    (result,) = found.results
    messages = [(each.judgement.outcome.value, each.judgement.finding.message) for each in result.findings]
    assert messages == [(each["outcome"], each["message"]) for each in recorded(file)["findings"]]
