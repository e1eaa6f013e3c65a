"""One evaluator, three callers: the webhook, `usher check` and `usher audit` say the same about every real manifest."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import reviews
import server_process
from integration import command
from server_process import JSON, ServerProcess
from usher import paths
from usher.config.load import load
from usher.policy import assembly
from usher.scan import sources
from usher.workloads.normalise import normalise

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
SITE = ROOT / "examples" / "usher.yaml"

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real manifests, ../shared/corpus, is not here"
)


@pytest.fixture(scope="module", params=["defaults", "declared pools, queues and routes"])
def config(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return () if request.param == "defaults" else (f"--config={SITE}",)


@pytest.fixture(scope="module")
def webhook(config: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_process.running(tmp_path_factory.mktemp("server"), arguments=config) as server:
        yield server


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every object of the corpus in a file of its own: a request to a webhook does not tell of the others either."""
    folder = tmp_path_factory.mktemp("objects")
    batches = sources.read([str(CORPUS)], stdin=io.BytesIO())
    for number, item in enumerate(item for batch in batches for item in batch.items):
        (folder / f"{number:04}.json").write_bytes(orjson.dumps(item.value))
    return folder


@pytest.fixture(scope="module")
def checked(config: tuple[str, ...], objects: Path) -> list[Any]:
    """What `usher check` says of each workload."""
    done = command.usher("check", *config, "--format=json", objects)
    assert done.code == 1, done.err
    found: list[Any] = done.json["workloads"]
    assert done.json["failures"] == []
    return found


def workloads(objects: Path) -> list[paths.Object]:
    """Every workload among the objects, in the order in which the commands meet them."""
    vocabulary = assembly.embedded(load(SITE)).vocabulary
    batches = sources.read([str(objects)], stdin=io.BytesIO())
    values = [item.value for batch in batches for item in batch.items]
    return [value for value in values if normalise(value, vocabulary=vocabulary) is not None]


def verdict(findings: list[Any]) -> dict[str, set[str]]:
    """Codes by outcome."""
    result: dict[str, set[str]] = {}
    for finding in findings:
        result.setdefault(finding["outcome"], set()).add(finding["code"])
    return result


def test_the_webhook_decides_as_check_does(webhook: ServerProcess, objects: Path, checked: list[Any]) -> None:
    values = workloads(objects)
    assert len(values) == len(checked) > 250
    with webhook.connection() as connection:
        for value, expected in zip(values, checked, strict=True):
            metadata: Any = value.get("metadata") or {}
            body = reviews.body(
                value, namespace=metadata.get("namespace") or "default", name=metadata.get("name") or ""
            )
            answer = server_process.ask(connection, "POST", "/validate", body=body, headers=JSON)
            assert answer.status == 200, (expected, answer.body)
            annotations = answer.response.get("auditAnnotations", {})

            decided = {
                outcome: set(annotations[outcome].split(","))
                for outcome in ("deny", "warn", "audit")
                if outcome in annotations
            }
            assert decided == verdict(expected["findings"]), expected
            denials = [finding["message"] for finding in expected["findings"] if finding["outcome"] == "deny"]
            assert answer.response["allowed"] is not bool(denials)
            for message in denials:
                assert message in answer.response["status"]["message"]


def test_audit_finds_what_check_finds(config: tuple[str, ...], objects: Path, checked: list[Any]) -> None:
    done = command.usher("audit", *config, "--format=json", objects)

    audited = {(found["source"], found["line"]): found for found in done.json["workloads"]}

    assert len(audited) > 250
    for expected in checked:
        found = audited.get((expected["source"], expected["line"]))
        if found is not None:
            assert found["findings"] == expected["findings"]
            assert found["unknowns"] == expected["unknowns"]
    left_out = done.json["summary"]["owned"] + done.json["summary"]["finished"]
    assert len(audited) == len(checked) - left_out


def test_what_cannot_be_judged_is_named(checked: list[Any]) -> None:
    """A kind that usher does not know yet but that holds a pod spec is named, with its place."""
    reasons = [item["reason"] for found in checked for item in found["unknowns"]]

    assert any("unrecognised kind ClusterServiceVersion" in reason for reason in reasons)
