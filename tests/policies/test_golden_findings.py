"""The webhook, `usher check` and `usher audit` give the recorded findings of the example manifests.

`scripts/generate` records them again (tests/data/policies/findings.json); a change of a rule shows there.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import build_examples
import orjson
import pytest
import record_findings

import reviews
from generated_examples import in_turn
from usher import paths
from usher.check import findings as scan_findings
from usher.check import judging, runner
from usher.check.batches import Batch, Item
from usher.review import webhooks

ROOT = Path(__file__).parents[2]
CHECKS = ROOT / "policies" / "usher" / "checks"
RECORDED: dict[str, dict[str, Any]] = orjson.loads((ROOT / "tests/data/policies/findings.json").read_bytes())

FOLDERS = sorted(CHECKS.glob("*/*/examples"))


def key(folder: Path) -> str:
    return f"{folder.parts[-3]}/{folder.parts[-2]}"


def manifests(folder: Path) -> Iterator[tuple[Path, paths.Object, Any]]:
    """The examples that are no AdmissionReview: file, object, and what is recorded of it."""
    for file in record_findings.manifests(folder):
        value: paths.Object = build_examples.read_yaml(file)
        if value["kind"] != "AdmissionReview":
            yield file, value, RECORDED[key(folder)][file.stem]


def by_outcome(findings: list[dict[str, str]]) -> dict[str, list[str]]:
    """Codes, each once, by outcome."""
    result: dict[str, list[str]] = {}
    for finding in findings:
        codes = result.setdefault(finding["outcome"], [])
        code = finding["check"].partition(" ")[0]
        if code not in codes:
            codes.append(code)
    return result


def test_every_check_is_recorded_and_nothing_else() -> None:
    assert set(RECORDED) == {key(folder) for folder in FOLDERS}


@pytest.mark.parametrize("folder", in_turn(FOLDERS, every=3, others=pytest.mark.costly), ids=[*map(key, FOLDERS)])
def test_the_recorded_findings_of_every_example_equal_the_decision(folder: Path) -> None:
    evaluator = record_findings.evaluator_of(folder)
    decided = {file.stem: record_findings.results(evaluator, file) for file in record_findings.manifests(folder)}

    assert decided == RECORDED[key(folder)]


def test_bad_examples_break_their_check_and_good_ones_do_not() -> None:
    for check, examples in RECORDED.items():
        name_of_check = check.partition("/")[2].replace("_", "-")
        broken = {
            name
            for name, said in examples.items()
            if name_of_check in [each["check"].partition(" ")[2] for each in said["findings"]]
        }
        unknown = {name for name, said in examples.items() if check in [each["check"] for each in said["unknown"]]}

        assert broken == {name for name in examples if name.startswith("bad_")}, check
        assert unknown >= {name for name in examples if name.startswith("unknown_")}, check


def in_a_change(folder: Path) -> bool:
    """Whether a change is tried with a check: one of each category says that findings reach who asked."""
    return folder == min(each for each in FOLDERS if each.parts[-3] == folder.parts[-3])


some_folders = pytest.mark.parametrize(
    "folder",
    [each if in_a_change(each) else pytest.param(each, marks=pytest.mark.thorough) for each in FOLDERS],
    ids=key,
)


ONLY_IN_FILES = (
    "USH1481 deciding-key-unread",
    "USH1482 key-unread",
    "USH1483 value-refused",
    "USH1493 name-leads-nowhere",
    "USH1535 controller-cannot-use",
    "USH1536 variable-unread",
    "USH1537 metric-not-exported",
    "USH1538 image-of-other-devices",
    "USH1539 agent-misconfigured",
    "USH1541 probe-without-an-answer",
    "USH1690 program-cannot-use",
    "USH1700 definition-refuses",
)


@some_folders
def test_the_webhook_answers_with_the_recorded_findings(folder: Path) -> None:
    evaluator = record_findings.evaluator_of(folder)
    for file, value, recorded in manifests(folder):
        if build_examples.others(file):
            continue  # A review does not know the other objects of a file.
        metadata: Any = value.get("metadata") or {}
        # Who asks is not recorded either.
        body = reviews.body(
            value, namespace=metadata.get("namespace") or "", name=metadata.get("name") or "", userInfo=None
        )

        answer = webhooks.validate(body, evaluator)

        response = orjson.loads(answer.body)["response"]
        # The API server drops or refuses these keys before it asks.
        expected = by_outcome([each for each in recorded["findings"] if each["check"] not in ONLY_IN_FILES])
        annotations = response.get("auditAnnotations", {})
        codes = {outcome: text.split(",") for outcome, text in annotations.items() if "-" not in outcome}
        if "missed-mutations" in annotations:
            # The object comes without its mutations, and what they would have mended only warns.
            assert sorted(chain(*codes.values())) == sorted(chain(*expected.values())), file.stem
        else:
            assert (response["allowed"], codes) == ("deny" not in expected, expected), file.stem


@pytest.mark.parametrize(
    "command", [scan_findings.Command.CHECK, pytest.param(scan_findings.Command.AUDIT, marks=pytest.mark.thorough)]
)
@some_folders
def test_check_and_audit_report_the_recorded_findings(folder: Path, command: scan_findings.Command) -> None:
    examples = list(manifests(folder))
    batches = [
        Batch(source=file.stem, items=tuple(Item(value=each) for each in (value, *build_examples.others(file))))
        for file, value, _ in examples
    ]
    settings = judging.Settings(command=command, namespace="")

    found = runner.run(batches, evaluator=record_findings.evaluator_of(folder), settings=settings)

    # The first object of a file is the example.
    messages = {
        result.source: [(each.judgement.outcome.value, each.judgement.finding.message) for each in result.findings]
        for result in reversed(found.results)
    }
    assert (found.failures, len(messages)) == ((), len(examples))
    assert messages == {
        file.stem: [(each["outcome"], each["message"]) for each in recorded["findings"]]
        for file, _, recorded in examples
    }
